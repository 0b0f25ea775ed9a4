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
from click.testing import CliRunner

import racer
from experiments.wrong_calls.targets import calls, judged
from racer import Integer, Param, Real, stats
from racer.cli import main
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
    "switches": (lambda: racer.Space({"x": Real(0, 1)}, switches=[1]), r"switches=\[1\]"),
    "default": (lambda: racer.Space({"x": Real(0, 1)}, default=42), "default=42"),
    "cwd": (lambda: racer.Command(["ls"], cwd=42), "cwd=42"),
    "utility": (lambda: racer.Runtime(5, utility=lambda: 1), r"utility=.* raises TypeError"),
    "timeout": (lambda: race(runtime=racer.Runtime(1.0), timeout=0.05), "timeout=0.05 ends"),
    "real step": (lambda: racer.Space({"x": Real(0, 1, step=5)}), "x: .*step=5.0 has one value"),
    "step": (lambda: racer.Space({"x": Integer(0, 3, step=5)}), "x: .*step=5 has one value"),
    "and": (lambda: Param("x") and Param("y"), r"join conditions with & \| ~"),
    "not": (lambda: not Param("x"), r"join conditions with & \| ~"),
    "each_tests": (lambda: race(decider=Misspelt()), "did you mean 'tests'"),
    "tests": (lambda: race(decider=Unknown()), "Unknown.tests='growign'"),
    "metrics": (lambda: race(maximize=True, metrics={"a": "min"}), "maximize=True beside"),
    "n_jobs": (lambda: race(n_jobs=0), "n_jobs=0"),
    "executor": (lambda: race(executor=3), "executor is an int"),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_and_names_the_argument(name):
    call, says = CALLS[name]
    with pytest.raises(racer.RacerError, match=says):
        call()


def test_a_search_without_a_budget_is_refused():
    pytest.importorskip("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    from racer.integrations.sklearn import RacingSearchCV

    data = np.arange(40.0).reshape(20, 2)
    search = RacingSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, budget=0)
    with pytest.raises(racer.BudgetError, match="budget of 0"):
        search.fit(data, np.arange(20) % 2)


@pytest.mark.parametrize("decider", [Misspelt(), Unknown()])
def test_check_decider_sees_it_as_well(decider):
    with pytest.raises(AssertionError, match="tests"):
        check_decider(decider)


def test_an_outcome_that_is_none_is_refused_where_it_is_told():
    race = racer.Race([1, 2], budget=60, seed=1)
    with pytest.raises(racer.RaceStateError, match="was told"):
        race.tell(race.ask()[0], racer.Outcome("okay", float("nan")))


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


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("freidman", "f-race"), ("F_Race", "f-race")],
)
def test_a_misspelt_decider_or_its_test_names_the_nearest(wrong, right):
    with pytest.raises(racer.SettingError, match=f"is unknown; did you mean {right!r}\\?: choose"):
        racer.Race([1, 2], budget=60, decider=wrong)


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


SPACE = {"x": Real(0, 1)}
HUGE = 10**400  # no float holds it
ARRAY = np.array([1.0, 2.0])
FOUND = {
    # what the calls of experiments/wrong_calls have found
    "an array as a choice": (lambda: race(instance_order=ARRAY), "instance_order="),
    "an array as ahead": (lambda: race(ahead=ARRAY), "ahead="),
    "an array as a gate": (lambda: FRace(gate=ARRAY), "gate="),
    "no order": (lambda: race(instance_order=""), "instance_order=''"),
    "maximize beside metrics": (lambda: race(maximize=ARRAY, metrics={"a": "min"}), "maximize="),
    "seconds": (lambda: racer.Budget(seconds=HUGE), "seconds"),
    "margin": (lambda: racer.Metric(margin=HUGE), "margin="),
    "direction": (lambda: racer.Metric(ARRAY), "Metric"),
    "no name": (lambda: racer.Pareto("", "a"), "Pareto"),
    "nameless metric": (lambda: racer.Within("", a=1.0), "Within"),
    "switch": (lambda: racer.Space(SPACE, switches={"x": 3}), r"switches\['x'\]=3"),
    "default": (lambda: racer.Space(SPACE, default={"x": 0.5, "y": 1}), "default has 'y'"),
    "param": (lambda: Param(3), "Param"),
    "known": (lambda: racer.Space(SPACE).sample(1, known=3), "known=3"),
    "unknown": (lambda: racer.Space(SPACE).sample(1, known=[{"z": 1}]), "known: 'z'"),
    "exclude": (lambda: racer.Space(SPACE).sample(1, exclude=3), "exclude=3"),
    "vector": (lambda: racer.Space(SPACE).decode("ab"), "vector"),
    "place": (lambda: racer.Space(SPACE).decode([2.0]), "vector: 'x'"),
    "text": (lambda: racer.Space.from_irace(None), "text=None"),
    "path": (lambda: racer.Space.read_pcs(3), "path=3"),
    "scores": (lambda: racer.read_scores(None), "path=None"),
    "no path": (lambda: racer.load("a\0b"), "store="),
    "of": (lambda: racer.ablation("a\0b", never), "of="),
    "larger": (lambda: stats.friedman_test([[1, 2], [2, 1]], maximize="yes"), "maximize='yes'"),
    "rho": (lambda: stats.best_posterior([[1, 2], [2, 1]], correlation="x"), "correlation='x'"),
    "strata": (lambda: stats.best_posterior([[1, 2], [2, 1]], instances=[1]), "instances"),
    "names": (lambda: stats.win_table([[1, 2], [2, 1]], names=3), "names=3"),
    "tolerance": (lambda: stats.plackett_luce([[1, 2]], tolerance="x"), "tolerance='x'"),
    "correction": (lambda: stats.conover_posthoc([[1, 2]] * 5, correction=ARRAY), "correction="),
    "exact": (lambda: stats.front_posterior(np.ones((2, 3, 2)), exact=3), "exact=3"),
    "too large": (lambda: racer.compare([[HUGE, 1.0], [1.0, 2.0]]), "column"),
    "column": (lambda: racer.compare([[1.0, 2.0]] * 3, fold=[1]), r"fold=\[1\]"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_accepted_or_raised_a_raw_error(name):
    call, says = FOUND[name]
    with pytest.raises(racer.RacerError, match=says):
        call()


@pytest.mark.parametrize("seconds", ["0.5", [1], True, HUGE, ARRAY])
def test_seconds_of_a_block_are_checked(seconds):
    with pytest.raises(racer.RaceStateError, match="seconds="):
        racer.Race([1, 2], budget=60, seed=1).tell_block([1.0, 2.0], seconds=seconds)


@pytest.mark.parametrize("more", [{"attempts": 0}, {"attempts": 1.5}, {"message": 3}])
def test_attempts_and_message_of_an_outcome_are_checked(more):
    race = racer.Race([1, 2], budget=60, seed=1)
    with pytest.raises(racer.RaceStateError, match="was told"):
        race.tell(race.ask()[0], racer.Outcome("ok", 1.0, **more))


def test_an_ablation_names_the_end_that_is_wrong():
    tuned = racer.tune(racer.Space(SPACE), lambda config, *_: config["x"], budget=40, seed=1)
    with pytest.raises(racer.CandidateError, match="source=99"):
        racer.ablation(tuned, never, source=99)


def test_nan_is_no_interval(tmp_path):
    answer = CliRunner().invoke(main, ["watch", "run.db", "--interval", "nan"])
    assert answer.exit_code == 2
    assert "--interval" in answer.output


def test_a_suggest_that_takes_no_trial_is_refused():
    optuna = pytest.importorskip("optuna")
    from racer.integrations.optuna import race_study

    with pytest.raises(racer.SettingError, match="suggest cannot be called"):
        race_study(optuna.create_study(), never, [1, 2], suggest=lambda: 1, budget=60)


def test_scores_that_cannot_be_compared_are_named(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("one\ntwo\nthree\n")
    answer = CliRunner().invoke(main, ["compare", str(path)])
    assert answer.exit_code == 2
    assert "list.txt" in answer.output


@pytest.mark.skipif(sys.platform == "win32", reason="programs run on Linux and macOS only")
@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.thorough)])
def test_wrong_calls_of_everything_public_are_refused(tmp_path, step):
    made = [(call, judged(call)) for call in itertools.islice(calls(tmp_path), 0, None, step)]
    assert len(made) > 300 or not EXTRAS
    assert [(c.target, c.argument, c.value, said) for c, said in made if said[0] != "refused"] == []
