"""The calls have the same arguments in the same order, in their signatures and docstrings."""

import inspect
import re

import pytest

import racer
from racer.integrations.optuna import race_study
from racer.run.calls import OfTuning

ORDER = [
    *("of", "study", "programs", "store", "space", "candidates", "evaluate", "instances"),
    *("suggest", "source", "target", "size", "repeats", "margin", "rounds", "warmup", "cpu"),
    *("same_output", "baseline", "alpha", "initial", "search", "budget", "goal", "decider"),
    *("metrics", "objective", "seed", "n_jobs", "first_test", "trials", "elites"),
    *("blocks", "limits", "store", "progress", "callbacks"),
]
CALLS = [
    *(racer.race, racer.tune, racer.resume, racer.bench, racer.ablation),
    race_study,
]


def documented(call):
    """Return the names of a docstring's parameters, in their order."""
    text = inspect.getdoc(call).split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    entries = [line.partition(" : ")[0] for line in text.splitlines() if re.match(r"\S", line)]
    return [name.strip() for entry in entries for name in entry.split(",")]


def test_a_race_has_a_dozen_arguments():
    assert len(inspect.signature(racer.race).parameters) == 12
    assert len(inspect.signature(racer.tune).parameters) == 14


@pytest.mark.parametrize("call", CALLS)
def test_arguments_have_one_order(call):
    parameters = inspect.signature(call).parameters.values()
    by_name = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    places = [len(ORDER) - 1 - ORDER[::-1].index(name) for name in by_name]
    assert places == sorted(places)


@pytest.mark.parametrize("call", CALLS)
def test_the_docstring_has_all_arguments_in_the_order_of_the_signature(call):
    names = list(inspect.signature(call).parameters)
    more = [*OfTuning.__annotations__] if names[-1] == "more" else names[-1:]
    assert documented(call) == [*names[:-1], *more]
