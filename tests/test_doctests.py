"""The examples in docstrings run and print what they say, and public functions have one."""

import doctest
import importlib
import inspect
import pkgutil
import warnings

import pytest

import racer

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(racer.__path__, "racer.")
    if module.name != "racer.__main__"
)
PUBLIC = sorted(
    {
        f"{room.__name__}.{name}": getattr(room, name)
        for room in (racer, racer.stats, racer.plots, racer.simulate, racer.space)
        for name in room.__all__
        if inspect.isfunction(getattr(room, name))
    }.items()
)


def examples(thing, name):
    finder = doctest.DocTestFinder(recurse=inspect.ismodule(thing))
    return [test for test in finder.find(thing, name) if test.examples]


@pytest.mark.parametrize("name", ["racer", *MODULES])
def test_examples_of_a_module(name):
    for test in examples(importlib.import_module(name), name):
        runner = doctest.DocTestRunner(verbose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said = []
            runner.run(test, out=said.append)
        assert not runner.failures, "".join(said)


def test_there_are_modules_and_functions_to_look_at():
    assert len(MODULES) > 100
    assert {"racer.race", "racer.compare", "racer.stats.bradley_terry"} <= {n for n, _ in PUBLIC}


@pytest.mark.parametrize(("name", "function"), PUBLIC)
def test_every_public_function_has_an_example(name, function):
    assert examples(function, name), f"{name} has no example"
