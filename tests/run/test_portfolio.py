"""Portfolios: the budget, what members are tuned on, the table and its gain, ASlib."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import racer
from racer.evaluate.objective import Misbehaved
from racer.run.members import Complement, best_first

SPACE = racer.Space({"x": racer.Integer(0, 9)})
INSTANCES = [(kind, size) for kind in (1, 5, 9) for size in (1, 2, 3, 4)]


def evaluate(config, instance, seed):
    kind, size = instance
    return abs(config["x"] - kind) * size + seed % 3 / 10


@pytest.fixture(scope="module")
def found():
    return racer.portfolio(
        SPACE, evaluate, INSTANCES, budget=600, deterministic=False, seed=1, n_jobs=1
    )


def test_its_tunings_get_what_is_theirs(found):
    events = []
    with ThreadPoolExecutor(2) as executor:
        again = racer.portfolio(
            SPACE,
            evaluate,
            INSTANCES,
            budget=6e2,
            deterministic=False,
            seed=1,
            executor=executor,
            callbacks=[events.append],
        )
    assert again.table.equals(found.table)
    assert sum(isinstance(event, racer.RaceEnded) for event in events) == len(found.members)


def test_the_budget_is_in_evaluations():
    for budget in (racer.Budget(seconds=9.0), racer.Budget(evaluations=600, seconds=9.0)):
        with pytest.raises(racer.BudgetError, match="a portfolio counts evaluations"):
            racer.portfolio(SPACE, evaluate, INSTANCES, budget=budget)


def test_each_member_is_good_where_the_others_are_not(found):
    values = np.sort([member["x"] for member in found.members])
    assert np.abs(values - [1, 5, 9]).max() <= 1  # 176 evaluations of noisy costs each
    assert found.evaluations <= 600
    assert [t.evaluations for t in found.tunings] == [600 // 3 - 24] * 3
    assert found.values.shape == (12, 3, 2)


def test_a_mapping_of_one_number_is_that_number(found):
    def as_mapping(config, instance, seed):
        return {"cost": evaluate(config, instance, seed)}

    again = racer.portfolio(
        SPACE, as_mapping, INSTANCES, budget=600, deterministic=False, seed=1, n_jobs=1
    )
    assert again.table.equals(found.table)


@pytest.mark.parametrize("answer", [{"a": 1.0, "b": 2.0}, {"a": 1.0, "spend": -1.0}])
def test_beside_members_a_wrong_evaluate_is_refused(answer):
    beside = Complement(lambda *_: answer, (0,), (5.0,), maximize=False)
    with pytest.raises(Misbehaved, match=r"several metrics|wrong 'spend'"):
        beside({}, 0, 0)


def test_the_gain_is_over_the_single_best(found):
    table = found.table
    assert list(table.index) == INSTANCES
    assert found.single_best == table.mean().to_numpy().argmin()
    assert abs(found.members[found.single_best]["x"] - 5) <= 1
    assert found.single_best_value == pytest.approx(table[found.single_best].mean())
    assert found.gain == pytest.approx(found.single_best_value - found.oracle_value)
    low, high = found.gain_interval()
    assert 0 < low < found.gain < high
    assert found.gain_interval(0.5)[1] < high
    assert f"a gain of {found.gain:.4g} (" in str(found)
    with pytest.raises(racer.SettingError, match=r"level=1\.5"):
        found.gain_interval(1.5)


def test_luck_counts_for_no_member():
    """Of equal members with noise, the best on each instance is no better than any."""
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(4000, 3, 2))
    found = racer.PortfolioResult.of([{}] * 3, range(4000), noise, maximize=False)
    assert abs(found.oracle_value) < 0.05
    once = racer.PortfolioResult.of([{}] * 3, range(4000), noise[:, :, :1], maximize=False)
    assert once.oracle_value < -0.7


@pytest.mark.parametrize("maximize", [False, True])
def test_the_gain_of_equal_members_is_as_often_negative_as_positive(maximize):
    """The single best is as lucky as the best on each instance."""
    rng = np.random.default_rng(1)
    made = [
        racer.PortfolioResult.of([{}] * 3, range(12), noise, maximize=maximize)
        for noise in rng.normal(size=(300, 12, 3, 2))
    ]
    gains = np.array([found.gain for found in made])
    assert abs(gains.mean()) < 4 * gains.std() / 300**0.5
    assert 0.4 < (gains < 0).mean() < 0.6
    assert "Chosen by the other evaluation, the single best has " in str(made[0])


def test_the_gain_is_no_more_than_that_of_knowing_the_best():
    """Of many instances, on which the single best is sure; nor much less, where each best is.

    One repeat chooses by the noise that it values.
    """
    rng = np.random.default_rng(1)
    means = rng.normal(size=(4000, 3, 1))
    knowing = means.mean(axis=0).min() - means.min(axis=1).mean()
    for noise, least in ((0.1, 0.97), (1.0, 0.5)):
        values = means + noise * rng.normal(size=(4000, 3, 2))
        found = racer.PortfolioResult.of([{}] * 3, range(4000), values, maximize=False)
        assert least * knowing < found.gain < knowing
    once = racer.PortfolioResult.of([{}] * 3, range(4000), values[:, :, :1], maximize=False)
    assert once.gain > 1.2 * knowing
    assert "hosen by" not in str(once)


def test_what_is_printed_of_the_single_best_is_its_mean():
    """By the other evaluation, it is each of the two once, and each time the worse one."""
    values = np.array([[[0.0, 2.0], [1.5, 0.6]]] * 2)
    found = racer.PortfolioResult.of("AB", "ij", values, maximize=False)
    text = str(found)
    assert "the single best, #0, has a mean of 1. Chosen by the other evaluation, " in text
    assert f"the single best has {found.single_best_value:.4g}, " in text
    assert found.single_best_value == 1.75
    once = str(racer.PortfolioResult.of("AB", "ij", values[:, :, :1], maximize=False))
    assert "the single best, #0, has a mean of 0, the best on each instance 0, a gain of 0 " in once


def test_one_member_and_one_instance_are_no_plurals():
    found = racer.PortfolioResult.of("AB", "i", np.ones((1, 2, 2)), maximize=True)
    assert str(found).startswith("2 members on 1 instance: ")
    alone = racer.PortfolioResult.of("A", "ij", np.ones((2, 1, 2)), maximize=False, evaluations=1)
    assert str(alone) == (
        "1 member on 2 instances: it has a mean of 1.\n#0: A\n1 evaluation; seed 0."
    )


def small_integers(repeats):
    return np.random.default_rng(repeats).integers(0, 5, (9, 3, repeats)).astype(float)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("repeats", [1, 2, 3, 5])
def test_rounding_does_not_decide_who_is_the_best(repeats, maximize):
    """Members tie on some instances: neither the unit nor the order of anything breaks a tie."""

    def gain(values):
        found = racer.PortfolioResult.of([{}] * 3, range(9), values, maximize=maximize)
        return found.gain, found.oracle_value, found.single_best_value

    values, rng = small_integers(repeats), np.random.default_rng(1)
    expected = gain(values)
    for unit in (10.0, 3.0, 7e11, 1e-300):
        assert gain(values / unit) == pytest.approx([x / unit for x in expected], rel=1e-9)
    for axis in range(3):
        order = rng.permutation(values.shape[axis])
        assert gain(values.take(order, axis=axis)) == pytest.approx(expected, rel=1e-9)


def test_members_that_tie_count_alike():
    values = np.array([[[1.0, 4.0, 1.0], [1.0, 2.0, 1.0]]])
    found = racer.PortfolioResult.of([{}, {}], "a", values, maximize=False)
    chosen = (1.0, (4.0 + 2.0) / 2, 1.0)  # #1, both, #1
    assert found.oracle_value == pytest.approx(np.mean(chosen))
    assert found.gain == 0.0


@pytest.mark.filterwarnings("error")
def test_a_huge_value_hides_no_other():
    """A sum less the huge value was 0: the member that is worse on each repeat was the best."""
    values = np.array([[[1e20, 5.0], [1.0, 1.0]]] * 3)
    found = racer.PortfolioResult.of([{}, {}], "abc", values, maximize=False)
    assert (found.oracle_value, found.single_best_value, found.single_best) == (1.0, 1.0, 1)
    largest = racer.PortfolioResult.of(
        [{}] * 3, range(9), small_integers(3) * 4.4e307, maximize=False
    )
    assert largest.oracle_value < largest.table.to_numpy().max() < np.inf


def test_larger_is_better():
    found = racer.portfolio(
        SPACE,
        lambda *cell: -evaluate(*cell),
        INSTANCES,
        budget=300,
        size=2,
        maximize=True,
        deterministic=False,
        seed=1,
    )
    assert found.gain > 0
    assert found.oracle_value > found.single_best_value
    mirrored = racer.portfolio(
        SPACE, evaluate, INSTANCES, budget=300, size=2, deterministic=False, seed=1
    )
    assert mirrored.members == found.members
    assert mirrored.gain == pytest.approx(found.gain)


def test_members_that_add_nothing_gain_nothing_and_the_objective_is_not_blamed(recwarn):
    def evaluate(config, instance, seed):
        return config["x"] + instance

    space = racer.Space({"x": racer.Integer(0, 9)})
    given = {"size": 2, "budget": 100, "deterministic": True, "maximize": True, "seed": 1}
    found = racer.portfolio(space, evaluate, [1, 2, 3], **given)
    assert not recwarn.list
    assert str(found.gain) == "0.0"


def test_no_configuration_is_a_member_twice():
    space = racer.Space({"x": racer.Categorical([1, 2])})
    given = {"size": 4, "budget": 80, "deterministic": True, "seed": 1}
    found = racer.portfolio(space, lambda config, i, seed: abs(config["x"] - i), [1, 2, 8], **given)
    assert found.members == ({"x": 2}, {"x": 1})
    assert str(found).startswith(
        "2 of 4 members: the next tuning found no other configuration that can be evaluated."
    )
    assert len(found.tunings) == 3
    tested = racer.portfolio(
        space, lambda config, i, seed: abs(config["x"] - i), [1, 2, 8], test_instances=[3], **given
    )
    assert (tested.note, tested.instances) == (found.note, (3,))


@pytest.mark.parametrize("maximize", [False, True])
def test_the_next_member_is_the_best_that_is_none_yet(maximize):
    """Of all that the tuning found, not of those that survived it alone."""

    def evaluate(config, instance, seed):
        if config["x"] == 5:
            raise Misbehaved("rejected", "no")
        return abs(config["x"] - instance) * (-1 if maximize else 1)

    space = racer.Space({"x": racer.Integer(0, 6)})
    given = {"budget": 80, "deterministic": True, "maximize": maximize, "seed": 10}
    found = racer.portfolio(space, evaluate, [1, 2], size=4, **given)
    members = [member["x"] for member in found.members]
    assert len(members) == 4
    assert found.note == ""
    assert {*members[:2]} == {1, 2}
    assert len({*members} - {5}) == 4
    first = found.tunings[0]
    assert first.known.rejected
    order = best_first(first)
    assert {*order} == {*range(len(first.configs))} - first.known.rejected
    of = first.configurations.loc[order[len(first.leaders) :]]
    means = of["mean"].abs().to_list()
    assert means == sorted(means)
    assert (of["blocks"] == 2).all()
    assert len({*means}) > 1


def test_a_member_costs_what_the_best_of_all_costs():
    beside = Complement(lambda c, i, s: c * i, (1.0, 2.0), (3.0, 1.0), maximize=False)
    assert [beside(2.0, 0, 0), beside(2.0, 1, 0)] == [2.0, 1.0]


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("value", [2.0, float("nan"), float("inf"), -float("inf"), "no", None])
def test_a_member_that_fails_costs_what_those_before_cost(value, maximize):
    failing = Complement(lambda c, i, s: value, (1.0,), (3.0,), maximize)
    assert failing(2.0, 0, 0) == (2.0 if value == 2.0 and not maximize else 3.0)


@pytest.mark.parametrize("status", ["failed", "invalid", "rejected"])
def test_a_member_may_be_rejected(status):
    def evaluate(config, instance, seed):
        raise Misbehaved(status, "no")

    beside = Complement(evaluate, (1.0,), (3.0,), maximize=False)
    if status != "rejected":
        assert beside(2.0, 0, 0) == 3.0
        return
    with pytest.raises(Misbehaved):
        beside(2.0, 0, 0)


def test_a_failure_is_behind_the_worst():
    values = np.array([[[1.0], [np.nan]], [[2.0], [0.0]]])
    found = racer.PortfolioResult.of([{}, {}], "ab", values, maximize=False)
    assert found.values[:, :, 0].tolist() == [[1.0, 4.0], [2.0, 0.0]]
    assert found.is_known.tolist() == [[[True], [False]], [[True], [True]]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("maximize", [False, True])
def test_no_value_of_a_failure_is_shown_as_measured(maximize):
    nan = np.nan
    values = np.array(
        [[[1.0, 3.0], [nan, 9.0]], [[2.0, 2.0], [nan, nan]], [[5.0, 5.0], [0.0, 0.0]]]
    )
    found = racer.PortfolioResult.of([{}, {}], "abc", values, maximize=maximize)
    assert found.table[0].tolist() == [2.0, 2.0, 5.0]
    assert found.table[1].fillna(-1.0).tolist() == [9.0, -1.0, 0.0]
    assert "behind the worst: 3 of 6 of #1." in str(found)
    pytest.importorskip("matplotlib")
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(labels) == ["#0", "#1, 3 failed", "best of each"]
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    assert sorted({*drawn[~np.isnan(drawn)]}) == [0.0, 2.0, 5.0, 9.0]
    best = next(line for line in ax.lines if line.get_label() == "best of each").get_ydata()
    assert best.tolist() == ([2.0, 5.0, 9.0] if maximize else [0.0, 2.0, 2.0])


def test_a_failure_is_behind_values_that_are_all_equal():
    values = np.array([[[4.0], [np.nan]], [[4.0], [4.0]]])
    found = racer.PortfolioResult.of([{}, {}], "ab", values, maximize=False)
    assert found.values[:, :, 0].tolist() == [[4.0, 8.0], [4.0, 4.0]]
    found = racer.PortfolioResult.of([{}, {}], "ab", values, maximize=True)
    assert found.values[:, :, 0].tolist() == [[4.0, 0.0], [4.0, 4.0]]


def test_held_out_instances_are_beyond_the_budget():
    calls = []

    def counted(config, instance, seed):
        calls.append(instance)
        return evaluate(config, instance, seed)

    held_out = [(kind, 2.5) for kind in (1, 5, 9)]
    found = racer.portfolio(
        SPACE, counted, INSTANCES, budget=240, test_instances=held_out, deterministic=False, seed=1
    )
    assert found.instances == tuple(held_out)
    assert found.evaluations <= 240
    assert calls.count((1, 2.5)) == 3 * 2


def stopping(after, error=KeyboardInterrupt, of=evaluate):
    """Return an objective that raises once, after so many calls."""
    calls = []

    def stops(config, instance, seed):
        calls.append(instance)
        if len(calls) == after:
            raise error
        return of(config, instance, seed)

    return stops


@pytest.mark.parametrize(
    ("after", "members", "tunings", "evaluations"),
    [
        (60, 1, 2, 59),  # while the second is tuned
        (98, 2, 2, 96),  # on held-out instances
        (90, 1, 2, 89),  # while the second is evaluated on all instances
    ],
)
def test_an_interrupt_has_the_members_so_far(after, members, tunings, evaluations):
    with pytest.raises(racer.RaceInterrupted, match=r"after \d+ evaluations \(seed 1\)") as stop:
        racer.portfolio(
            SPACE,
            stopping(after),
            INSTANCES[:6],
            size=2,
            budget=96,
            repeats=2,
            seed=1,
            deterministic=False,
            test_instances=INSTANCES[6:],
        )
    found = stop.value.result
    assert (len(found.members), len(found.tunings)) == (members, tunings)
    assert (found.evaluations, found.seed) == (evaluations, 1)
    assert found.instances == tuple(INSTANCES[:6])
    assert str(found).startswith("Interrupted ")
    assert f"{members} member" in str(found)


@pytest.mark.parametrize("after", [20, 45])
def test_an_interrupt_before_the_first_member_has_its_tuning(after):
    given = {"size": 2, "budget": 96, "seed": 1, "deterministic": False}
    with pytest.raises(racer.RaceInterrupted, match=r"\(seed 1\)") as stop:
        racer.portfolio(SPACE, stopping(after), INSTANCES[:6], **given)
    assert stop.value.result.instances == tuple(INSTANCES[:6])
    assert stop.value.result.evaluations == min(after - 1, 36)


def test_an_error_has_what_was_found_before():
    def breaks(config, instance, seed):
        calls.append(instance)
        if len(calls) > 20:
            raise ValueError("no licence")
        return evaluate(config, instance, seed)

    calls = []
    given = {"size": 2, "budget": 96, "seed": 1, "deterministic": False}
    with pytest.warns(racer.RacerWarning), pytest.raises(racer.SettingError, match="no mem") as no:
        racer.portfolio(SPACE, breaks, INSTANCES[:6], **given)
    assert no.value.result.evaluations == 36
    assert no.value.result.best is not None


def test_where_all_held_out_evaluations_fail_the_values_are_of_the_tuning():
    def fails(config, instance, seed):
        if instance == "test":
            raise ValueError("no such file")
        return evaluate(config, instance, seed)

    given = {"size": 2, "budget": 96, "seed": 1, "deterministic": False}
    with pytest.warns(racer.RacerWarning, match="all evaluations on held-out instances failed"):
        found = racer.portfolio(SPACE, fails, INSTANCES[:6], test_instances=["test"], **given)
    assert found.instances == tuple(INSTANCES[:6])
    assert found.note in str(found)
    plain = racer.portfolio(SPACE, fails, INSTANCES[:6], **given)
    assert plain.table.equals(found.table)
    assert plain.note == ""


async def coroutine(config, instance, seed):
    return 0.0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"budget": 80}, "3 members on 12 instances, 2 times each, take 72 evaluations: give 102"),
        (
            {"budget": 20, "size": 1, "repeats": 1, "instances": INSTANCES[:11]},
            "1 member on 11 instances, once each, takes 11 evaluations: give 21",
        ),
        (
            {"budget": 20, "size": 2, "instances": [1]},
            "2 members on 1 instance, 2 times each, take 4 evaluations: give 24",
        ),
        ({"size": 0}, "size=0"),
        ({"evaluate": coroutine}, "evaluate is a coroutine function"),
        ({"repeats": 0}, "repeats=0"),
        ({"test_instances": []}, "test_instances is empty"),
    ],
)
def test_what_cannot_work_is_refused(given, why):
    arguments = {"evaluate": evaluate, "instances": INSTANCES, "budget": 600, **given}
    with pytest.raises(racer.RacerError, match=why):
        racer.portfolio(SPACE, **arguments)


def test_the_picture_has_all_members(found):
    pytest.importorskip("matplotlib")
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(labels) == ["#0", "#1", "#2", "best of each"]
    line = next(line for line in ax.lines if line.get_label() == "best of each")
    assert list(line.get_ydata()) == sorted(found.table.min(axis=1))


def test_aslib_shows_the_instances(found, tmp_path):
    found.to_aslib(tmp_path)
    lines = (tmp_path / "readme.txt").read_text().splitlines()
    assert lines[2:] == [f"i{i}: {instance!r}" for i, instance in enumerate(found.instances)]


@pytest.mark.parametrize("taken", ["algorithm", "runstatus", "instance_id", "Repetition"])
def test_columns_of_aslib_are_no_names(found, tmp_path, taken):
    """Else a file would have an attribute twice, which no reader takes."""
    for given in ({"measure": taken}, {"features": {taken: [1.0] * len(found.instances)}}):
        with pytest.raises(racer.SettingError, match=f"^'{taken}': ASlib has a column of that"):
            found.to_aslib(tmp_path, name=taken, **given)
    assert not [*tmp_path.iterdir()]
    found.to_aslib(tmp_path, name=taken)


def test_aslib(found, tmp_path):
    size = [float(size) for _, size in INSTANCES]
    found.to_aslib(tmp_path / "kinds", name="kinds", measure="cost", features={"size": size})
    description = json.loads((tmp_path / "kinds" / "description.txt").read_text())
    assert description["performance_measures"] == ["cost"]
    assert description["features_deterministic"] == ["size"]
    assert list(description["metainfo_algorithms"]) == ["m0", "m1", "m2"]
    arff = pytest.importorskip("arff")
    read = {p.stem: arff.loads(p.read_text()) for p in (tmp_path / "kinds").glob("*.arff")}
    assert set(read) == {"algorithm_runs", "feature_values", "feature_runstatus", "cv"}
    runs = {(i, r, a): v for i, r, a, v, _ in read["algorithm_runs"]["data"]}
    assert runs == {
        (f"i{i}", r + 1, f"m{m}"): found.values[i, m, r] for i, m, r in np.ndindex(12, 3, 2)
    }
    assert [row[2] for row in read["feature_values"]["data"]] == size
    with pytest.raises(racer.SettingError, match="'two words': give letters"):
        found.to_aslib(tmp_path / "kinds", name="two words")
    with pytest.raises(racer.SettingError, match="feature 'size': give 12 numbers"):
        found.to_aslib(tmp_path / "kinds", features={"size": [1.0]})
    with pytest.raises(racer.SettingError, match="feature 'size': give 12 numbers"):
        found.to_aslib(tmp_path / "kinds", features={"size": ["a"] * 12})
    with pytest.raises(racer.SettingError, match=r"features=\[1, 2\]: give numbers by name"):
        found.to_aslib(tmp_path / "kinds", features=[1, 2])
    with pytest.raises(racer.SettingError, match="5: give letters"):
        found.to_aslib(tmp_path / "kinds", name=5)
