"""Ablation: the path, what each step forces, reuse, and the same result however it is run."""

from __future__ import annotations

import json

import flat
import numpy as np
import pandas as pd
import pytest
from objectives import Counting
from pandas.testing import assert_frame_equal
from playing import play as play_cells
from typed import typed

import racer
from racer import Categorical, Integer, Outcome, Param, Real, Runtime, Space
from racer.evaluate.outcome import bounded
from racer.racing.ablation import Ablation
from racer.space.structure import toward

SPACE = Space(
    {
        "x": Real(0, 9),
        "alg": Categorical(["a", "b"]),
        "q": Real(0, 9),
        "n": Integer(1, Param("x") + 1),
        "inert": Real(0, 1),
    },
    conditions={"q": {"alg": "a"}},
    forbidden=[(Param("inert") > 0.5) & (Param("x") > 5)],
    default={"x": 8.0, "alg": "b", "n": 9, "inert": 0.0},
)
TARGET = {"x": 2.0, "alg": "a", "q": 1.0, "n": 2, "inert": 0.75}


def cost(config, instance, seed):
    return 10 * config["x"] + config.get("q", 3.0) + config["n"] / 100 + instance + seed % 3


def play(contest, evaluate=cost):
    seen = []
    while cells := contest.ask():
        for cell in reversed(cells):
            seen.append(cell.key)
            value = evaluate(cell.config, cell.instance, cell.seed)
            contest.tell(cell, racer.Outcome("ok", value, seconds=0.5))
    assert len(seen) == len(set(seen))
    return contest.result()


def made(**rules):
    seeds = range(8)
    return Ablation(
        SPACE, SPACE.default, TARGET, [0] * 8, seeds, **{"budget": 999, "seed": 1} | rules
    )


def test_the_path_takes_the_largest_gain_first_with_what_it_forces():
    result = play(made())
    assert [step.parameters for step in result.steps] == [
        ("x", "n"),  # n is no more than x + 1
        ("alg", "q"),
        ("inert",),
    ]
    assert result.configs[result.path[-1]] == result.target == TARGET
    gains = [row[1] for row in result._gains]
    assert sum(gains) == pytest.approx(result.gain(result.path[0], result.path[-1]))
    assert gains == pytest.approx([60.07, 2.0, 0.0])
    assert [row[3] for row in result._gains[:2]] == pytest.approx([1.0, 1.0], abs=0.01)
    assert sum(row[2] for row in result._gains) == pytest.approx(1.0)
    assert result.best == TARGET  # no other is better than it
    assert "Of 3 steps" in repr(result)
    assert repr(result).endswith(f"{result.evaluations} evaluations.")  # it takes no seed
    assert "<td" in result._repr_html_()
    assert len(result.plot().patches) == 3
    assert list(result.frame["parameters"]) == ["x, n", "alg, q", "inert"]


@pytest.mark.parametrize("n_without", [0, 3, 8])
def test_without_noise_each_gain_is_sure(n_without):
    """Of parameters that matter by far and by little, and of some that do not matter."""
    weights = {"a": 10.0, "b": 9.0, "c": 2.0, "d": 0.2} | {f"n{i}": 0.0 for i in range(n_without)}
    space = Space(dict.fromkeys(weights, Real(0.0, 1.0)), default=dict.fromkeys(weights, 0.0))
    target, seeds = dict.fromkeys(weights, 1.0), range(8)
    result = play(
        Ablation(space, space.default, target, [0] * 8, seeds, budget=9999, seed=1),
        lambda config, instance, seed: instance - sum(weights[n] * config[n] for n in weights),
    )
    helps = [row[3] for row in result._gains]
    assert min(helps[:4]) > 0.99
    assert helps[4:] == pytest.approx([0.5] * n_without, abs=0.05)


def test_what_is_forbidden_falls_out():
    assert toward(SPACE, SPACE.default, TARGET, "inert") is None
    assert toward(SPACE, SPACE.default, TARGET, "x") == {"x": 2.0, "alg": "b", "n": 2, "inert": 0.0}
    assert toward(SPACE, TARGET, {**SPACE.default}, "alg") == {
        name: TARGET[name] if name != "alg" else "b" for name in ("x", "alg", "n", "inert")
    }


def test_where_nothing_between_is_allowed_it_goes_at_once():
    space = Space(
        {"a": Integer(0, 1), "b": Integer(0, 1)}, forbidden=[{"a": 0, "b": 1}, {"a": 1, "b": 0}]
    )
    ends = {"a": 0, "b": 0}, {"a": 1, "b": 1}
    result = play(Ablation(space, *ends, None, range(5), budget=99), lambda c, i, s: 1 - c["a"])
    assert [step.parameters for step in result.steps] == [("a", "b")]
    assert result.verdict[0].startswith(
        "In one step from source to target on 5 runs, the change of a, b gained 1, 100% of"
    )


def test_a_configuration_on_the_path_may_beat_the_target():
    def evaluate(config, instance, seed):
        return 10 * config["x"] + (5 if config["inert"] else 0) + seed % 3

    result = play(made(), evaluate)
    assert result.best["inert"] == 0.0
    assert result.beats_target > 0.95
    step = result.path.index(result.best_index)
    place = f"The configuration after step {step} has a better mean than the target"
    assert any(said.startswith(place) for said in result.verdict)


@pytest.mark.thorough
def test_luck_that_was_selected_is_no_gain():
    """Of changes without effect the luckiest is printed, and the luckiest place on the path."""
    space = Space({name: Real(0, 1) for name in "abcde"})
    ends = dict.fromkeys("abcde", 0.9), dict.fromkeys("abcde", 0.1)
    helps, beats = [], []
    for seed in range(16):

        def evaluate(config, instance, block, seed=seed):
            key = [seed, block, *(round(10 * value) for value in config.values())]
            return float(np.random.default_rng(key).normal())

        result = play(Ablation(space, *ends, None, range(10), budget=999, seed=1), evaluate)
        helps.append(max(result._gains, key=lambda row: row.gain).probability)
        beats.append(result.beats_target)
    beats = np.array(beats)[~np.isnan(beats)]
    for said in (np.array(helps), beats):
        assert len(said) > 10
        assert said.mean() < 0.75
        assert (said > 0.95).mean() < 0.1


def test_a_configuration_that_fails_is_not_the_best_of_the_path():
    """Its mean is small, as it solves the easy blocks only."""
    hard = (1, 2, 3, 4)
    space = Space({"x": Integer(0, 9), "y": Integer(0, 9)})
    ends = {"x": 9, "y": 9}, {"x": 0, "y": 0}

    def evaluate(cell):
        x, y = cell.config["x"], cell.config["y"]
        if cell.block in hard and (x > 4) != (y > 4):
            return None
        return (1000 if cell.block in hard else 1) * (10 * x + y + 1 + 0.1 * (cell.seed % 7))

    contest = Ablation(space, *ends, range(6), range(6), budget=99, seed=1)
    result = play_cells(contest, evaluate)
    between = result.path[1]
    assert result.frame["mean"].iloc[0] < result.frame["mean"].iloc[1]
    assert result.gain(between, result.path[2]) > 0
    assert result.best == result.target
    assert result.beats_target != result.beats_target  # NaN


def test_one_block_gives_no_probability():
    contest = Ablation(SPACE, SPACE.default, TARGET, [0], [0], budget=99, seed=1)
    result = play(contest)
    text = repr(result)
    assert "on 1 run," in text
    assert "helps with" not in text
    assert "nan" not in text
    plain = result.to_dict()
    json.dumps(plain, allow_nan=False)
    assert plain["steps"][0]["probability"] is None
    assert plain["steps"][0]["parameters"] == ["x", "n"]


def test_a_budget_ends_it_with_the_steps_so_far():
    result = play(made(budget=40))
    assert result.ended is racer.Ended.BUDGET
    assert result.evaluations <= 40
    assert "does not reach the target" in " ".join(result.verdict)
    assert play(made(budget=3)).steps == ()


def test_the_least_budget_pays_for_the_first_step():
    least = Ablation.min_evaluations(SPACE, SPACE.default, TARGET, 8, 5)
    assert len(play(made(budget=least)).steps) == 1
    assert not play(made(budget=least - 1)).steps
    space = Space(
        {"a": Integer(0, 1), "b": Integer(0, 1)}, forbidden=[{"a": 0, "b": 1}, {"a": 1, "b": 0}]
    )
    ends = {"a": 0, "b": 0}, {"a": 1, "b": 1}
    assert Ablation.min_evaluations(space, *ends, 8, 5) == 16  # nothing between is allowed


@pytest.mark.parametrize("budget", range(31, 34))
def test_a_step_is_evaluated_on_all_blocks(budget):
    """The race of the first round ends after five of them, and the budget before the others."""
    result = play(made(budget=budget))
    assert result.ended is racer.Ended.BUDGET
    assert all(len(result.known.of(c)) == 8 for c in result.path)


def test_of_those_left_in_a_round_the_one_with_the_best_mean_is_taken():
    """By ranks, the change of x is the better one."""

    def evaluate(config, instance, seed):
        if config["x"] == config["y"]:
            return 100.0
        return 50.0 + config["x"] * (-0.1 if seed % 3 else 10.0)

    space = Space({"x": Integer(0, 1), "y": Integer(0, 1)})
    ends = {"x": 0, "y": 0}, {"x": 1, "y": 1}
    result = play(Ablation(space, *ends, None, range(8), budget=99, seed=1), evaluate)
    assert result.steps[0].parameters == ("y",)


def test_the_most_evaluations_are_those_of_an_ablation_that_eliminates_nobody():
    space = Space({name: Integer(0, 1) for name in "abcd"})
    ends = dict.fromkeys("abcd", 0), dict.fromkeys("abcd", 1)
    most = Ablation.max_evaluations(4, 4)
    contest = Ablation(space, *ends, None, range(4), budget=most, seed=1)
    result = play(contest, lambda config, instance, seed: 1.0)
    assert result.ended is racer.Ended.DECIDED
    assert result.evaluations == most - 4  # the last change is the target, which is known


def fails_early(cell):
    return cell.config["x"] == 8.0 and cell.block < 3


def test_failures_count_as_the_worst():
    result = play_cells(
        made(), lambda cell: None if fails_early(cell) else cost(cell.config, 0, cell.seed)
    )
    assert result.steps[0].parameters == ("x", "n")
    assert result._gains[0][1] > 60
    assert result.verdict[1] == (
        "9 evaluations failed, the first with 'it failed': in gains each is worse than all values."
    )


def test_nothing_is_gained_where_all_evaluations_fail():
    space = Space({"x": Integer(0, 9)})
    contest = Ablation(space, {"x": 0}, {"x": 9}, None, range(3), budget=99)
    verdict = "No gain is known.", "6 evaluations failed, the first with 'it failed'."
    assert play_cells(contest, lambda cell: None).verdict == verdict


def test_a_failure_is_worse_than_values_that_are_all_equal():
    result = play_cells(made(), lambda cell: None if fails_early(cell) else 7.0)
    assert result.gain(0, 1) == pytest.approx(7.0 * 3 / 8)
    assert result.steps[0].parameters == ("x", "n")


@pytest.mark.parametrize("level", [1.0, 1000.0])
def test_gains_add_up_where_evaluations_fail(level):
    """Each pair of configurations had a cost of its failures of its own."""
    contest = Ablation(
        Space({"x": Integer(0, 1), "y": Integer(0, 1)}),
        *({"x": 0, "y": 0}, {"x": 1, "y": 1}, None, range(12)),
        budget=99,
        seed=1,
    )

    def evaluate(cell):
        if cell.config["y"] == 0 and cell.block % 2 == 0:
            return None
        return (level if cell.config["x"] == 0 else 10.0) + cell.block % 3

    result = play_cells(contest, evaluate)
    source, *_, target = result.path
    assert len(result.steps) == 2
    assert result.frame["gain"].sum() == pytest.approx(result.gain(source, target))
    assert result.frame["share"].sum() == pytest.approx(1.0)
    ahead = result.gain(target, result.best_index)
    assert ahead > 0 or result.best == result.target
    if result.best != result.target:
        assert result.beats_target > 0.5


def test_equal_ends_are_refused():
    with pytest.raises(racer.SettingError, match="nothing to ablate"):
        Ablation(SPACE, TARGET, TARGET, None, [1], budget=9)


@pytest.fixture(scope="module", name="tuned")
def _tuned(tmp_path_factory):
    path = tmp_path_factory.mktemp("ablation") / "run.db"
    return racer.tune(
        SPACE, cost, range(9), budget=150, seed=1, store=path, initial=[SPACE.default]
    ), path


def test_it_is_run_resumed_loaded_and_the_same_for_any_workers(tuned, tmp_path):
    result, _ = tuned

    def alike(config, instance, seed):  # sent to workers as it is
        return 10 * config["x"] + config.get("q", 3.0) + config["n"] / 100 + instance + seed % 3

    once = racer.ablation(result, cost)
    store = tmp_path / "ablation.db"
    with pytest.raises(racer.RaceInterrupted, match=r"racer\.ablation"):
        racer.ablation(result, Counting(cost, 40), store=store)
    with pytest.warns(racer.RacerWarning, match="goes on with"):
        again = racer.ablation(result, cost, store=store)
    loaded = racer.load(store)
    for other in (again, loaded, racer.ablation(result, alike, n_jobs=racer.Workers(2, ahead=2))):
        assert (other.path, other._gains, other.evaluations) == (
            once.path,
            once._gains,
            once.evaluations,
        )
    assert once.steps[0].parameters[0] == "x"
    with pytest.raises(racer.StoreError, match="holds an ablation"):
        racer.resume(store, cost)


@pytest.mark.parametrize("name", ["instances", "test_instances"])
def test_instances_that_a_store_only_describes_are_not_replaced_by_numbers(tmp_path, name):
    path, items = tmp_path / "run.db", {"instances": range(9), "test_instances": range(9, 14)}
    items[name] = [np.array(item) for item in items[name]]
    given = racer.Instances(items["instances"], held_out=items["test_instances"])
    result = racer.tune(SPACE, cost, given, budget=150, seed=1, store=path, initial=[TARGET])
    again = racer.resume(path, cost, instances=given)
    assert racer.ablation(result, cost)._gains == racer.ablation(again, cost)._gains
    for of in (path, racer.load(path)):
        with pytest.raises(
            racer.StoreError, match=f"only describes its {name}: give the result of"
        ):
            racer.ablation(of, cost)


def test_a_deadline_ends_it_with_the_steps_so_far(tuned, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("racer.run.deadline._clock", lambda: now[0])

    def evaluate(config, instance, seed):
        now[0] += 1.0
        return cost(config, instance, seed)

    events, budget = [], racer.Budget(wall=40)
    first = racer.ablation(tuned[0], evaluate, budget=budget, callbacks=[events.append])
    assert first.ended is racer.Ended.DEADLINE
    assert events[-1] == racer.RaceEnded(racer.Ended.DEADLINE, eliminated=())
    assert "The deadline has passed." in str(first)


def test_what_the_tuning_knows_is_not_evaluated_again(tuned):
    result, path = tuned
    counted = Counting(cost)
    found = racer.ablation(path, counted, blocks=6)
    known = len(result.known.of(result.best_index))
    assert len(counted.calls) <= found.evaluations - min(known, 6)
    assert len({(repr(config), seed) for config, _, seed in counted.calls}) == len(counted.calls)


@pytest.mark.parametrize(
    ("runtime", "gains"),
    [
        (Runtime(75.0), [750.0 - 23.02, 2.0, 0.0]),
        (Runtime(75.0, par=None), [75.0 - 23.02, 2.0, 0.0]),  # ranks add up to nothing
        (Runtime(75.0, utility="linear"), [1.0 - 23.02 / 75.0, 2.0 / 75.0, 0.0]),
    ],
)
def test_gains_of_run_times_are_of_their_score_at_the_limit(runtime, gains):
    def timed(config, instance, seed):
        return cost(config, instance, 0)  # 83.09 s of the source: unsolved

    contest = made(runtime=runtime)
    while cells := contest.ask():
        assert {cell.bound for cell in cells} == {75.0}
        for cell in cells:
            took = timed(cell.config, cell.instance, cell.seed)
            contest.tell(cell, bounded(Outcome("ok", took, seconds=took), cell.bound))
    result = contest.result()
    assert [row[1] for row in result._gains] == pytest.approx(gains)
    assert result.best == TARGET
    assert runtime.utility or f"PAR{runtime.par or 1:g}" in repr(result)


def says_its_time(config, instance, seed):
    return 1.0 + config["x"] + config["y"] + seed % 3


def test_what_the_tuning_stopped_below_the_limit_is_run_again(tmp_path, in_series):
    runtime = Runtime(20.0, slack=1.0)
    space = Space({"x": Real(0, 9), "y": Real(0, 9)})
    tuner = racer.Tuner.of(space, [0, 1], budget=84, seed=1, runtime=runtime)

    def stopped_at_its_cap(cell):
        took = says_its_time(cell.config, cell.instance, cell.seed)
        return bounded(Outcome("ok", took, seconds=took), cell.bound)

    tuned = play_cells(tuner, stopped_at_its_cap)
    stopped = tuned.scores[(tuned.scores["status"] == "capped") & (tuned.scores["block"] < 8)]
    ends = {"source": int(stopped["candidate"].iloc[0]), "blocks": 8}
    store = tmp_path / "ablation.db"
    found = racer.ablation(tuned, says_its_time, store=store, **ends)
    assert not {why.status for row in found.known.rows for why in row.others.values()}
    assert found.steps
    assert racer.load(store)._gains == found._gains
    shown = typed("show", store)
    assert "PAR10" in shown.output


def test_what_cannot_be_ablated_is_said(tuned):
    result, _ = tuned
    for settings, match in (
        ({"source": "first"}, 'give "default", "best"'),
        ({"source": 9999}, "give a number from 0"),
        ({"blocks": 1}, "blocks"),
        ({"budget": 3}, "budget of 3 evaluations: the first step on 30 blocks takes at least"),
    ):
        with pytest.raises(racer.RacerError, match=match):
            racer.ablation(result, cost, **settings)
    with pytest.raises(racer.SettingError, match="result of a tuning"):
        racer.ablation(racer.race([1], cost, budget=1), cost)


def test_a_tuning_without_a_default_has_none_to_ablate_from():
    space = Space({"x": Real(0, 9)})
    result = racer.tune(space, lambda config, instance, seed: config["x"], range(5), budget=30)
    with pytest.raises(racer.SettingError, match=r"source='default': there is none.*\(default="):
        racer.ablation(result, pytest.fail)


@pytest.mark.filterwarnings("ignore:evaluate returned")
def test_a_tuning_without_a_best_has_none_to_go_to():
    space = Space({"x": Real(0, 9)}, default={"x": 1})
    result = racer.tune(space, lambda config, instance, seed: 1.0, range(5), budget=30)
    with pytest.raises(
        racer.SettingError, match=r"target='best': .*, or the number of a candidate$"
    ):
        racer.ablation(result, pytest.fail)


def test_the_command_records_it_and_the_report_shows_it(tmp_path, path):
    words = ["{x}", "*", "9", "+", "{y}", "+", "{instance}", "+", "{seed}", "%", "7"]
    command = racer.Command(["expr", *words])
    space = Space({"x": Integer(0, 9), "y": Integer(0, 9)})
    settings = {"budget": 48, "first_test": 2, "seed": 1, "initial": [{"x": 9, "y": 9}]}
    flat.tune(space, command, [1, 2], **settings, store=path)
    done = typed("ablation", path, "--yes", "-q", "--blocks", "3", "--json", exits=0)
    said = json.loads(done.stdout)
    assert said["steps"][0]["parameters"] == ["x"]
    kept = tmp_path / "run.ablation.db"
    shown = typed("show", kept)
    assert "gained most" in shown.stdout
    for store in (path, kept):  # of both, into one folder
        done = typed("show", store, "--csv", tmp_path / "tables", exits=0)
    assert_frame_equal(pd.read_csv(tmp_path / "tables" / "steps.csv"), racer.load(kept).frame)
    done = typed("show", kept, "--json")
    assert json.loads(done.stdout)["steps"] == said["steps"]
    for words, message in (
        (["show", kept, "--configurations", tmp_path / "c"], "an ablation has no survivors"),
        (
            ["ablation", path, "--target", '{"x": 1, "x": 2, "y": 0}'],
            """--target '{"x": 1, "x": 2, "y": 0}' is not a configuration: the key 'x' is there twice""",
        ),
    ):
        done = typed(*words)
        assert done.exit_code == (2 if "--target" in words else 1)
        assert message in " ".join(done.output.split())
    checked = typed("check", kept, exits=0)
    assert "go on with     the same racer ablation command, or call of racer" in checked.stdout
    page = tmp_path / "page.html"
    assert typed("report", path, "-o", page).exit_code == 0
    assert "<h2>Ablation</h2>" in page.read_text(encoding="utf-8")
    assert "holds an ablation" in typed("report", kept).output
