"""The process is the user's: what a script has set stays, what evaluate sets changes nothing."""

import decimal
import itertools
import locale
import os
import pickle
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
from wrong_calls import targets

import racer

ROUNDINGS = ["CEILING", "DOWN", "FLOOR", "HALF_DOWN", "HALF_EVEN", "HALF_UP", "UP", "05UP"]
FAMILIES = {  # of statements, and what they are filled with
    "np.seterr({}={!r})": [["all", "divide", "over", "invalid"], ["raise", "warn", "print"]],
    "warnings.{}({!r})": [
        ["simplefilter", "filterwarnings"],
        ["error", "ignore", "always", "once"],
    ],
    "warnings.{}": [["filters = []", "resetwarnings()"]],
    "decimal.getcontext().{}": [["prec = 3", "Emax = 9", "clamp = 1", "capitals = 0"]],
    "decimal.getcontext().rounding = decimal.ROUND_{}": [ROUNDINGS],
    "decimal.getcontext().traps[decimal.{}] = True": [["Inexact", "Rounded", "FloatOperation"]],
    "decimal.setcontext(decimal.{}Context)": [["Basic", "Extended"]],
    "locale.setlocale(locale.LC_{}, {!r})": [["ALL", "NUMERIC", "TIME"], ["C", "C.UTF-8"]],
    "sys.setrecursionlimit({})": [[5000, 900, 2000]],
    "{}.seed({})": [["np.random", "random"], [1, 0]],
    "os.close({})": [[1, 0, 2]],
    "os.dup2({}, {})": [[0, 1, 2], [2, 0, 1]],
}
HOSTILE = [
    pytest.param(form.format(*words), marks=[pytest.mark.thorough] * (number > 0))
    for form, lists in FAMILIES.items()
    for number, words in enumerate(itertools.product(*lists))
]


def state():
    """Return all that these objectives set."""
    files = [os.fstat(n)[:3] if _is_open(n) else None for n in range(3)]
    context = repr(decimal.getcontext().copy())
    generated = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    shared = [*warnings.filters], sys.getrecursionlimit(), locale.setlocale(locale.LC_ALL)
    return files, context, generated, shared, np.geterr()


def _is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False


def raced(hostile, **settings):
    """Return the result of a race whose costs are worse where something was changed."""
    before = state()

    def evaluate(config, instance, seed):
        now = state()
        found = [now[i] == before[i] for i in (1, 3, 4)]
        exec(hostile, globals())
        return config * 1e-300 + (not all(found)) + seed % 7 * 1e-301

    return racer.race([1, 2, 3], evaluate, budget=60, seed=1, **settings)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_evaluate_sets_is_put_back_and_changes_no_result(hostile, capfd):
    raced("")  # loads what a race needs, which may set filters of warnings, too
    usual = raced("")
    before = state()
    seen = []
    found = raced(hostile, callbacks=[lambda _: seen.append(state())])
    assert state() == before
    assert seen
    # a replaced descriptor is put back a millisecond later
    now = (1, 3, 4) if "dup2" in hostile else (0, 1, 3, 4)
    assert all(one[i] == before[i] for one in seen for i in now)
    assert found.table.equals(usual.table)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_users_error_mode_is_that_of_evaluate_and_callbacks(n_jobs):
    def evaluate(config, instance, seed):
        mode = np.geterr()["over"]
        np.seterr(all="ignore")
        return config + seed % 7 + 10 * (mode != "raise")

    seen = []
    with np.errstate(all="raise"):
        callbacks = [lambda _: seen.append(np.geterr()["over"])]
        result = racer.race(
            [1, 2, 3], evaluate, budget=30, seed=1, n_jobs=n_jobs, callbacks=callbacks
        )
    assert result.scores["value"].max() < 10
    assert {*seen} == {"raise"}


def test_a_tuning_of_tiny_costs_has_no_floating_point_error():
    def evaluate(config, instance, seed):
        np.seterr(all="raise")
        return config["x"] * 1e-300 + seed % 7 * 1e-301

    space = racer.Space({"x": racer.Real(0, 1)})
    with np.errstate(all="raise"):
        result = racer.tune(space, evaluate, budget=60, seed=1)
        assert (len(result.failures), len(repr(result)) > 99) == (0, True)
        assert racer.stats.nemenyi_critical_difference(3, 12) > 0


@pytest.mark.thorough
def test_no_public_call_has_a_floating_point_error_of_its_own(tmp_path):
    with np.errstate(all="raise"):
        for name, call, base, _ in targets(tmp_path):
            try:
                with warnings.catch_warnings(action="ignore"):
                    call(**base)
            except FloatingPointError as error:
                pytest.fail(f"{name}: {error}")
            except Exception:  # noqa: BLE001  (what an objective that ends the test raises)
                pass
            except BaseException as error:
                if type(error).__name__ != "Evaluated":
                    raise


FORKS = """
import os, sys, racer
def evaluate(config, instance, seed):
    if seed % 3 == 0 and os.fork() == 0 and {raises}:
        raise SystemExit
    return config + seed % 7
async def later(config, instance, seed):
    return evaluate(config, instance, seed)
racer.race([1, 2, 3], {evaluate}, budget=30, seed=1)
os.write(1, b"over\\n")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize(
    ("raises", "evaluate"),
    [
        (True, "evaluate"),
        *(pytest.param(False, name, marks=pytest.mark.thorough) for name in ("evaluate", "later")),
    ],
)
def test_a_fork_that_returns_drives_no_race(raises, evaluate):
    code = FORKS.format(raises=raises, evaluate=evaluate)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout == b"over\n"


@pytest.mark.parametrize("room", [racer.stats, racer.simulate, racer.plots])
def test_public_functions_can_be_pickled(room):
    for value in (getattr(room, name) for name in room.__all__):
        assert pickle.loads(pickle.dumps(value)) is value
