"""RacingPruner: whom it compares, when it prunes, and what it does not take for data."""

import copy
import pickle
import sys
import threading
from contextlib import nullcontext

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState
from playing import short
from studies import add, run

from racer import RacerWarning, SettingError
from racer.deciders import (
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    CorrelatedTRace,
)
from racer.integrations.optuna import RacingPruner
from racer.integrations.optuna.reports import are_running_means

NAN, INF = float("nan"), float("inf")
DECIDERS = ("anytime", "bayesian-friedman", "f-race", "f-race-sign", "f-race-mean-rank", "t-race")


def study_of(pruner=None, trials=(), **settings):
    study = optuna.create_study(pruner=pruner or RacingPruner(), **settings)
    for values in trials:
        add(study, values)
    return study


def good(n=30, seed=0):
    return np.random.default_rng(seed).normal(size=n)


# -- what is pruned


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("decider", DECIDERS)
def test_a_much_worse_trial_goes_and_an_equal_or_better_one_stays(decider, direction):
    sign = 1.0 if direction == "minimize" else -1.0
    study = study_of(RacingPruner(decider), direction=direction)
    for seed in range(3):
        add(study, sign * good(seed=seed))
    assert 5 <= run(study, sign * (good(seed=9) + 4.0)) < 15
    assert run(study, sign * (good(seed=9) - 0.5)) is None
    assert run(study, sign * good(20, seed=0)) is None  # ties with the first everywhere


def test_without_other_trials_nobody_goes():
    assert run(study_of(), good()) is None


def test_no_trial_goes_before_the_first_test_or_once_it_has_reported_all_instances():
    for instances, goes in ((12, None), (13, 12), (None, 12)):
        study = study_of(RacingPruner("t-race", first_test=12, instances=instances), [good(12)])
        assert run(study, good(12, seed=1) + 9.0) == goes


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_it_is_compared_with_all_and_not_with_the_luckiest():
    """Of twenty equal trials one is the luckiest: that alone is no evidence."""
    rng = np.random.default_rng(0)
    wilcoxon, racing = [], []
    for _ in range(14):
        values = rng.normal(size=(21, 30))
        for pruner, went in (
            (RacingPruner(instances=31), racing),
            (optuna.pruners.WilcoxonPruner(), wilcoxon),
        ):
            study = study_of(pruner, values[:-1])
            went.append(run(study, values[-1]) is not None)
    assert sum(racing) <= 2  # 5 % of 14 are .7: more than 2 have probability 0.03
    assert sum(wilcoxon) > 5


def test_who_leads_by_its_mean_is_not_pruned():
    """It loses most instances by little and wins one by much: the study is about means."""
    values = np.full(30, 1.0) + 0.01 * np.arange(30)
    values[3] = -1000.0
    study = study_of(RacingPruner(AnytimeRace(), instances=60), [np.zeros(30)])
    assert run(study, values) is None
    values[3] = 1.0
    assert run(study, values) is not None


# -- whose values count


def test_pruned_trials_count_as_far_as_they_came_in_any_order():
    study = study_of()
    values = dict(enumerate(good()))
    add(study, {step: values[step] for step in range(4)}, TrialState.PRUNED)
    assert run(study, good(seed=1) + 9.0) is None  # four instances are not enough
    add(study, {step: values[step] for step in range(29, 9, -1)}, TrialState.PRUNED)
    assert run(study, {step: values[step] + 9.0 for step in range(30)}) > 10


@pytest.mark.parametrize("state", [TrialState.FAIL, TrialState.WAITING, TrialState.RUNNING])
def test_failed_waiting_and_dead_trials_do_not_count(state):
    study = study_of()
    trial = study.ask()  # first, or it would be the waiting one
    add(study, good(), state)
    assert run(study, good(seed=1) + 9.0, trial=trial) is None


def test_running_trials_count_once_they_report_something():
    study = study_of()
    add(study, good(), TrialState.RUNNING)  # its process is dead
    one, other = study.ask(), study.ask()
    pruned = {}
    for step in range(30):
        for trial, shift in ((one, 0.0), (other, 4.0)):
            if trial.number not in pruned:
                trial.report(good(seed=trial.number)[step] + shift, step)
                if trial.should_prune():
                    pruned[trial.number] = step
    assert list(pruned) == [other.number]


def test_a_dead_trial_does_not_count_for_the_next_one_and_ended_ones_are_forgotten():
    study = study_of()
    dead, live = study.ask(), study.ask()
    for step in range(30):
        dead.report(good()[step], step)
        live.report(good(seed=1)[step], step)
        live.should_prune()
    study.tell(live, state=TrialState.FAIL)
    for _ in range(4):
        assert run(study, good(seed=2) + 9.0) is None
    assert len(study.pruner._memories[study]) <= 1


def test_the_mean_of_a_pruned_trial_is_no_instance():
    study = study_of()
    add(
        study,
        {**dict(enumerate(good(10))), 10: -100.0},
        TrialState.PRUNED,
        {"racer:mean_step": 10},
    )
    shown = RacingPruner(AnytimeRace(alpha=0.4), first_test=1)
    study.pruner = shown
    assert run(study, {10: 5.0, **{100 + i: 5.0 for i in range(20)}}) is None
    add(study, {**dict(enumerate(good(10))), **dict.fromkeys(range(10, 20), -100.0)})
    assert run(study, dict.fromkeys(range(10, 20), 5.0)) is not None


# -- what is no data


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("decider", ["anytime", "bayesian-friedman"])
def test_values_that_are_not_finite_or_not_shared_prune_nobody(bad, decider):
    study = study_of(RacingPruner(decider), [good()])
    assert run(study, [bad] * 30) is None
    assert run(study, {100 + s: 9.0 for s in range(30)}) is None
    study = study_of(RacingPruner(decider), [[*good()[:1], *[bad] * 29]])
    assert run(study, good(seed=1) + 9.0) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 1e-310, sys.float_info.max])
def test_values_that_all_tie_prune_nobody(value):
    study = study_of(RacingPruner(), [[value] * 8] * 6)
    assert run(study, [value] * 8) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-310, 1e-170, 1e160, 1e307])
def test_the_unit_of_values_does_not_matter(unit):
    def last(unit):
        study = study_of(RacingPruner(), [np.array(good(seed=seed)) * unit for seed in range(6)])
        return run(study, (np.array(good(seed=9)) + 9.0) * unit)

    assert last(unit) == last(1.0) is not None


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_value_that_is_not_finite_is_as_if_it_were_not_there(bad):
    study = study_of(trials=[good()])
    plain = run(study, {s: good(seed=1)[s] + 2.0 for s in range(30) if s != 2})
    trial = study.ask()
    values = {s: bad if s == 2 else good(seed=1)[s] + 2.0 for s in range(30)}
    assert run(study, values, end=False, trial=trial) == plain + 1
    trial.report(bad, 30)
    assert not trial.should_prune()


def test_a_step_reported_twice_counts_once():
    study = study_of(trials=[good()])
    trial = study.ask()
    for step in (*range(4), *[3] * 30):
        again = step in study.trials[-1].intermediate_values
        with pytest.warns(UserWarning, match="already reported") if again else nullcontext():
            trial.report(99.0, step)
        assert not trial.should_prune()


def test_the_order_is_that_of_the_reports():
    """Seen one by one, or all at once by a pruner that remembers nothing: only the order differs."""
    values = {step: good(seed=1)[step] + 1.0 for step in np.random.default_rng(1).permutation(30)}
    pruner = RacingPruner(AnytimeRace(alpha=0.001))
    study = study_of(pruner, [good()])
    trial = study.ask()
    for step, value in values.items():
        trial.report(value, int(step))
        trial.should_prune()
    assert pruner._memories[study][trial.number].steps == list(values)


# -- indistinguishable


def test_what_is_indistinguishable_from_the_best_goes_if_asked():
    values = np.tile([1.0, 0.0], 20) + 0.001 * np.arange(40)
    other = np.tile([0.0, 1.0], 20) + 0.001 * np.arange(40) + 0.0001
    for epsilon, goes in ((0.0, False), (0.2, True)):
        study = study_of(RacingPruner(epsilon=epsilon, instances=60), [values])
        assert (run(study, other) is not None) == goes
        assert run(study, other - 0.01) is None  # as close, but it leads


@pytest.mark.parametrize("settings", [{}, {"decider": BayesianFriedman(epsilon=0.0)}], ids=str)
def test_a_duplicate_goes_after_29_ties(settings):
    study = study_of(RacingPruner(**settings, epsilon=0.05), [good(40)])
    assert run(study, good(40)) == 29


# -- settings, copies, threads


@pytest.mark.parametrize("decider", ["halving", "best-for-budget", BayesianBest()], ids=short)
def test_a_decider_that_plans_a_budget_is_refused(decider):
    with pytest.raises(SettingError, match='a pruner has none: choose "anytime"'):
        RacingPruner(decider, instances=20)


def test_a_step_beyond_the_instances_is_refused():
    study = study_of(RacingPruner(instances=3))
    trial = study.ask()
    trial.report(1.0, 3)
    with pytest.raises(SettingError, match=r"step 3, but instances=3: .* 0 to 2"):
        trial.should_prune()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copy_decides_alike(copied):
    pruner = RacingPruner("f-race", instances=30, first_test=7)
    study = study_of(pruner, [good()])
    went = run(study, good(seed=1) + 2.0)
    study.pruner = copied(pruner)
    assert went is not None
    assert run(study, good(seed=1) + 2.0) == went
    assert "f-race" not in repr(pruner)
    assert repr(study.pruner) == repr(pruner)


def test_threads_share_a_pruner():
    study = study_of(trials=[good()])
    together = threading.Barrier(4)

    def objective(trial):
        together.wait(timeout=200)
        for step in range(30):
            trial.report(good(seed=trial.number)[step] + (9.0 if trial.number % 2 else 0.0), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return 0.0

    study.optimize(objective, n_trials=8, n_jobs=4)
    ended = {t.number: t.state for t in study.trials[1:]}
    assert {n for n, state in ended.items() if state == TrialState.PRUNED} >= {1, 3, 5, 7}
    assert all(state in (TrialState.PRUNED, TrialState.COMPLETE) for state in ended.values())


# -- few folds, and reports that are running means


@pytest.mark.parametrize(
    ("settings", "decider", "first_test"),
    [
        ({}, AnytimeRace(), 5),
        ({"instances": 16}, AnytimeRace(), 5),
        ({"instances": 15}, CorrelatedTRace(), 3),
        ({"instances": 5, "first_test": 4}, CorrelatedTRace(), 4),
        ({"decider": "anytime", "instances": 5}, AnytimeRace(), 5),
    ],
)
def test_the_default_fits_the_number_of_instances(settings, decider, first_test):
    pruner = RacingPruner(**settings)
    assert (pruner.decider, pruner.first_test) == (decider, first_test)


def test_with_five_folds_a_bad_trial_goes_after_three():
    study = study_of(RacingPruner(instances=5), [good(5, seed) for seed in range(4)])
    assert run(study, good(5, seed=9) + 9.0) == 3
    assert run(study, good(5, seed=9) - 1.0) is None


def means_of(values):
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def test_running_means_are_turned_back_into_values_with_a_warning():
    """An equal trial whose first values are bad has bad means for long, but not bad values."""
    values = [good(20, seed) + 3.0 * good(20, 100) for seed in range(8)]
    equal = good(20, 50) + 3.0 * good(20, 100)
    equal[:3] += 2.0
    as_values, as_means = study_of(), study_of()
    for each in values:
        add(as_values, each)
        add(as_means, means_of(each))
    assert run(as_values, equal) is None
    with pytest.warns(RacerWarning, match="the trials report running means"):
        assert run(as_means, means_of(equal)) is None
    assert run(as_means, means_of(equal + 4.0)) == run(as_values, equal + 4.0)  # warned once


@pytest.mark.parametrize("trend", [0.0, 3.0])
def test_values_are_not_taken_for_running_means(recwarn, trend):
    study = study_of(RacingPruner(instances=30))
    for seed in range(8):
        add(study, good(20, seed) + trend * np.sort(good(20, 100)) + seed)
    assert run(study, good(20, 50)) is None
    assert not [warning for warning in recwarn if warning.category is RacerWarning]


@pytest.mark.thorough
def test_values_on_instances_of_unequal_scale_are_not_taken_for_running_means():
    rng = np.random.default_rng(1)
    found = {True: 0, False: 0}
    for _ in range(60):
        scales = rng.lognormal(0.0, 2.0, (6, 1))
        values = rng.normal(0.0, 2.0, 8) + scales * rng.normal(0.0, 1.0, (6, 8))
        counts = np.arange(1, 7)[:, None]
        found[False] += are_running_means(values)
        found[True] += are_running_means(np.cumsum(values, axis=0) / counts)
    assert found[False] == 0
    assert found[True] > 20


def study_of_ten_folds(pruner, seed, *, as_means):
    """Return how many folds were evaluated, and by how much the winner misses the best of 30."""
    rng = np.random.default_rng(seed)
    quality, folds = rng.normal(size=30), rng.normal(0.0, 2.0, 10)
    values = quality[:, None] + folds + rng.normal(size=(30, 10))
    n = 0

    def objective(trial):
        nonlocal n
        for fold in range(10):
            n += 1
            own = values[trial.number, : fold + 1]
            trial.report(own.mean() if as_means else own[-1], fold)
            if trial.should_prune():
                raise optuna.TrialPruned
        return values[trial.number].mean()

    study = optuna.create_study(pruner=pruner)
    study.optimize(objective, n_trials=30)
    return n, quality[study.best_trial.number] - quality.min()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:the trials report running means:racer.RacerWarning")
@pytest.mark.parametrize("as_means", [False, True])
def test_ten_folds_are_saved_and_the_winner_is_no_worse(as_means):
    """Also where the trials report running means, and end before these can be recognised."""
    pruned, complete = (
        [study_of_ten_folds(pruner(), seed, as_means=as_means) for seed in range(4)]
        for pruner in (lambda: RacingPruner(instances=10), optuna.pruners.NopPruner)
    )
    evaluated, regret = np.mean(pruned, axis=0)
    assert evaluated < 0.7 * 300
    assert regret <= np.mean(complete, axis=0)[1]


# -- learning curves


def curve(n, final, start=1.0, power=0.6):
    return final + start * np.arange(1, n + 1) ** -power


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_learning_curves_prune_nobody_and_are_said_once(recwarn, direction):
    """A slow trial that is the best in the end is behind at first, as it would be on any instance."""
    sign = 1.0 if direction == "minimize" else -1.0
    study = study_of(direction=direction)
    for final in (0.5, 0.4, 0.45, 0.6, 0.55):
        add(study, sign * curve(24, final, power=1.5))
    assert run(study, sign * curve(24, 0.1, start=3.0)) is None
    assert run(study, sign * curve(24, 0.9)) is None
    (said,) = [str(w.message) for w in recwarn if w.category is RacerWarning]
    assert "as on a learning curve, and so none is pruned" in said
    assert "instances=.." in said


@pytest.mark.filterwarnings("error:overflow")
@pytest.mark.parametrize("unit", [1.0, 8e307])
def test_two_curves_are_enough(unit):
    study = study_of(trials=[unit * curve(12, 0.2)])
    with pytest.warns(RacerWarning, match="as on a learning curve"):
        assert run(study, unit * curve(12, 0.9)) is None


def test_instances_in_order_of_difficulty_are_raced_on_once_their_number_is_given():
    study = study_of(RacingPruner(instances=31))
    for seed in range(3):
        add(study, np.arange(30.0) + good(seed=seed) / 9)
    assert run(study, np.arange(30.0) + good(seed=9) / 9 + 4.0) is not None


def test_a_trend_of_a_few_instances_by_chance_waits_for_more(recwarn):
    values = np.array([5.0, 4, 3, 2, 1, 9, 2, 7, 5, 8, 0, 3, 7, 1, 9, 4, 2, 8])
    study, rng = study_of(), np.random.default_rng(1)
    for _ in range(4):
        add(study, values + rng.normal(size=18) / 9)
    assert 6 <= run(study, values + 3.0 + rng.normal(size=18) / 9) < 18
    assert not [w for w in recwarn if w.category is RacerWarning]


@pytest.mark.parametrize(
    ("pruner", "n_told"), [(RacingPruner(), 1), (RacingPruner(instances=5), 0)]
)
def test_who_does_not_know_the_few_instances_is_told_to_give_their_number(pruner, n_told, recwarn):
    study = study_of(pruner, [good(5, seed) for seed in range(4)])
    run(study, good(5))
    run(study, good(5))
    told = [str(one.message) for one in recwarn]
    assert sum("give their number, RacingPruner(instances=..)" in one for one in told) == n_told
