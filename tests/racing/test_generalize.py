"""What a race with few instances and many seeds is about, and how it says so."""

import flat
import numpy as np
import pytest

import racer

LIKE, THESE = (
    "these alone: Instances(.., generalize=False).",
    "others like them: Instances(.., generalize=True).",
)


def evaluate(config, instance, seed):
    """Cost with an interaction of candidate and instance as large as the noise."""
    mixed = np.random.default_rng([config, instance]).normal()
    return mixed + np.random.default_rng([config, seed]).normal()


def raced(n_instances, **more):
    settings = {"budget": 320, "decider": "f-race", "seed": 1, **more}
    return flat.race(range(8), evaluate, range(n_instances), **settings)


def gates(result):
    return set(result.verdicts["gate"])


@pytest.mark.parametrize(
    ("n_instances", "given", "like"), [(5, None, False), (5, True, True), (10, None, True), (10, False, False)]
)  # fmt: skip
def test_it_says_which_question_it_answers(n_instances, given, like):
    result = raced(n_instances, generalize=given)
    assert ("rotation" in gates(result)) is not like
    assert result.verdict[-1].endswith(LIKE if like else THESE)
    assert f"these {n_instances}" in result.verdict[-1]
    assert result.to_dict()["verdict"][-1] == result.verdict[-1]


def test_it_is_less_sure_of_others_than_of_these():
    sure = {
        like: max(raced(5, generalize=like).probability_best.values()) for like in (True, False)
    }
    assert sure[True] < 0.5 < sure[False]


def test_a_race_that_uses_each_instance_once_is_as_before():
    plain = raced(40)
    assert not any("generalize" in sentence for sentence in plain.verdict)
    assert "rotation" not in gates(plain)
    for given in (True, False):
        result = raced(40, generalize=given)
        assert result.probability_best == plain.probability_best
        assert result.eliminations.equals(plain.eliminations)
        assert result.verdicts.equals(plain.verdicts)
        assert result.verdict[:-1] == plain.verdict


def test_with_each_instance_used_once_it_may_be_about_others():
    costs = {"deterministic": True, "decider": "bayesian-friedman", "budget": 80}
    these, others = raced(10, **costs), raced(10, generalize=True, **costs)
    assert these.eliminations.equals(others.eliminations)
    assert max(these.probability_best.values()) > max(others.probability_best.values())
    assert others.verdict[-1].endswith(LIKE)


@pytest.mark.parametrize(
    ("instances", "given", "message"),
    [([1], True, "one instance"), (None, False, "without instances"), ([1, 2], 1, "True or False")],
)
def test_what_cannot_be_is_refused(instances, given, message):
    with pytest.raises(racer.SettingError, match=message):
        racer.race([1, 2], evaluate, racer.Instances(instances, generalize=given), budget=40)


def test_items_that_are_found_to_repeat_are_told_of_as_those_that_are_said_to():
    table, how = np.random.default_rng(1).random((30, 3)), {"seed": 1, "budget": 300}
    items = racer.Instances(range(30), deterministic=True)
    said = racer.race(range(3), lambda c, i, s: table[i, c], items, **how)
    with pytest.warns(racer.RacerWarning, match="seems to ignore its seed"):
        found = racer.race(range(3), lambda c, i, s: table[i, c], range(30), **how)
    assert found.verdict == said.verdict
    assert "these 30 instances" in said.verdict[-1]
