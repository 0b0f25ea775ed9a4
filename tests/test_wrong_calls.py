"""Calls that cannot be meant: each is refused before anything is evaluated, and names the argument."""

from __future__ import annotations

import pickle
import re
import sys

import pytest
from wrong_calls import faults

import racer
from racer import Integer, Param, Real, stats
from racer.deciders import FRace
from racer.testing import check_decider


def never(config, instance, seed):
    pytest.fail("evaluated")


def race(**settings):
    return racer.race([1, 2, 3], never, **{"budget": 30, "seed": 1, **settings})


def test_errors_are_the_same_after_pickling():
    with pytest.raises(racer.SpaceFileError) as unread:
        racer.Space.from_irace("x '' r (1, oops)")
    with pytest.raises(racer.SettingError) as circular:
        racer.Space({"a": Integer(1, Param("b")), "b": Integer(1, Param("a"))})
    interrupted = racer.RaceInterrupted(racer.Race([1, 2], budget=10, seed=1).result(), code=143)
    errors = [unread.value, circular.value, interrupted, racer.MissingExtraError("x is missing")]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.args) == (type(error), str(error), error.args)
        assert vars(again).keys() == vars(error).keys()
    assert pickle.loads(pickle.dumps(unread.value)).column == 12
    assert pickle.loads(pickle.dumps(interrupted)).code == 143


class Misspelt(FRace):
    each_tests = "growing"


class Unknown(FRace):
    tests = "growign"


CALLS = {
    "utility": (lambda: racer.Runtime(5, utility=lambda: 1), r"utility=.* raises TypeError"),
    "rising": (lambda: racer.Runtime(5, utility=lambda t: t), "a function that decreases"),
    "timeout": (
        lambda: race(goal=racer.Runtime(1.0), limits=racer.Limits(0.05)),
        "timeout=0.05 ends",
    ),
    "real step": (lambda: racer.Space({"x": Real(0, 1, step=5)}), "x: .*step=5.0 has one value"),
    "step": (lambda: racer.Space({"x": Integer(0, 3, step=5)}), "x: .*step=5 has one value"),
    "and": (lambda: Param("x") and Param("y"), r"join conditions with & \| ~"),
    "not": (lambda: not Param("x"), r"join conditions with & \| ~"),
    "each_tests": (lambda: race(decider=Misspelt()), "did you mean 'each_test'"),
    "tests": (lambda: race(decider=Unknown()), "Unknown.tests='growign'"),
    "a number": (lambda: race(goal=2), r"of run times racer.Runtime\(2\)"),
    "a name": (lambda: race(goal="error"), r'of a metric, \{\'error\': "min"\} or'),
    "no directions": (
        lambda: race(goal=racer.Pareto("a", "b")),
        r'has no directions: give \{\'a\': "min", \'b\': "min"\}',
    ),
    "held out of a race": (
        lambda: racer.race([1, 2], never, racer.Instances([1], held_out=[2]), budget=9),
        r"Instances\(held_out=..\) is for a tuning",
    ),
    "survivors of a tuning": (
        lambda: racer.tune(
            racer.Space({"x": Real(0, 1)}), never, budget=60, decider=FRace(min_survivors=2)
        ),
        r"give search=racer.Search\(elites=3\)",
    ),
    "a space": (
        lambda: racer.race(racer.Space({"x": Real(0, 1)}), never, budget=9),
        "racer.tune[(]space",
    ),
    "no name": (lambda: racer.Pareto("", "a"), "Pareto"),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_and_names_the_argument(name):
    call, says = CALLS[name]
    with pytest.raises(racer.RacerError, match=says):
        call()


@pytest.mark.parametrize("decider", [Misspelt(), Unknown()])
def test_check_decider_sees_it_as_well(decider):
    with pytest.raises(AssertionError, match="tests"):
        check_decider(decider)


def test_scores_may_be_given_in_place_of_a_table_of_wins():
    scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    told = stats.bradley_terry(scores, seed=3)
    assert told.names == ("0", "1", "2")
    assert (told.strengths == stats.bradley_terry(stats.win_table(scores), seed=3).strengths).all()


def called(call, *args):
    return lambda **given: call(*args, **given)


RACE, TUNE = called(racer.race, [1, 2], never), called(racer.tune, {}, never)
COMPARE = called(racer.compare, [[1, 2]] * 6)
LARGER = '; give goal="max", where smaller is not better'
ITS_METRICS = '; give goal, of several metrics {"error": "min", "accuracy": "max"}'
COMBINED = '; give goal, such as racer.Within({"error": "min", "dollars": "min"}, error=0.01)'
TIME = "; give budget=racer.Budget(wall=60), or limits=racer.Limits(timeout=60) for each evaluation"
# Calls, what they are given, and the end of the message.
MISTAKES = [
    (RACE, "bugdet", "race() got an unexpected keyword argument 'bugdet'; did you mean 'budget'?"),
    (TUNE, "maximise", LARGER),
    (called(racer.resume, "a", max), "n_job", "; did you mean 'n_jobs'?"),
    (called(racer.ablation, "a", max), "block", "; did you mean 'blocks'?"),
    (COMPARE, "methode", "; did you mean 'method'?"),
    (called(racer.Space, {}), "conditons", "Space.__init__() ..'; did you mean 'conditions'?"),
    (racer.Budget, "evaluation", "; did you mean 'evaluations'?"),
    (called(racer.Real, 0, 1), "digit", "; did you mean 'digits'?"),
    (called(racer.Race, [1, 2]), "bugdet", "; did you mean 'budget'?"),
    (called(racer.Race, [1, 2]), "n_trials", "; give budget"),
    *((call, name, "; give budget") for call in (RACE, TUNE) for name in ("n_trials", "trials")),
    *((call, name, TIME) for call in (RACE, TUNE) for name in ("max_time", "time_limit")),
    *((call, "direction", LARGER) for call in (RACE, TUNE, COMPARE)),
    *((call, "higher_is_better", LARGER) for call in (RACE, TUNE, COMPARE)),
    *((call, "random_state", "; give seed") for call in (RACE, TUNE, COMPARE)),
    (TUNE, "max_evals", "; give budget"),
    (COMPARE, "order", LARGER),
    (RACE, "order", "; give instances=racer.Instances(items, order=..)"),
    (RACE, "verbose", "; give progress=True"),
    (TUNE, "workers", "; give n_jobs"),
    *((RACE, name, "; give n_jobs") for name in ("client", "executor")),
    (RACE, "par10", "; give goal=racer.Runtime(60)"),
    (RACE, "space", "; give candidates; racer.tune takes a space"),
    (TUNE, "candidates", "; give space; racer.race takes candidates"),
    (TUNE, "memory", "; give limits=racer.Limits(timeout=60, memory=2**30, retries=1)"),
    (COMPARE, "items", "; give data_set"),
    *((TUNE, name, "; give budget") for name in ("max_iter", "evaluations", "num_samples")),
    *((TUNE, "walltime_limit", TIME), (TUNE, "warm_start", "; give initial")),
    (RACE, "repeats", "; give instances, one for each repeat"),
    (RACE, "parallel", "; give n_jobs"),
    (RACE, "alpha", "; give decider, such as racer.deciders.FRace(alpha=.05)"),
    (COMPARE, "lower_is_better", '; give goal="min"'),
    (COMPARE, "confidence", "; give alpha, the probability of an error"),
    (COMPARE, "test", "; give method"),
    *((call, "maximize", LARGER) for call in (RACE, TUNE, COMPARE)),
    *((call, "metrics", ITS_METRICS) for call in (RACE, TUNE)),
    *((call, "objective", COMBINED) for call in (RACE, TUNE)),
    *((call, "runtime", "; give goal=racer.Runtime(60)") for call in (RACE, TUNE)),
    *(
        (call, name, f"; give instances=racer.Instances(items, {name}=..)")
        for name in ("block_size", "deterministic", "generalize", "groups", "held_out")
        for call in (RACE, TUNE)
    ),
    (RACE, "instance_order", "; give instances=racer.Instances(items, order=..)"),
    (TUNE, "test_instances", "; give instances=racer.Instances(items, held_out=..)"),
    *(
        (RACE, name, f"; give decider, such as racer.deciders.FRace({name}=..)")
        for name in ("first_test", "each_test", "min_survivors")
    ),
    (RACE, "prices", "; give budget=racer.Budget(spend=20, prices=..)"),
    (RACE, "deadline", "; give budget=racer.Budget(wall=3600)"),
    (TUNE, "elites", "; give search=racer.Search(elites=3)"),
    (RACE, "jobs", "; give n_jobs"),
    (COMPARE, "max_time", "argument 'max_time'"),  # it has none, and no word that looks like it
]


@pytest.mark.parametrize(("call", "name", "says"), MISTAKES)
def test_a_keyword_of_others_or_a_misspelt_one_names_what_is_meant(call, name, says):
    text = ".*".join(map(re.escape, says.split("..'")))
    with pytest.raises(TypeError, match=f"{text}$"):
        call(**{name: 1})


@pytest.mark.parametrize(
    ("name", "of_a_race", "of_a_comparison"),
    [
        ("best_params", "; look at .best", "; look at .ranking"),
        ("best_value", "; look at .mean(result.best_index)", ""),
        ("tabel", "; did you mean 'table'?", ""),
        ("ranks", "", "; look at .ranking"),
        ("x", "; look at .best", "; look at .ranking"),
        ("_tabel", "", ""),
    ],
)
def test_an_attribute_of_results_elsewhere_names_ours(name, of_a_race, of_a_comparison):
    result = racer.Race([1, 2], budget=10, seed=1).result()
    for item, more in ((result, of_a_race), (COMPARE(goal="min"), of_a_comparison)):
        with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}{more}") + "$"):
            getattr(item, name)


def test_what_a_property_of_a_result_raises_is_not_hidden(monkeypatch):
    monkeypatch.setattr(racer.RaceResult, "best", property(lambda result: result.rules.nothing))
    with pytest.raises(AttributeError, match="'Rules' object has no attribute 'nothing'"):
        racer.Race([1, 2], budget=10, seed=1).result().best  # noqa: B018


def test_directions_and_run_times_are_taken_in_their_other_forms():
    def rules(goal):
        return racer.Race([1, 2], budget=20, seed=1, goal=goal).rules

    long = {"a": "maximize", "b": {"direction": "minimize"}}
    short = rules(racer.Constrained({"a": "max", "b": "min"}))
    assert rules(racer.Constrained(long)) == short
    assert short.metrics["a"] == racer.Metric("maximize")
    assert (short.objective, short.maximize) == ("a", True)
    assert (rules("maximize"), rules("minimize")) == (rules("max"), rules("min"))
    timed = rules(racer.Runtime(2))
    space = racer.Space({"x": Real(0, 1)})
    tuned = racer.Tuner(space, budget=60, seed=1, goal=racer.Runtime(2)).rules
    assert tuned.runtime == timed.runtime
    assert tuned.decider == timed.decider  # the one of times that are capped


def test_two_numbers_are_bounds_of_a_parameter():
    with pytest.raises(racer.SettingError, match=r"did you mean Integer\(0, 1\) or Real\(0, 1\)\?"):
        racer.Space({"x": (0, 1)})
    with pytest.raises(racer.SettingError, match=r"did you mean Real\(0\.5, 1\)\?"):
        racer.Space({"x": (0.5, 1)})


@pytest.mark.skipif(sys.platform == "win32", reason="programs run on Linux and macOS only")
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.thorough)])
def test_wrong_calls_of_everything_public_are_refused(tmp_path, step):
    found = [*faults(tmp_path, step)]
    assert len(found) > 2_500 / step
    assert [fault for fault in found if fault] == []
