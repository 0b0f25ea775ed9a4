"""best_trials_by_evidence: who is best, how probably, and who else may be."""

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState
from studies import add

from racer import ScoresError, SettingError
from racer.integrations.optuna import best_trials_by_evidence
from racer.stats import best_posterior

NAN = float("nan")


def values(n=20, m=6, seed=0, step=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) + step * np.arange(m)


def study_of(table, direction="minimize"):
    study = optuna.create_study(direction=direction)
    for column in np.asarray(table, dtype=float).T:
        add(study, column)
    return study


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_probabilities_are_those_of_the_statistics(direction):
    table = values()
    evidence = best_trials_by_evidence(study_of(table, direction))
    expected = best_posterior(table, maximize=direction == "maximize").probability_best
    assert [evidence.probability[i] for i in range(6)] == expected.tolist()
    assert list(evidence.probability.values()) == sorted(expected.tolist(), reverse=True)
    assert evidence.best == expected.argmax() == (0 if direction == "minimize" else 5)
    assert evidence.compared_on == tuple(range(20))


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_running_means_are_turned_back_into_values(direction):
    """As objectives for MedianPruner report them: each trial's value is its last report."""
    table = values(n=10)
    means = np.cumsum(table, axis=0) / np.arange(1, 11)[:, None]
    study = optuna.create_study(direction=direction)
    for column in means.T:
        add(study, column, value=column[-1])
    found, expected = map(best_trials_by_evidence, (study, study_of(table, direction)))
    assert found.probability == pytest.approx(expected.probability, abs=1e-6)


def test_a_learning_curve_is_no_evidence():
    study = optuna.create_study()
    for number in range(5):
        curve = number + np.exp(-np.arange(12) / 4)
        add(study, curve, value=curve[-1])
    with pytest.raises(ScoresError, match=r"learning curve: .*value of that one alone"):
        best_trials_by_evidence(study)


def test_the_worse_are_told_from_those_that_may_be_best():
    table = values(n=40, step=0.0)
    table[:, 4:] += 3.0
    evidence = best_trials_by_evidence(study_of(table))
    assert set(evidence.indistinguishable) == {0, 1, 2, 3}
    assert evidence.indistinguishable[0] == evidence.best
    few = best_trials_by_evidence(study_of(table[:1]))
    assert set(few.indistinguishable) == set(range(6))


def test_the_first_of_equal_trials_is_the_best_whatever_rounding_says():
    for seed in range(3):
        values = np.random.default_rng(seed).permutation([1.1, 1.3, 1.6, 2.0])
        table = np.array([np.roll(values, shift) for shift in range(4)])  # of equal ranks, too
        evidence = best_trials_by_evidence(study_of(table))
        assert [*evidence.probability] == [0, 1, 2, 3]
        assert evidence.best == 0


@pytest.mark.thorough
def test_equal_trials_are_rarely_told_apart():
    told_apart = sum(
        len(best_trials_by_evidence(study_of(values(seed=s, step=0.0))).indistinguishable) < 6
        for s in range(60)
    )
    assert told_apart <= 8  # 5 % of 60 are 3: more than 8 have probability 0.003


@pytest.mark.thorough
def test_of_the_best_ones_one_is_rarely_left_out_whatever_the_others_are():
    left_out = 0
    for seed in range(60):
        table = values(n=30, seed=seed, step=0.0)
        table[:, 3:] += 4.0
        left_out += not {0, 1, 2} <= set(best_trials_by_evidence(study_of(table)).indistinguishable)
    assert left_out <= 8


def test_the_probability_alone_decides_what_is_said_of_a_noisy_study():
    """A trial of probability .003 was indistinguishable, and another probably better than the best."""
    study = study_of(values(n=10, m=12, step=0.15))
    add(study, values()[:2, 0] - 1.0, TrialState.PRUNED)
    for confidence in (0.6, 0.95):
        evidence = best_trials_by_evidence(study, confidence=confidence)
        frame = evidence.trials
        assert (frame.index[0], frame.index[-1]) == (evidence.best, 12)
        assert frame.probability.dropna().is_monotonic_decreasing
        held = frame.probability[frame.indistinguishable]
        assert tuple(held.index) == evidence.indistinguishable
        assert held.sum() > confidence > held[:-1].sum()


@pytest.mark.parametrize("m", [4, 1])
def test_trials_that_tie_everywhere_are_all_best(m):
    evidence = best_trials_by_evidence(study_of(np.ones((20, m))))
    assert evidence.indistinguishable == tuple(range(m))
    assert evidence.probability == dict.fromkeys(range(m), 1 / m)
    assert evidence.best == 0
    assert "best=0" in repr(evidence)


def test_pruned_trials_that_saw_less_are_not_compared():
    study = study_of(values(m=3))
    best = best_trials_by_evidence(study).best
    theirs = [study.trials[best].intermediate_values[i] for i in range(8)]
    worse = add(study, np.add(theirs, 1.0), TrialState.PRUNED)
    other = add(study, [*np.subtract(theirs[:4], 1.0), *np.add(theirs[4:], 1.0)], TrialState.PRUNED)
    evidence = best_trials_by_evidence(study)
    frame = evidence.trials
    assert evidence.instances == {0: 20, 1: 20, 2: 20, worse: 8, other: 8}
    assert set(evidence.probability) == {0, 1, 2}
    assert np.isnan(frame.probability[worse])
    assert not frame.indistinguishable[[worse, other]].any()
    assert frame["mean"][worse] == pytest.approx(np.mean(theirs) + 1.0)
    assert frame.index[0] == best


def test_means_of_finish_values_that_are_not_finite_and_other_trials_are_not_there():
    study = study_of(values(m=20))
    gap = add(study, [NAN, *values()[1:, 0]])
    mean = add(study, {0: 1.0, 1: 1.0, 20: 1.0}, TrialState.PRUNED, {"racer:mean_step": 20})
    for state in (TrialState.FAIL, TrialState.RUNNING, TrialState.WAITING):
        add(study, values()[:, 0] - 9.0, state)
    evidence = best_trials_by_evidence(study)
    assert evidence.instances == dict.fromkeys(range(20), 20) | {gap: 19, mean: 2}
    assert gap not in evidence.probability
    assert len(evidence.compared_on) == 20


def test_the_instances_are_those_with_most_values_of_complete_trials():
    study = study_of(values(m=5))
    odd = add(study, values(n=60)[:, 0])
    for seed in range(30):
        add(study, values(n=5, seed=seed)[:, 5], TrialState.PRUNED)
    evidence = best_trials_by_evidence(study)
    assert evidence.compared_on == tuple(range(20))
    assert set(evidence.probability) == {0, 1, 2, 3, 4, odd}


def test_the_numbers_of_instances_do_not_matter_where_sets_of_them_tie():
    """Each trial lacks an instance of its own: the earliest decides, whatever it lacks."""
    table = values(n=6, m=3)
    table[[4, 1, 2], [0, 1, 2]] = NAN
    for steps in (range(6), range(6)[::-1], (3, 5, 0, 4, 1, 2)):
        study = optuna.create_study()
        for column in table.T:
            add(study, dict(zip(steps, column.tolist(), strict=True)))
        evidence = best_trials_by_evidence(study)
        assert set(evidence.compared_on) == {steps[row] for row in (0, 1, 2, 3, 5)}
        assert evidence.probability == {0: 1.0}


def test_what_cannot_be_answered_is_said():
    study = optuna.create_study(study_name="by-mean-only")
    with pytest.raises(ScoresError, match=r"by-mean-only.*report"):
        best_trials_by_evidence(study)
    study.optimize(lambda trial: 1.0, n_trials=2)
    with pytest.raises(ScoresError, match="finite value per instance"):
        best_trials_by_evidence(study)
    with pytest.raises(SettingError, match="several directions"):
        best_trials_by_evidence(optuna.create_study(directions=["minimize", "maximize"]))
    with pytest.raises(SettingError):
        best_trials_by_evidence(study_of(values()), confidence=0.5)
