"""The default of a space: the configuration in use now, which a tuning has to beat."""

import flat
import numpy as np
import pytest

import racer
from racer import Real, Space, Tuner
from racer.evaluate.outcome import bounded

SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)}, default={"x": 0.9, "y": 0.5})
HELD_OUT = range(100, 108)


def evaluate(config, instance, seed):
    noise = np.random.default_rng(seed).normal() * 0.02
    return 1.0 + (config["x"] - 0.3) ** 2 + (config["y"] - 0.5) ** 2 / 5 + noise + instance / 100


def tuned(space=SPACE, evaluate=evaluate, **settings):
    return flat.tune(space, evaluate, range(10), **({"budget": 120, "seed": 1} | settings))


def test_the_default_is_in_the_first_race_and_on_held_out_instances(path):
    result = tuned(test_instances=HELD_OUT, store=path)
    assert result.default_index == 0
    assert result.configs[0] == SPACE.default
    assert len(result.held_out.of(0)) == len(HELD_OUT)
    means = result.tests.mean()
    found = result.improvement
    assert found.held_out
    assert found.blocks == len(HELD_OUT)
    assert found.mean == pytest.approx(means[result.best_index])
    assert found.default_mean == pytest.approx(means[0])
    assert found.relative == pytest.approx((means[0] - means[result.best_index]) / means[0])
    assert found.probability > 0.99
    share = f"{100 * found.relative:.2g} % better than the default on 8 held-out instances (probability > 0.99)"
    assert str(result).startswith(share)
    again = racer.load(path)
    assert (again.verdict, again.improvement) == (result.verdict, found)
    ablated = racer.ablation(path, evaluate)
    assert ablated.steps[0].parameters == ("x",)


def test_a_default_is_not_listed_twice_among_the_initial_candidates():
    others = [{"x": 0.1, "y": 0.1}, SPACE.default]
    tuner = Tuner(SPACE, range(10), budget=120, seed=1, initial=others)
    assert tuner.settings["initial"] == [SPACE.default, others[0]]
    assert Tuner(Space(SPACE.parameters), budget=120).settings["initial"] == []


def test_without_held_out_instances_no_probability_is_given():
    result = tuned()
    assert result.improvement.probability is None
    assert not result.improvement.held_out
    assert (
        "chosen on these, which flatters it: give Instances(.., held_out=..)" in result.verdict[0]
    )


def test_a_default_that_is_the_best_is_named():
    def distance(config, instance, seed):
        return abs(config["x"] - 0.9) + abs(config["y"] - 0.5) + seed % 7

    result = tuned(evaluate=distance)
    assert result.improvement is None
    assert result.verdict[0].startswith("The default is returned: ")
    assert not any("default" in line for line in tuned(Space(SPACE.parameters)).verdict)


@pytest.mark.parametrize("budget", [300, 700])
def test_of_a_near_tie_the_default_is_returned(budget):
    result = tuned(evaluate=only_noise, budget=budget)
    assert (result.best_index, result.evaluations) == (0, budget)
    assert result.verdict[0].endswith("no configuration was better by two standard errors.")
    # the other one, too, has been evaluated on all of its last blocks
    last = {*sorted(result.known.of(0))[-4:]}
    assert any(last <= {*result.known.of(c)} for c in range(1, len(result.configs)))


def only_noise(config, instance, seed):
    return np.random.default_rng([seed, int(1e9 * config["x"])]).normal()


@pytest.mark.parametrize(("sign", "what"), [(1.0, "% better"), (-1.0, "has a mean of -")])
def test_larger_may_be_better_and_values_below_zero_have_no_percentage(sign, what):
    def value(config, instance, seed):
        return sign * 3.0 - evaluate(config, instance, seed)

    result = tuned(evaluate=value, maximize=True, test_instances=HELD_OUT)
    assert what in result.verdict[0]
    assert (result.improvement.relative is None) == (sign < 0)
    assert result.improvement.mean > result.improvement.default_mean


def test_so_many_elites_as_asked_for_are_evaluated_on_held_out_instances(tmp_path):
    result = tuned(
        test_instances=HELD_OUT, search=racer.Search(test_elites=1), store=tmp_path / "run.db"
    )
    held_out = {candidate for _, candidate, _ in result.held_out.cells()}
    assert held_out == {result.best_index, 0}
    again = racer.resume(tmp_path / "run.db", evaluate)
    assert again.tests.equals(result.tests)

    with pytest.raises(racer.SettingError, match="test_elites=2 without held-out instances: give"):
        tuned(search=racer.Search(test_elites=2))


WHOLE = Space({"x": racer.Integer(1, 9)}, default={"x": 9})


def counted(fails=lambda x, instance: False, size=lambda instance: 1.0, **settings):
    """Return a tuning of a cost that grows by x, where a call may fail."""

    def cost(config, instance, seed):
        if fails(config["x"], instance):
            raise ValueError("too hard")
        return size(instance) * (0.5 * config["x"] + 0.001 * (seed % 7))

    return flat.tune(WHOLE, cost, range(10), **({"budget": 150, "seed": 1} | settings))


def test_of_a_utility_more_is_better():
    runtime = racer.Runtime(10.0, utility="linear")
    tuner = Tuner.of(
        WHOLE, range(10), budget=150, seed=1, runtime=runtime, test_instances=[100, 101]
    )
    while cells := tuner.ask():  # no clock: with run times each evaluation has a process else
        for cell in cells:
            took = 0.5 * cell.config["x"] + 0.001 * (cell.seed % 7)
            tuner.tell(cell, bounded(racer.Outcome("ok", took, seconds=took), cell.bound))
    result = tuner.result()
    assert result.best == {"x": 1}
    assert result.improvement.mean > result.improvement.default_mean
    assert result.improvement.relative > 0.5
    assert "% better than the default" in result.verdict[0]


def test_means_are_of_the_blocks_that_both_have_solved():
    """On the held-out instances that only the default solves, values are 100 times as large."""
    result = counted(
        lambda x, instance: instance > 100 and x < 9,
        lambda instance: 100.0 if instance > 100 else 1.0,
        test_instances=[100, 101, 102, 103],
    )
    found = result.improvement
    assert (found.blocks, found.failed, found.default_failed) == (1, 3, 0)
    assert found.held_out
    assert found.default_mean < 5.0
    assert found.relative == pytest.approx(1 - found.mean / found.default_mean)
    assert found.probability < 0.3  # three failures of four may be chance
    assert "on one held-out instance that both solved (prob" in result.verdict[0]
    assert result.verdict[0].endswith("The best failed on 3 of 4 shared held-out instances.")


def test_a_best_without_a_value_on_held_out_instances_is_named_as_one():
    result = counted(lambda x, instance: instance >= 100 and x < 9, test_instances=[100, 101])
    assert not result.improvement.held_out
    assert result.verdict[0].endswith(
        "flatters it. The best failed on all 2 shared held-out instances."
    )
    assert np.isnan(list(result.test_means.values())).all()
    assert result.to_dict()["survivors"][0]["held_out_mean"] is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"test_instances": [100, 101]}, "on all 2 shared held-out instances."),
        ({"test_instances": [100]}, "on the only shared held-out instance."),
        ({}, "shared block"),
    ],
)
def test_a_default_that_always_fails_is_named_as_one(settings, says):
    result = counted(lambda x, _: x == 9, **settings)
    assert result.improvement is None
    assert result.verdict[0].startswith("The default failed on")
    assert says in result.verdict[0]


def test_large_percentages_are_whole_numbers():
    result = tuned(
        WHOLE,
        lambda config, instance, seed: 10.0 ** (9 - config["x"]) + 1e-6 * (seed % 7),
        maximize=True,
        test_instances=HELD_OUT,
    )
    assert result.improvement.relative > 1e5
    assert result.verdict[0].startswith(f"{100 * result.improvement.relative:.0f} % better")
