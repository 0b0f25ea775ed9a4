"""The examples in docstrings run and print what they say, and every public name has one."""

import doctest
import importlib
import inspect
import pkgutil
import warnings

import pytest

import racer
import racer.integrations.optuna
import racer.integrations.sklearn
import racer.testing

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(racer.__path__, "racer.")
    if module.name != "racer.__main__"
)
ROOMS = [racer, *(getattr(racer, room) for room in racer._ROOMS), racer.testing]
PUBLIC = sorted(
    (f"{room.__name__}.{name}", getattr(room, name))
    for room in (*ROOMS, racer.integrations.optuna, racer.integrations.sklearn)
    for name in room.__all__
    if inspect.isroutine(getattr(room, name)) or inspect.isclass(getattr(room, name))
)


@pytest.mark.parametrize("name", ["racer", *MODULES])
def test_examples_of_a_module(name):
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        runner = doctest.DocTestRunner(verbose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # of pyparsing, which older versions of matplotlib call by old names
            warnings.filterwarnings("ignore", r"'\w+' .*deprecated", DeprecationWarning)
            said = []
            runner.run(test, out=said.append)
        assert not runner.failures, "".join(said)


def test_there_are_modules_and_functions_to_look_at():
    assert len(MODULES) > 100
    assert {"racer.race", "racer.compare", "racer.stats.bradley_terry"} <= {n for n, _ in PUBLIC}


@pytest.mark.parametrize(("name", "value"), PUBLIC)
def test_every_public_name_has_an_example(name, value):
    finder = doctest.DocTestFinder()  # of a class, its methods' too
    assert any(test.examples for test in finder.find(value, name)), f"{name} has no example"
