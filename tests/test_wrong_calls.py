"""Calls that cannot be meant: each is refused before anything is evaluated, and names the argument."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import pickle
import re
import sys

import numpy as np
import pytest
from typed import typed

import racer
from experiments.wrong_calls.targets import calls, judged
from racer import Integer, Param, Real, stats
from racer.deciders import FRace
from racer.testing import check_decider

EXTRAS = all(importlib.util.find_spec(name) for name in ("optuna", "sklearn"))


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
    "timeout": (lambda: race(runtime=racer.Runtime(1.0), timeout=0.05), "timeout=0.05 ends"),
    "real step": (lambda: racer.Space({"x": Real(0, 1, step=5)}), "x: .*step=5.0 has one value"),
    "step": (lambda: racer.Space({"x": Integer(0, 3, step=5)}), "x: .*step=5 has one value"),
    "and": (lambda: Param("x") and Param("y"), r"join conditions with & \| ~"),
    "not": (lambda: not Param("x"), r"join conditions with & \| ~"),
    "each_tests": (lambda: race(decider=Misspelt()), "did you mean 'tests'"),
    "tests": (lambda: race(decider=Unknown()), "Unknown.tests='growign'"),
    "metrics": (lambda: race(maximize=True, metrics={"a": "min"}), "maximize=True beside"),
    "maximize": (lambda: race(maximize=np.ones(2), metrics={"a": "min"}), "maximize="),
    "no name": (lambda: racer.Pareto("", "a"), "Pareto"),
    "too large": (lambda: racer.compare([[10**400, 1.0], [1.0, 2.0]]), "column"),
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


FUNCTIONS = sorted(
    name
    for name in stats.__all__
    if inspect.isfunction(getattr(stats, name)) and not name.startswith("_")
)


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_plain_array_is_taken_or_refused_by_every_function_of_statistics(name):
    """So an array that does not fit is said, whatever the function."""
    function = getattr(stats, name)
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    arrays = (np.random.default_rng(1).random((12, 3)), np.arange(1.0, 7.0) / 10, np.zeros(()))
    for array in arrays:
        given = [array for p in needed if p.kind is p.POSITIONAL_OR_KEYWORD]
        keywords = {p.name: 0.1 for p in needed if p.kind is p.KEYWORD_ONLY}
        try:
            function(*given, **keywords)
        except racer.RacerError as error:
            assert str(error)  # noqa: PT017


def test_scores_may_be_given_in_place_of_a_table_of_wins():
    scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    told = stats.bradley_terry(scores, seed=3)
    assert told.names == ("0", "1", "2")
    assert (told.strengths == stats.bradley_terry(stats.win_table(scores), seed=3).strengths).all()


MISSPELT = {
    "race": (lambda: racer.race([1, 2], max, bugdet=5), "race() ", "bugdet", "budget"),
    "tune": (lambda: racer.tune({}, max, maximise=True), "tune() ", "maximise", "maximize"),
    "resume": (lambda: racer.resume("a", max, n_job=2), "resume() ", "n_job", "n_jobs"),
    "ablation": (lambda: racer.ablation("a", max, block=2), "ablation() ", "block", "blocks"),
    "compare": (lambda: racer.compare([], methode="x"), "compare() ", "methode", "method"),
    "Space": (
        lambda: racer.Space({}, conditons={}),
        "Space.__init__() ",
        "conditons",
        "conditions",
    ),
    "Budget": (
        lambda: racer.Budget(evaluation=4),
        "Budget.__init__() ",
        "evaluation",
        "evaluations",
    ),
    "Real": (lambda: racer.Real(0, 1, digit=2), "Real.__init__() ", "digit", "digits"),
    "Race": (lambda: racer.Race([1, 2], bugdet=4), "", "bugdet", "budget"),
}


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ({"n_trials": 60}, "; give budget"),
        ({"direction": "maximize"}, "; give maximize=True, where smaller is not better"),
    ],
)
@pytest.mark.parametrize("call", [racer.tune, racer.race])
def test_a_keyword_of_another_library_names_ours(call, more, right):
    with pytest.raises(TypeError, match=re.escape(f"keyword argument {next(iter(more))!r}{right}")):
        call(racer.Space({"x": racer.Real(0, 1)}), **more)


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_keyword_names_the_nearest(name):
    call, who, wrong, right = MISSPELT[name]
    text = f"{who}got an unexpected keyword argument {wrong!r}; did you mean {right!r}?"
    with pytest.raises(TypeError, match=re.escape(text)):
        call()


def test_two_numbers_are_bounds_of_a_parameter():
    with pytest.raises(racer.SettingError, match=r"did you mean Integer\(0, 1\) or Real\(0, 1\)\?"):
        racer.Space({"x": (0, 1)})
    with pytest.raises(racer.SettingError, match=r"did you mean Real\(0\.5, 1\)\?"):
        racer.Space({"x": (0.5, 1)})


def test_nan_is_no_interval(tmp_path):
    answer = typed("watch", "run.db", "--interval", "nan")
    assert answer.exit_code == 2
    assert "--interval" in answer.output


@pytest.mark.skipif(sys.platform == "win32", reason="programs run on Linux and macOS only")
@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.thorough)])
def test_wrong_calls_of_everything_public_are_refused(tmp_path, step):
    made = [(call, judged(call)) for call in itertools.islice(calls(tmp_path), 0, None, step)]
    assert len(made) > 300 or not EXTRAS
    assert [(c.target, c.argument, c.value, said) for c, said in made if said[0] != "refused"] == []
