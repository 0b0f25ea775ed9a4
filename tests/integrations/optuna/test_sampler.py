"""RacingSampler: what it proposes from which trials, and in which order it is asked."""

import copy
import math
import pickle
import re
import threading

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState, create_trial
from threadpoolctl import ThreadpoolController

from racer.errors import RacerWarning, SettingError
from racer.integrations.optuna import RacingPruner, RacingSampler, finish, race_study

X = FloatDistribution(-5.0, 5.0)


def sphere(trial):
    return sum(trial.suggest_float(name, -5.0, 5.0) ** 2 for name in "xyz")


def by_instance(trial):
    """Three instances of different levels; every third trial is pruned, every fifth fails."""
    base = sphere(trial)
    if trial.number % 5 == 4:
        raise ZeroDivisionError
    for instance in range(3):
        trial.report(base * (1 + instance) + 10.0 * instance, instance)
        if trial.number % 3 == 2 and instance == 1:
            finish(trial)
    return base


def branching(trial):
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    cost = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    if kind == "a":
        return cost + abs(trial.suggest_float("only a", -1.0, 1.0, step=0.25))
    if kind == "b":
        n = trial.suggest_int("n", 1, 3)
        return cost + sum(trial.suggest_float(f"u{i}", 0.0, 1.0) for i in range(n)) / n + 1.0
    return cost + 2.0


OBJECTIVES = [sphere, by_instance, branching]


def run(sampler, objective, n_trials, study=None, **settings):
    if study is None:
        settings = {"pruner": optuna.pruners.NopPruner(), **settings}
        study = optuna.create_study(sampler=sampler, **settings)
    study.sampler = sampler
    study.optimize(objective, n_trials=n_trials, catch=(ZeroDivisionError,))
    return study


def params(study):
    return [trial.params for trial in study.trials]


def with_trial(study, x, value, state=TrialState.COMPLETE, by_instance=None):
    """Add a trial at this x, perhaps with values on instances."""
    study.add_trial(
        create_trial(
            state=state,
            value=value if state == TrialState.COMPLETE else None,
            params={"x": x},
            distributions={"x": X},
            intermediate_values=by_instance,
        )
    )


def known(points, values, direction="minimize", states=None, seed=1, **settings):
    """A study with complete trials at these x, and its sampler, which has elites already."""
    sampler = RacingSampler(seed=seed, n_startup_trials=2, **settings)
    study = optuna.create_study(sampler=sampler, direction=direction)
    states = states or [TrialState.COMPLETE] * len(points)
    for x, value, state in zip(points, values, states, strict=True):
        with_trial(study, x, value, state)
    return study


def proposals(study, n=200):
    """What it would propose as the trials after this one, each from the same history."""
    found = []
    for _ in range(n):
        trial = study.ask({"x": X})
        found.append(trial.params["x"])
    return np.array(found)


# --- settings and studies that are refused


def test_several_objectives_are_refused_with_a_way_out():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=RacingSampler())
    with pytest.raises(SettingError, match=r"one objective.*has 2: use NSGAIISampler"):
        study.ask({"x": X})


# --- the design


def test_the_first_trials_are_a_latin_hypercube():
    study = run(RacingSampler(seed=3, n_startup_trials=10), sphere, 10)
    for name in "xyz":
        cells = [int(p[name] + 5.0) for p in params(study)]
        assert sorted(cells) == list(range(10))
    assert len({tuple(sorted(range(10), key=lambda i: params(study)[i][n])) for n in "xyz"}) == 3


def test_the_design_holds_with_trials_that_run_side_by_side_and_asked_in_one_go():
    study = optuna.create_study(sampler=RacingSampler(seed=3, n_startup_trials=16))
    trials = [study.ask() for _ in range(16)]
    drawn = [trial.suggest_float("x", 0.0, 16.0) for trial in reversed(trials)]
    assert sorted(map(int, drawn)) == list(range(16))


def test_categories_are_spread_evenly_and_keep_their_types():
    study = optuna.create_study(sampler=RacingSampler(seed=0, n_startup_trials=12))
    choices = (None, True, "True", 1.5)
    drawn = [study.ask().suggest_categorical("c", choices) for _ in range(12)]
    assert all(sum(d is c or (d == c and type(d) is type(c)) for d in drawn) == 3 for c in choices)


def test_startup_lasts_until_so_many_trials_have_a_value():
    sampler = RacingSampler(seed=0, n_startup_trials=4)
    study = optuna.create_study(sampler=sampler)
    seen = []
    for state in [TrialState.FAIL, TrialState.PRUNED] * 3 + [TrialState.COMPLETE] * 5:
        trial = study.ask()
        seen.append(
            bool(trial.relative_params or sampler.infer_relative_search_space(study, trial))
        )
        trial.suggest_float("x", 0.0, 1.0)
        study.tell(trial, 1.0 if state == TrialState.COMPLETE else None, state)
    assert seen == [False] * 10 + [True]


# --- seeds


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_same_seed_gives_the_same_trials_and_another_or_none_gives_others(objective):
    one, same, other, drawn = (
        params(run(RacingSampler(seed=s, n_startup_trials=5), objective, 40))
        for s in (7, 7, 8, None)
    )
    assert one == same
    assert all(a != b for a, b in zip(one, other, strict=True))
    assert one != drawn


def opened(kind, folder):
    """Return a storage in a file, as a process that has just begun sees it."""
    if kind == "sqlite":
        return optuna.storages.RDBStorage(f"sqlite:///{folder}/study.db")
    return JournalStorage(JournalFileBackend(f"{folder}/study.log"))


@pytest.mark.parametrize(
    ("objective", "storage", "trials"),
    [(sphere, "journal", 17), (by_instance, "sqlite", 5), (branching, "journal", 17)],
)
def test_a_new_sampler_goes_on_with_a_study_as_the_old_one_would(
    objective, storage, trials, folder
):
    whole = run(RacingSampler(seed=7, n_startup_trials=5), objective, 10 + trials)
    given = {"study_name": "solver", "pruner": optuna.pruners.NopPruner()}
    sampler = RacingSampler(seed=7, n_startup_trials=5)
    first = run(sampler, objective, 10, storage=opened(storage, folder), **given)
    second = optuna.load_study(storage=opened(storage, folder), **given)
    run(RacingSampler(seed=7, n_startup_trials=5), objective, trials, second)
    assert params(second) == params(whole)
    for study in (first, second) if storage == "sqlite" else ():
        study._storage.remove_session()
        study._storage._backend.engine.dispose()


@pytest.mark.parametrize("n_before", [0, 30])
def test_reseed_rng_changes_what_follows(n_before):
    study, other = (run(RacingSampler(seed=7), sphere, n_before) for _ in range(2))
    other.sampler.reseed_rng()
    assert params(study) == params(other)
    run(study.sampler, sphere, 3, study)
    run(other.sampler, sphere, 3, other)
    later = zip(params(study)[n_before:], params(other)[n_before:], strict=True)
    if n_before:
        assert all(a != b for a, b in later)
    else:  # the Latin hypercube stays one
        assert all(a == b for a, b in later)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
@pytest.mark.parametrize("n_before", [0, 3, 25])
def test_a_copy_goes_on_as_the_original(copied, n_before):
    study = run(RacingSampler(seed=7), by_instance, n_before)
    again = run(RacingSampler(seed=7), by_instance, n_before)
    run(study.sampler, by_instance, 5, study)
    run(copied(again.sampler), by_instance, 5, again)
    assert params(study) == params(again)
    assert "n_startup_trials=10, by_instance=True, seed=7" in repr(copied(again.sampler))


def test_one_sampler_can_serve_two_studies_in_turn():
    sampler = RacingSampler(seed=7, n_startup_trials=5)
    one, two = (optuna.create_study(sampler=sampler) for _ in range(2))
    for _ in range(20):
        run(sampler, sphere, 1, one)
        run(sampler, branching, 1, two)
    assert params(one) == params(run(RacingSampler(seed=7, n_startup_trials=5), sphere, 20))
    assert params(two) == params(run(RacingSampler(seed=7, n_startup_trials=5), branching, 20))


# --- around the elites


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_proposals_are_around_the_best(direction):
    points = np.linspace(-5.0, 5.0, 41)
    values = (points - 3.0) ** 2
    study = known(points, values if direction == "minimize" else -values, direction)
    found = proposals(study)
    assert abs(np.median(found) - 3.0) < 0.1
    assert np.quantile(np.abs(found - 3.0), 0.8) < 1.0
    assert len(np.unique(found)) == len(found)


def test_the_neighbourhood_narrows_as_trials_come_in():
    spreads = []
    for n in (4, 40, 400):
        points = np.linspace(-5.0, 5.0, n)
        study = known(points, (points - 3.1) ** 2)
        study.ask({"x": X})
        spreads.append(study.sampler._last.model.spread)
    assert spreads == pytest.approx([1.0 / 4, 1.0 / 40, 1.0 / 400], rel=0.03)


def test_who_was_lucky_on_few_instances_is_not_followed():
    study, rng = known([], []), np.random.default_rng(1)
    for x in np.linspace(-5.0, 5.0, 61):
        values = 0.2 * (x - 3.0) ** 2 + rng.normal(0.0, 1.0, 10)
        with_trial(study, x, values.mean(), by_instance=dict(enumerate(values)))
    lucky = -3.0 + 0.01  # the best of all, far from the best place, on one instance
    with_trial(study, lucky, -6.0, by_instance={0: -6.0})
    assert study.best_params["x"] == lucky
    found = proposals(study)
    assert np.mean(np.abs(found - 3.0) < 1.5) > 0.7
    assert np.mean(np.abs(found + 3.0) < 1.0) < 0.1


def test_steps_that_are_no_instances_are_left_alone_if_told_so():
    found = []
    for by_instance in (True, False):
        study = known([], [], by_instance=by_instance)
        for x in np.linspace(-5.0, 5.0, 41):  # the curves say -3, the values 3
            with_trial(
                study, x, (x - 3.0) ** 2, by_instance=dict.fromkeys(range(5), (x + 3.0) ** 2)
            )
        found.append(np.median(proposals(study)))
    assert found == pytest.approx([-3.0, 3.0], abs=0.2)


def test_where_trials_fail_nobody_goes_but_one_failure_does_little_harm():
    points = np.linspace(-5.0, 5.0, 81)
    failed = [TrialState.FAIL if x > 3.0 else TrialState.COMPLETE for x in points]
    found = proposals(known(points, (points - 3.2) ** 2, states=failed))
    assert np.mean(found > 3.5) < 0.1
    assert 2.0 < np.median(found) < 3.3
    once = [TrialState.FAIL if abs(x - 3.0) < 1e-6 else TrialState.COMPLETE for x in points]
    assert once.count(TrialState.FAIL) == 1
    assert abs(np.median(proposals(known(points, (points - 3.2) ** 2, states=once))) - 3.2) < 0.3


def test_infinite_values_and_nothing_but_infinite_values():
    points = np.linspace(-5.0, 5.0, 41)
    values = (points - 3.0) ** 2
    values[:10] = math.inf
    assert abs(np.median(proposals(known(points, values))) - 3.0) < 0.2
    values[30:34] = -math.inf  # from 2.5 to 3.25
    assert abs(np.median(proposals(known(points, values))) - 2.9) < 0.5
    for only in (math.inf, -math.inf, 1e308, 0.0):
        found = proposals(known(points[:40], [only] * 40), 20)
        assert np.isfinite(found).all()


def test_nothing_is_proposed_twice_while_there_is_anything_new():
    def objective(trial):
        return trial.suggest_int("i", 0, 4) + trial.suggest_categorical("c", [0, 1, 2, 3])

    study = run(RacingSampler(seed=1, n_startup_trials=4), objective, 24)
    late = [tuple(p.items()) for p in params(study)[4:]]
    assert len(set(late)) >= 14  # of the 16 to 20 that the design left over
    assert len(set(map(str, params(run(study.sampler, objective, 20, study))))) == 20
    study = known([0.0] * 6, [1.0] * 6)
    assert len({study.ask({"x": X}).params["x"] for _ in range(50)}) == 50  # none of them ends


# --- spaces that the objective defines


def test_what_exists_in_a_branch_is_sampled_around_that_of_the_elites():
    study = run(RacingSampler(seed=5), branching, 120)
    assert study.best_value < 0.01
    late = params(study)[60:]
    assert np.mean([p["kind"] == "a" for p in late]) > 0.6
    assert np.mean([p.get("only a") == 0.0 for p in late]) > 0.5


def test_a_parameter_that_is_new_or_has_a_new_range_is_drawn_around_the_elites_that_have_it():
    sampler = RacingSampler(seed=5, n_startup_trials=5)
    study = run(sampler, lambda t: (t.suggest_float("x", 0.0, 10.0) - 4.0) ** 2, 60)
    trial = study.ask()
    draw = sampler.sample_independent
    near = [draw(study, study.ask(), "x", FloatDistribution(0.0, 5.0)) for _ in range(50)]
    assert abs(np.median(near) - 4.0) < 0.2
    far = [draw(study, study.ask(), "x", FloatDistribution(20.0, 30.0)) for _ in range(50)]
    new = [draw(study, study.ask(), "new", IntDistribution(1, 100, log=True)) for _ in range(50)]
    assert all(20.0 <= v <= 30.0 for v in far)
    assert np.ptp(far) > 8.0
    assert max(new) > 50 > 2 >= min(new)
    assert draw(study, trial, "c", CategoricalDistribution([None])) is None


# --- call order, and trials that end badly


# --- several threads


def test_a_choice_that_a_running_trial_has_is_not_untried():
    study = optuna.create_study(sampler=RacingSampler(seed=1, n_startup_trials=4))
    space = {"kind": CategoricalDistribution(tuple(range(30))), "x": FloatDistribution(0.0, 1.0)}
    for _ in range(12):
        study.tell(study.ask(space), 1.0)
    kinds = [study.ask(space).params["kind"] for _ in range(250)]  # none of them ends
    first = {trial.params["kind"] for trial in study.trials[:12]}
    assert len({k for k in kinds if k not in first}) == 30 - len(first)


@pytest.mark.usefixtures("two_blas_threads")
def test_threads_leave_blas_its_threads():
    libraries = ThreadpoolController().select(user_api="blas")
    before = [library.get_num_threads() for library in libraries.lib_controllers]
    study = run(RacingSampler(seed=1), sphere, 20)
    threads = [threading.Thread(target=study.optimize, args=(sphere, 15)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [library.get_num_threads() for library in libraries.lib_controllers] == before
    assert len(study.trials) == 65


# --- with the races


def test_races_of_a_study_ask_it_for_several_trials_at_once():
    found = []
    for _ in range(2):
        study = optuna.create_study(  # whose pruner, Optuna's own, the races do not ask
            sampler=RacingSampler(seed=1, n_startup_trials=5)
        )
        race_study(
            study,
            lambda config, instance, _: (config["x"] - 3.0) ** 2 + 100.0 * instance,
            range(6),
            suggest={"x": X},
            budget=200,
            seed=1,
        )
        found.append(params(study))
    assert found[0] == found[1]
    assert abs(study.best_params["x"] - 3.0) < 0.3
    assert len({p["x"] for p in found[0]}) == len(found[0])


def by_steps(trial):
    for step in range(3):
        trial.report(trial.suggest_float("x", 0, 1) + step, step=step)
        if trial.number == 7 or trial.should_prune():
            raise optuna.TrialPruned
    return 0.0


@pytest.mark.parametrize(
    ("pruner", "by_instance", "warnings"),
    [
        (None, True, 1),
        (optuna.pruners.SuccessiveHalvingPruner(), True, 1),
        (RacingPruner(instances=5), True, 0),
        (optuna.pruners.NopPruner(), True, 0),
        (None, False, 0),
    ],
)
def test_a_pruner_that_takes_easy_instances_for_good_trials_is_warned_of_once(
    pruner, by_instance, warnings, recwarn
):
    sampler = RacingSampler(seed=1, by_instance=by_instance)
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    study.optimize(by_steps, n_trials=12)
    said = [str(one.message) for one in recwarn if one.category is RacerWarning]
    assert len(said) == warnings
    advice = re.compile(r"was pruned by .*Pruner, which .*=RacingPruner\(instances=..\)")
    assert all(advice.search(one) for one in said)
    assert study.trials[7].state == TrialState.PRUNED
