"""race_study: whom it asks, evaluates and tells, and how it goes on after whatever stopped it."""

import functools
import math
import os
import signal
import sys
import warnings
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import optuna
import pytest
import sqlalchemy
from objectives import Counting
from optuna.samplers import RandomSampler, TPESampler
from optuna.storages import BaseStorage, InMemoryStorage
from optuna.trial import TrialState
from optuna_worker import Evaluate, suggest  # which workers can import
from optuna_worker import InOrder as ByNumber
from processes import python
from studies import InOrder, held

import racer
from racer.deciders import AnytimeRace, FRace
from racer.integrations.optuna import race_study, races
from racer.integrations.optuna.record import StudyRecord
from racer.run.signals import DeferredInterrupt
from racer.seeding import block_seed

N = 12
INSTANCES = [float(i) for i in range(N)]


evaluate = Evaluate(None)


def in_order(**settings):
    return optuna.create_study(sampler=InOrder(), **settings)


def raced(study, **changes):
    settings = {"suggest": suggest, "budget": 260, "trials": 5, "seed": 3, **changes}
    given = [settings.pop("evaluate", evaluate), settings.pop("instances", INSTANCES)]
    return race_study(study, *given, **settings)


@functools.cache
def ordinary():
    """Return a study that was raced as it is by default, to look at only, and its evidence."""
    study = in_order()
    return study, raced(study)


def evaluations(study):
    return sum(
        step != trial.user_attrs.get("racer:mean_step")
        for trial in study.trials
        for step in trial.intermediate_values
    )


@pytest.fixture
def pools(monkeypatch):
    """Return the candidates of each race that is held, race by race."""
    found = []
    run = races.Races._run_to_its_end

    def watched(self, number, elites, fresh):
        found.append([*elites, *fresh])
        return run(self, number, elites, fresh)

    monkeypatch.setattr(races.Races, "_run_to_its_end", watched)
    return found


# -- what it leaves in the study


def test_losers_are_pruned_with_their_mean_and_winners_complete_with_theirs():
    study, evidence = ordinary()
    states = [trial.state for trial in study.trials]
    assert set(states) == {TrialState.COMPLETE, TrialState.PRUNED}
    for trial in study.trials:
        mean_at = trial.user_attrs.get("racer:mean_step")
        values = [v for step, v in trial.intermediate_values.items() if step != mean_at]
        assert trial.value == pytest.approx(math.fsum(values) / len(values), rel=1e-12)
        assert (len(values) == N) == (trial.state == TrialState.COMPLETE)
        assert mean_at is None or mean_at == N + len(values)  # who came further stands further
    assert abs(study.trials[evidence.best].params["x"]) < 1.0
    assert evidence.instances[evidence.best] == N


def test_each_race_takes_the_instances_in_an_order_of_its_own():
    study, _ = ordinary()
    begun = {}
    for trial in study.trials:
        seen = [step for step in trial.intermediate_values if step < N]  # as they came
        begun.setdefault(trial.user_attrs["racer:race"], []).append(seen)
    orders = {max(seen, key=len)[0] for seen in begun.values()}
    assert len(orders) > 2
    for race in begun.values():
        longest = max(race, key=len)
        assert all(seen == longest[: len(seen)] for seen in race)


def test_the_best_complete_trials_are_the_elites_and_cannot_go(monkeypatch, pools):
    states = []
    race = races.race

    def watched(rules, state, *args, **kwargs):
        states.append(state)
        return race(rules, state, *args, **kwargs)

    monkeypatch.setattr(races, "race", watched)
    study = in_order()
    raced(study, decider=FRace(alpha=0.3))
    assert len(pools) == len(states) > 3
    trials = study.trials
    for number, (pool, state) in enumerate(zip(pools, states, strict=True)):
        before = [
            t
            for t in trials
            if t.user_attrs["racer:race"] < number and t.state == TrialState.COMPLETE
        ]
        best = [t.number for t in sorted(before, key=lambda t: t.value)[:3]]
        assert pool[: len(best)] == best
        assert all(trials[n].user_attrs["racer:race"] == number for n in pool[len(best) :])
        assert set(range(len(best))) <= set(state.alive.tolist())


def test_one_new_trial_per_race_against_the_elites():
    study = in_order()
    raced(study, trials=1)
    races = [trial.user_attrs["racer:race"] for trial in study.trials]
    assert races[:2] == [0, 0]
    assert races[2:] == list(range(1, len(races) - 1))


def test_values_are_what_evaluate_returned_with_the_seed_of_the_instance():
    study, _ = ordinary()
    for trial in study.trials:
        for block in set(trial.intermediate_values) - {trial.user_attrs.get("racer:mean_step")}:
            expected = evaluate(trial.params, INSTANCES[block], block_seed(3, block))
            assert trial.intermediate_values[block] == expected


@pytest.mark.parametrize("budget", [24, 60, 61, 100, 260])
def test_the_budget_is_never_exceeded_and_nearly_spent(budget):
    study = in_order()
    raced(study, budget=budget)
    assert budget - N < evaluations(study) <= budget or evaluations(study) == 24
    assert not any(trial.state == TrialState.RUNNING for trial in study.trials)


def test_elites_take_part_at_no_cost():
    study, counted = in_order(), Counting(evaluate)
    raced(study, evaluate=counted)
    cells = {(config["x"], instance) for config, instance, _ in counted.calls}
    assert len(counted.calls) == len(cells) == evaluations(study)


def test_maximizing_is_minimizing_the_opposite():
    (down, one), up = ordinary(), in_order(direction="maximize")
    other = raced(up, evaluate=lambda *args: -evaluate(*args))
    assert one.best == other.best
    assert [t.state for t in down.trials] == [t.state for t in up.trials]
    assert [-t.value for t in down.trials] == [t.value for t in up.trials]


def test_jobs_give_the_same_study():
    one, other = in_order(), in_order()
    raced(one, decider=AnytimeRace(), budget=150)
    raced(other, decider=AnytimeRace(), budget=150, n_jobs=2)
    assert held(one) == held(other)


# -- what fails


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
def test_failures_cost_their_cell_and_no_complete_trial_has_one():
    def sometimes(config, instance, seed):
        if config["x"] > 0.0 and instance in (2.0, 9.0):
            raise ValueError("no convergence")
        return evaluate(config, instance, seed)

    study = in_order()
    raced(study, evaluate=sometimes)
    failed = [t for t in study.trials if "racer:failed:2" in t.user_attrs]
    assert failed
    for trial in failed:
        assert trial.user_attrs["racer:failed:2"][0] == "failed"
        assert "no convergence" in trial.user_attrs["racer:failed:2"][1]
        assert math.isnan(trial.intermediate_values[2])
        assert trial.state == TrialState.PRUNED
        assert math.isfinite(trial.value)


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_failure_never_helps(seed):
    """Slow ones reach a cutoff on hard instances: without these, their means would be best."""

    def cut_off(config, instance, seed):
        cost = 1.0 + abs(config["x"]) + 10.0 * (instance >= 9)
        if cost > 12.0:
            raise ValueError("cutoff")
        return cost

    study = optuna.create_study(sampler=TPESampler(seed=seed))
    evidence = raced(study, evaluate=cut_off, trials=1, budget=300)
    assert not any(name.startswith("racer:failed") for name in study.best_trial.user_attrs)
    assert abs(study.best_params["x"]) < 1.0
    assert abs(study.trials[evidence.best].params["x"]) < 1.0


@pytest.mark.parametrize("trials", [1, 5])
def test_an_instance_on_which_all_fail_is_set_aside(pools, trials):
    def broken(config, instance, seed):
        if instance in (3.0, 7.0):
            raise ValueError("no such file")
        return evaluate(config, instance, seed)

    study = in_order()
    message = r"^instance [37] is set aside: all \d+ .*no such file.*none ends as COMPLETE"
    with pytest.warns(racer.RacerWarning, match=message) as told:
        evidence = raced(study, evaluate=broken, trials=trials)
    assert len(told) == 2
    assert {warning.filename for warning in told} == {__file__}
    assert {trial.state for trial in study.trials} == {TrialState.PRUNED}
    assert not {3, 7} & set(evidence.compared_on)
    assert abs(study.trials[evidence.best].params["x"]) < 1.0
    for before, after in pairwise(pools):  # there are elites all the same, the best so far
        known = [n for n in before if len(study.trials[n].intermediate_values) == N + 1]
        known.sort(key=lambda n: study.trials[n].value)
        assert after[: len(known[:3])] == known[:3]


def test_a_warning_of_evaluate_is_shown_as_often_as_without_races():
    def careful(config, instance, seed):
        warnings.warn("careful", UserWarning, stacklevel=1)
        return evaluate(config, instance, seed)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        raced(in_order(), evaluate=careful)
    assert len(told) == 1


def test_who_lacks_an_instance_on_which_another_succeeds_later_is_no_elite_any_more(pools):
    def first_ones_fail(config, instance, seed):
        if instance == 3.0 and config["x"] in early:
            raise ValueError("not yet")
        return evaluate(config, instance, seed)

    study = optuna.create_study()
    early = [0.0, 0.1]
    for x in (*early, *np.linspace(0.2, 0.6, 9)):
        study.enqueue_trial({"x": float(x)})
    with pytest.warns(racer.RacerWarning, match="instance 3 is set aside"):
        raced(study, evaluate=first_ones_fail, trials=2, decider="anytime", budget=7 * N)
    assert pools[0] == [0, 1]
    assert pools[1] == [*sorted([0, 1], key=lambda n: study.trials[n].value), 2, 3]
    states = [trial.state.name for trial in study.trials[:4]]
    assert states == ["PRUNED", "PRUNED", "COMPLETE", "COMPLETE"]
    assert not {0, 1} & set(pools[2])


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"trials": 1}, 6),
        ({"trials": 5}, 15),
        ({"trials": 5, "first_test": 5}, 25),
        ({"trials": 2, "instances": range(3)}, 6),
    ],
)
def test_when_all_fail_the_study_stops_and_says_why(settings, count):
    calls = []

    def broken(config, instance, seed):
        calls.append(instance)
        raise ValueError(f"no module {len(calls)}")

    study = in_order()
    message = rf"all {count} evaluations failed, the first with 'ValueError: no module 1\b"
    for _ in range(2):  # the same call says the same
        with pytest.raises(racer.ScoresError, match=message) as told:
            raced(study, evaluate=broken, **settings)
        assert "trial.report" not in str(told.value)
    assert len(calls) == count
    assert {t.state for t in study.trials} == {TrialState.FAIL}


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
def test_one_success_is_enough_to_go_on():
    def once(config, instance, seed):
        calls.append(instance)
        return 1.0 if len(calls) == 7 else math.nan

    calls = []
    raced(in_order(), evaluate=once, budget=100)
    assert len(calls) > 25


@pytest.mark.parametrize("answer", [None, "0.5", (1.0, 2.0)])
def test_what_is_no_number_stops_the_study_at_the_first_instance(answer):
    study, evaluate = in_order(), Counting(lambda *_: answer)
    with pytest.raises(racer.ScoresError, match=r"all 5 evaluations failed.*not a number"):
        raced(study, evaluate=evaluate)
    assert len(evaluate.calls) == 5
    assert {t.state for t in study.trials} == {TrialState.FAIL}


@pytest.mark.parametrize(
    ("suggest", "error", "message"),
    [
        (lambda trial: None, racer.SettingError, "suggest returned None for trial 0: return"),
        (lambda trial: 1 / 0, ZeroDivisionError, "by zero"),
    ],
)
def test_a_suggest_that_returns_nothing_or_raises_fails_its_trial(suggest, error, message):
    study = in_order()
    with pytest.raises(error, match=message):
        raced(study, suggest=suggest, evaluate=lambda *_: pytest.fail("evaluated"))
    assert [t.state for t in study.trials] == [TrialState.FAIL]


# -- going on


def test_a_larger_budget_goes_on_where_it_ended_and_the_same_one_changes_nothing():
    study = in_order()
    raced(study, budget=60)
    before = held(study)
    raced(study, budget=60, seed=None, evaluate=lambda *_: pytest.fail("evaluated again"))
    assert held(study) == before
    raced(study, budget=260)
    assert held(study)[: len(before)] == before
    assert len(held(study)) > 2 * len(before)
    assert 248 < evaluations(study) <= 260


@pytest.mark.thorough
def test_ctrl_c_comes_through_and_the_race_goes_on(capfd, monkeypatch, folder):
    monkeypatch.setattr("sys.excepthook", sys.excepthook)  # put back after

    def interrupted(config, instance, seed):
        if instance == 7.0:
            raise KeyboardInterrupt
        return evaluate(config, instance, seed)

    whole = in_order()
    study = in_order(storage=f"sqlite:///{folder}/study.db", study_name="solver")
    raced(whole, budget=36)
    with pytest.raises(racer.RaceInterrupted) as stop:
        raced(study, evaluate=interrupted, budget=36)
    known = stop.value.result
    assert (known.study, known.evaluations, known.seed) == (study, evaluations(study), 3)
    assert (
        f"after {known.evaluations} evaluations (seed 3); all of them are recorded in study "
        "'solver'; go on with the same call of race_study on it"
    ) in str(stop.value)
    assert capfd.readouterr().err == f"racer: {stop.value}\n"
    assert stop.value.__suppress_context__
    raced(study, budget=36)
    assert held(study) == held(whole)


@pytest.mark.thorough
def test_ctrl_c_interrupts_nothing_that_the_study_is_asked_or_told(folder, monkeypatch):
    """An interrupted statement would keep SQLite locked, and a trial running for ever."""
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    whole = in_order()
    study = in_order(storage=f"sqlite:///{folder}/study.db", study_name="solver")
    statements = []

    def interrupt(connection, cursor, statement, *_):
        statements.append(statement)
        if len(statements) in (100, 200, 300):
            os.kill(os.getpid(), signal.SIGINT)

    sqlalchemy.event.listen(study._storage._backend.engine, "after_cursor_execute", interrupt)
    raced(whole, budget=36)
    for _ in range(3):
        with pytest.raises(racer.RaceInterrupted):
            raced(study, budget=36)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    raced(study, budget=36)
    assert held(study) == held(whole)


def test_ctrl_c_that_is_held_back_comes_later_and_a_second_one_at_once():
    def interrupt(times, later):
        with DeferredInterrupt() as held_back:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            reached.append("held back")
            with later(held_back):
                reached.append("let through")

    for times, later, expected in [
        (1, DeferredInterrupt.let_through, ["held back"]),
        (1, nullcontext, ["held back", "let through"]),  # it comes at the end
        (2, nullcontext, []),
    ]:
        reached = []
        with pytest.raises(KeyboardInterrupt):
            interrupt(times, later)
        assert reached == expected
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    interrupt(0, DeferredInterrupt.let_through)


def test_an_error_does_not_swallow_ctrl_c():
    def fail():
        with DeferredInterrupt():
            signal.raise_signal(signal.SIGINT)
            raise ZeroDivisionError

    with pytest.raises(KeyboardInterrupt) as stop:
        fail()
    assert isinstance(stop.value.__context__, ZeroDivisionError)


def test_ctrl_c_in_a_script_is_one_line_without_a_traceback():
    """Nor does the plug-in load what such a script does not need."""
    code = """
import sys, optuna
from racer.integrations.optuna import race_study
assert not {"pandas", "sklearn", "matplotlib"} & {*sys.modules}
optuna.logging.set_verbosity(optuna.logging.ERROR)
def evaluate(config, instance, seed):
    raise KeyboardInterrupt
space = {"x": optuna.distributions.FloatDistribution(0, 1)}
race_study(optuna.create_study(), evaluate, range(5), suggest=space, budget=99, seed=1)
"""
    ran = python("-c", code, exits=130)
    assert "Traceback" not in ran.stderr
    (line,) = [line for line in ran.stderr.splitlines() if line.startswith("racer:")]
    assert "in memory and ends with this program; go on with the same call" in line


class Crash(BaseException):
    """The process is gone."""


WRITES = (
    "create_new_trial",
    "set_trial_param",
    "set_trial_intermediate_value",
    "set_trial_user_attr",
    "set_trial_state_values",
    "set_study_user_attr",
)


class Failing(InMemoryStorage):
    """Raises at the call of that number, before or after it is made.

    A crash is at a write, and all later ones are not made.
    """

    def __init__(self, error, at=-1, *, after=False):
        super().__init__()
        self.names, self.error, self.at, self.after, self.depth = [], error, at, after, 0

    def counted(self, made, *args, **kwargs):
        crashes = self.error is Crash
        if self.depth or (crashes and made.__name__ not in WRITES):  # a call of its own
            return made(self, *args, **kwargs)
        number = len(self.names)
        self.names.append(made.__name__)
        if (number == self.at and not self.after) or (crashes and 0 <= self.at < number):
            raise self.error
        self.depth += 1
        try:
            result = made(self, *args, **kwargs)
        finally:
            self.depth -= 1
        if number == self.at:
            raise self.error
        return result


def counted(made):
    return lambda storage, *args, **kwargs: storage.counted(made, *args, **kwargs)


for _name in BaseStorage.__abstractmethods__:
    setattr(Failing, _name, counted(getattr(InMemoryStorage, _name)))


def failed(race, sampler, error, at, *, after):
    """Return a study in which a race was stopped by that error, and nothing fails any more."""
    storage = Failing(error, after=after)
    study = optuna.create_study(storage=storage, sampler=sampler)
    storage.names, storage.at = [], at
    with pytest.raises(error) if at >= 0 else nullcontext():
        race(study)
    storage.at = -1
    return study


def fail_everywhere(race, sampler, error, *, after):
    """Fail at each call in turn, and go on; return a study without failures, and its calls."""
    whole = failed(race, sampler(), error, -1, after=after)
    calls = [*whole._storage.names]
    for at, name in enumerate(calls):
        # a read that fails after it is one that fails before it, a crash after one write before the next
        if (after and name not in WRITES) or (error is Crash and at % 2):
            continue
        study = failed(race, sampler(), error, at, after=after)
        race(study)
        assert held(study) == held(whole), at
        assert all(trial.state.is_finished() for trial in study.trials), at
    return whole, calls


both_sides = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@both_sides
def test_a_crash_at_any_write_changes_nothing(after):
    def failing(config, instance, seed):
        return math.nan if config["x"] > 3.0 else evaluate(config, instance, seed)

    def race(study):
        raced(study, evaluate=failing, instances=INSTANCES[:5], budget=24, trials=3)

    whole, writes = fail_everywhere(race, InOrder, Crash, after=after)
    assert len(writes) > 60
    assert any("racer:failed" in name for t in whole.trials for name in t.user_attrs)
    assert len({t.user_attrs["racer:race"] for t in whole.trials}) > 2
    assert {t.state for t in whole.trials} >= {TrialState.COMPLETE, TrialState.PRUNED}


@pytest.mark.thorough
@both_sides
def test_a_crash_at_any_write_changes_nothing_where_the_sampler_ends(after):
    def race(study):
        raced(study, instances=INSTANCES[:4], budget=60, trials=2)

    grid = {"x": [0.0, 1.0, 2.0, 3.0]}
    fail_everywhere(race, lambda: optuna.samplers.GridSampler(grid, seed=1), Crash, after=after)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@both_sides
def test_a_storage_that_fails_once_changes_nothing_and_leaves_no_trial_open(after):
    def race(study):
        raced(study, instances=INSTANCES[:3], budget=9, trials=2)

    whole, calls = fail_everywhere(race, ByNumber, OSError, after=after)
    assert {*WRITES} < {*calls}
    assert {trial.user_attrs["racer:race"] for trial in whole.trials} == {0, 1}


def test_what_a_storage_refuses_in_suggest_fails_its_trial():
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    with pytest.raises(ValueError, match="dynamic value space"):
        raced(study, suggest=lambda trial: trial.suggest_categorical("x", [trial.number, 9]))
    assert [t.state for t in study.trials] == [TrialState.RUNNING, TrialState.FAIL]


@pytest.mark.parametrize("theirs_too", [False, True])
def test_a_trial_that_was_asked_for_and_no_more_is_taken_up(monkeypatch, theirs_too):
    """A kill between the two leaves it: an enqueued one, say, that nobody would ever evaluate."""
    study = in_order()
    theirs = [study.ask()] if theirs_too else []
    for x in (4.0, 3.0, 0.0, 2.0):
        study.enqueue_trial({"x": x})
    first = len(theirs)
    with monkeypatch.context() as patched:
        asked = []
        ask = study.ask

        def die(*args):
            asked.append(ask(*args))
            if len(asked) == 3:
                raise Crash
            return asked[-1]

        patched.setattr(study, "ask", die)
        with pytest.raises(Crash):
            raced(study)
    ours = slice(first, first + 4)
    assert [t.state.name for t in study.trials[ours]] == ["RUNNING"] * 3 + ["WAITING"]
    if theirs_too:
        theirs.append(study.ask())  # it gets what is enqueued, before the race goes on
    evidence = raced(study)
    marked = [t.number for t in study.trials if t.user_attrs.get("racer:race") == 0]
    assert marked[:3] == [first, first + 1, first + 2]
    running = [t.number for t in study.trials if t.state == TrialState.RUNNING]
    assert running == [t.number for t in theirs]
    assert not set(marked) & set(running)
    assert evidence.probability[first + 2] > 0.0  # x = 0 was evaluated on all


def test_a_suggest_that_fails_when_it_goes_on_fails_its_trial():
    def race(study):
        raced(study, suggest=lambda trial: study.set_user_attr("x", 1))

    # the first trial is in its race, and no more
    study = failed(race, InOrder(), Crash, 5, after=True)

    def broken(trial):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        raced(study, suggest=broken)
    assert {t.state for t in study.trials} == {TrialState.FAIL}
    raced(study)
    assert study.best_value is not None


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.parametrize("trials", [1, 2])
@pytest.mark.parametrize("kind", ["grid", "brute force"])
def test_a_sampler_that_has_no_more_to_propose_ends_the_races(kind, trials):
    grid = [0.0, 1.0, 2.0, 3.0]
    sampler = (
        optuna.samplers.GridSampler({"x": grid}, seed=1)
        if kind == "grid"
        else optuna.samplers.BruteForceSampler(seed=1)
    )
    study = optuna.create_study(sampler=sampler)

    def evaluate(config, instance, seed):
        assert "stop" not in vars(study)  # what the sampler calls is not put into the user's study
        return (config["x"] - 2.0) ** 2 + instance

    def race(budget):
        space = {"x": optuna.distributions.FloatDistribution(0.0, 3.0, step=1.0)}
        settings = {"suggest": space, "budget": budget, "trials": trials}
        return raced(study, evaluate=evaluate, instances=grid, **settings)

    for budget in (60, 60, 50):
        evidence = race(budget)
        assert sorted(trial.params["x"] for trial in study.trials) == grid
        assert study.trials[evidence.best].params["x"] == 2.0
    study.sampler = RandomSampler(seed=1)
    race(60)
    assert len(study.trials) > 4


def test_an_error_of_the_sampler_after_a_trial_comes_through(monkeypatch):
    study = in_order()

    def fail(*args):
        raise RuntimeError("no disk")

    monkeypatch.setattr(study.sampler, "after_trial", fail)
    with pytest.raises(RuntimeError, match="no disk"):
        raced(study)


@pytest.mark.parametrize("has_told", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_another_process_that_takes_over_stops_the_first(has_told, fails):
    study, calls = in_order(), []

    def overtaken(config, instance, seed):
        calls.append(instance)
        if len(calls) == 20:
            study.set_user_attr("racer:driver", "another")
            if has_told:
                number = next(t.number for t in study.trials if t.params == config)
                study.tell(number, state=TrialState.PRUNED)
            if fails:
                raise ValueError
        return evaluate(config, instance, seed)

    with pytest.raises(racer.RaceStateError, match="another process has continued"):
        raced(study, evaluate=overtaken)
    assert len(calls) < 30
    if not has_told:
        assert len(raced(study).instances) > 5


def test_what_the_first_process_still_writes_is_taken_over():
    """It reports what it is evaluating, and tells who is out, when the second one has begun."""
    whole = in_order()
    raced(whole)
    study, calls = in_order(), []

    def second(config, instance, seed):
        calls.append(instance)
        value = evaluate(config, instance, seed)
        if len(calls) == 1:  # the first one, which is at the same cell
            trial = next(t for t in study.trials if t.params == config)
            handle = optuna.Trial(study, trial._trial_id)
            handle.report(value, int(instance))
        return value

    def first(config, instance, seed):
        if instance in seen and len(seen) > 3:
            raise KeyboardInterrupt
        seen.append(instance)
        return evaluate(config, instance, seed)

    seen = []
    with pytest.raises(racer.RaceInterrupted):
        raced(study, evaluate=first)
    assert any(t.state == TrialState.RUNNING and t.intermediate_values for t in study.trials)
    raced(study, evaluate=second)  # a warning would be an error
    assert held(study) == held(whole)


@pytest.mark.parametrize("done", ["told", "ended"])
def test_a_trial_that_the_first_process_has_told_or_ended_is_over(monkeypatch, done):
    study, whole = in_order(), in_order()
    raced(whole)
    tell, end = study.tell, StudyRecord.end

    def told_before(number, value=None, *, state=None):
        tell(number, value, state=state)
        return tell(number, value, state=state)

    def ended_before(record, number):
        before = record._trials[number]
        end(record, number)
        record._trials[number] = before  # what this process knew
        end(record, number)

    if done == "told":
        monkeypatch.setattr(study, "tell", told_before)
    else:
        monkeypatch.setattr(StudyRecord, "end", ended_before)
    raced(study)
    assert held(study) == held(whole)


@pytest.mark.parametrize("where", ["before", "after", "marked"])
@pytest.mark.parametrize("at", [1, 3, 9, 14])
@pytest.mark.parametrize("trials", [1, 3])
def test_a_second_process_may_run_to_its_end_while_the_first_asks(monkeypatch, trials, at, where):
    """Before its trial is created, after that, or when it is about to enter it into a race."""
    study, asked = in_order(), []
    settings = {"trials": trials, "budget": 90}
    name = "set_trial_user_attr" if where == "marked" else "create_new_trial"
    write = getattr(study._storage, name)

    def overtaken(*args, **kwargs):
        mark = name == "create_new_trial" or "racer:race" in args
        asked.extend([1] * mark)
        if len(asked) != at or not mark:
            return write(*args, **kwargs)
        asked.append(1)
        made = write(*args, **kwargs) if where == "after" else None
        other = optuna.load_study(study_name=study.study_name, storage=study._storage)
        other.sampler = InOrder()
        raced(other, **settings)
        return made if where == "after" else write(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(study._storage, name, overtaken)
        with pytest.raises(racer.RaceStateError, match="another process has continued"):
            raced(study, **settings)
    done = held(study)
    raced(study, **settings)
    assert held(study) == done
    assert evaluations(study) <= 90
    assert not [t for t in study.trials if t.state == TrialState.RUNNING]


def test_an_ask_that_failed_has_no_trial_that_could_be_taken_up(monkeypatch):
    study = in_order()
    with monkeypatch.context() as patched:

        def locked(*args, **kwargs):
            raise OSError("locked")

        patched.setattr(study._storage, "create_new_trial", locked)
        with pytest.raises(OSError, match="locked"):
            raced(study)
    theirs = study.ask()
    raced(study)
    assert study.trials[theirs.number].state == TrialState.RUNNING


def test_a_sampler_may_end_the_races_while_it_proposes():
    class Ends(InOrder):
        def before_trial(self, study, trial):
            if trial.number == 6:
                study.stop()

    study = optuna.create_study(sampler=Ends())
    raced(study, trials=2)
    assert len(study.trials) == 8


def test_a_trial_that_was_told_from_elsewhere_is_an_error():
    study = failed(raced, InOrder(), Crash, 40, after=True)
    for trial in study.get_trials(states=[TrialState.RUNNING]):
        study.tell(trial.number, state=TrialState.PRUNED)
    with pytest.raises(racer.RaceStateError, match="has ended as PRUNED, but this race would go"):
        raced(study)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"decider": "anytime"}, r"raced with another decider \(TRace\(.*, not AnytimeRace\("),
        ({"elites": 0}, "raced with another elites"),
        ({"seed": 4}, "raced with another seed"),
        ({"instances": INSTANCES[::-1]}, r"other instances \(12 too, but others or in another ord"),
        ({"instances": INSTANCES[:5]}, r"other instances \(12, not 5\): give"),
    ],
)
def test_other_settings_are_refused(change, named):
    study = in_order()
    raced(study, budget=60)
    before = held(study)
    with pytest.raises(racer.SettingError, match=named):
        raced(study, **change)
    assert held(study) == before


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"budget": 23}, racer.BudgetError),
        ({"budget": racer.Budget(evaluations=200, seconds=9.0)}, racer.BudgetError),
        ({"suggest": {"x": (0, 1)}}, racer.SettingError),
        ({"suggest": lambda: 1}, racer.SettingError),
        ({"evaluate": lambda config: 0.0}, racer.ObjectiveError),
        ({"instances": None}, racer.CandidateError),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_written(change, error):
    study = in_order()
    with pytest.raises(error):
        raced(study, **change)
    assert not study.trials
    assert not study.user_attrs


# --- programs

PROGRAM = [sys.executable, "-S", "-c", "import sys; print((float(sys.argv[1]) - 2.0) ** 2)"]
SPACE = {"x": optuna.distributions.FloatDistribution(-5.0, 5.0)}


@pytest.mark.parametrize("asked", [suggest, SPACE], ids=["function", "distributions"])
def test_a_program_can_be_raced(asked):
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    command = racer.Command([*PROGRAM, "{x}", "{instance}"])
    evidence = race_study(study, command, range(3), suggest=asked, budget=18, seed=1)
    values = [(t.params["x"] - 2.0) ** 2 for t in study.trials if t.state == TrialState.COMPLETE]
    assert study.best_value == pytest.approx(min(values))
    assert evidence.best == study.best_trial.number


@pytest.mark.parametrize("command", ["{y}", "--y={y}"])
def test_a_program_with_a_place_for_what_nobody_suggests_is_refused(command):
    study = optuna.create_study()
    with pytest.raises(racer.ObjectiveError, match=r"the command has \{y\}, which no candidate"):
        race_study(
            study, racer.Command([*PROGRAM, "{x}", command]), range(3), suggest=SPACE, budget=18
        )
    assert not study.trials


@pytest.mark.parametrize(
    ("argument", "warned"),
    [("--y={y}", r"has \{y\}, which no candidate has.*so far"), (None, "has no place for 'z'")],
)
def test_what_looks_misspelt_in_the_first_trials_is_warned_of(argument, warned):
    def also(trial):
        return {**suggest(trial), "z": 1} if argument is None else suggest(trial)

    command = racer.Command([*PROGRAM, "{x}", "{instance}", *([argument] if argument else [])])
    study = optuna.create_study()
    with pytest.warns(racer.RacerWarning, match=warned) as caught:
        race_study(study, command, range(3), suggest=also, budget=6, trials=2)
    assert len(caught) == 1
    race_study(study, command, range(3), suggest=also, budget=9, trials=2)  # not said again
