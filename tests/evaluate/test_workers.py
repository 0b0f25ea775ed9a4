"""In process, in worker processes, in threads: the same outcomes, and refusals up front."""

from __future__ import annotations

import os
import random
import threading

import joblib
import numpy as np
import pytest
from objectives import hang
from processes import alive, noted, python, wait_for

import racer
from racer import Cell, ObjectiveError, SettingError
from racer.evaluate import workers as module
from racer.evaluate.process_state import process_put_back
from racer.evaluate.workers import workers_for


def cells_for(configs, *, instance=None, seed=11):
    return tuple(Cell(0, c, config, instance, seed) for c, config in enumerate(configs))


def outcomes_of(workers, cells):
    with process_put_back(), workers:
        outcomes = {c.candidate: outcome for c, outcome in module.outcomes_of(workers, cells)}
    return [outcomes.pop(cell.candidate) for cell in cells]


def hostile():
    """Return an objective that does what its configuration says, a closure: it travels by value."""

    class UnpicklableError(Exception):
        def __reduce__(self):
            raise TypeError("not to be sent")

    def evaluate(config, instance, seed):
        if config == "unpicklable":
            raise UnpicklableError("held")
        if config == "KeyboardInterrupt":
            raise KeyboardInterrupt
        return threading.Lock() if config == "lock" else 1

    return evaluate


EXPECTED = {  # what else may be raised or returned is judged before it is sent
    "number": ("ok", ""),
    "unpicklable": ("failed", "UnpicklableError: held"),
    "lock": ("invalid", "returned a lock, not a number"),
}
INTERRUPTED = {"KeyboardInterrupt": ("failed", "KeyboardInterrupt")}


@pytest.mark.parametrize(
    ("backend", "n_jobs", "more"),
    [("loky", 1, {}), ("loky", 2, INTERRUPTED), ("threading", 2, {})],
)
def test_one_bad_evaluation_costs_one_cell(backend, n_jobs, more):
    expected = EXPECTED | more
    with joblib.parallel_config(backend):
        workers = workers_for(hostile(), [*expected], None, n_jobs=n_jobs)
        outcomes = outcomes_of(workers, cells_for(expected))
    for outcome, (status, message) in zip(outcomes, expected.values(), strict=True):
        assert outcome.status == status
        assert outcome.message.startswith(message)
        assert (outcome.value is None) == (status != "ok")


def test_legacy_generators_give_the_same_numbers_everywhere():
    def evaluate(config, instance, seed):
        import random

        import numpy as np

        return random.random() + np.random.random()  # noqa: NPY002

    for n_jobs in (1, 2):
        workers = workers_for(evaluate, range(3), None, n_jobs=n_jobs)
        for seed in (1, 2):
            own = random.Random(seed).random() + np.random.RandomState(seed).random()
            outcomes = outcomes_of(workers, cells_for(range(3), seed=seed))
            assert [outcome.value for outcome in outcomes] == [own] * 3


def state_of_the_legacy_generators():
    kind, words, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), (kind, words.tolist(), *rest)


@pytest.mark.parametrize("backend", [None, "threading"])
def test_the_global_generators_are_put_back(backend):
    def evaluate(config, instance, seed):
        return config + random.random() + np.random.random()  # noqa: NPY002

    def interrupted(config, instance, seed):
        raise KeyboardInterrupt

    before = state_of_the_legacy_generators()
    if backend is None:
        racer.race([1, 2], evaluate, budget=20)
        with pytest.raises(racer.RaceInterrupted):
            racer.race([1, 2], interrupted, budget=20)
    else:
        with joblib.parallel_config(backend=backend):
            racer.race([1, 2], evaluate, budget=20, n_jobs=2)
    assert state_of_the_legacy_generators() == before


def test_the_first_race_of_a_process_leaves_the_global_generators_alone():
    code = """
import random, numpy, racer
random.seed(1)
numpy.random.seed(1)
racer.race([1, 2], lambda config, instance, seed: config, budget=20)
print(random.random() == random.Random(1).random())
print(numpy.random.random() == numpy.random.RandomState(1).random())
"""
    run = python("-c", code)
    assert run.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("size", [10, 100_000, 300_000])
def test_instances_may_be_arrays_of_any_size_and_written_to(size):
    def evaluate(config, instance, seed):
        instance[0] += config
        return instance.sum()

    cells = cells_for([1, 2], instance=np.zeros(size))
    outcomes = outcomes_of(workers_for(evaluate, [1, 2], None, n_jobs=2), cells)
    assert [outcome.value for outcome in outcomes] == [1.0, 2.0]


def test_a_joblib_backend_of_the_user_is_honoured():
    here, lock = os.getpid(), threading.Lock()  # the lock could not be sent to a process
    seen = set()

    def evaluate(config, instance, seed):
        with lock:
            seen.add((os.getpid(), threading.current_thread() is threading.main_thread()))
        return config

    with joblib.parallel_config(backend="threading"):
        result = racer.race([1, 2, 3], evaluate, budget=60, n_jobs=2)
    assert result.best == 1
    assert seen == {(here, False)}


@pytest.mark.parametrize(("n_jobs", "is_here"), [(1, True), (2, False), (-1, False)])
def test_one_job_stays_in_process_and_more_do_not(n_jobs, is_here):
    def evaluate(config, instance, seed):
        import os

        return os.getpid()

    outcomes = outcomes_of(workers_for(evaluate, [1, 2], None, n_jobs=n_jobs), cells_for([1, 2]))
    assert {outcome.value == os.getpid() for outcome in outcomes} == {is_here}


HELD = (x for x in "ab")  # cannot be pickled


@pytest.mark.parametrize(
    ("which", "pool", "instances"),
    [
        ("evaluate", [1, 2], None),
        ("candidate 1", [{"x": 1}, {"x": HELD}], None),
        ("instance 2", [1, 2], [0, 1, HELD]),
    ],
)
def test_what_cannot_be_sent_is_named_before_anything_runs(tmp_path, which, pool, instances):
    mark = tmp_path / "called"
    held = HELD if which == "evaluate" else None

    def evaluate(config, instance, seed):
        mark.touch()
        return 1.0 if held is None else 2.0

    with pytest.raises(ObjectiveError, match=f"^{which} cannot be sent .*or use n_jobs=1"):
        racer.race(pool, evaluate, instances, budget=20, n_jobs=2)
    assert not mark.exists()
    racer.race(pool, evaluate, instances, budget=20)  # in process nothing has to be sent
    assert mark.exists()


def test_ctrl_c_comes_through_where_joblib_uses_no_processes():
    def evaluate(config, instance, seed):
        raise KeyboardInterrupt

    with joblib.parallel_config(backend="sequential"), pytest.raises(KeyboardInterrupt):
        outcomes_of(workers_for(evaluate, [1, 2], None, n_jobs=2), cells_for([1, 2]))


@pytest.mark.parametrize("settings", [{}, {"limits": racer.Limits(60)}], ids=str)
def test_workers_that_are_closed_end_what_they_do_without_a_word(tmp_path, capfd, settings):
    def evaluate(config, instance, seed):
        import os

        (tmp_path / str(os.getpid())).touch()
        return hang() if config else config

    pool = [0, 0, *[1] * 6]
    cells = [Cell(0, c, config, None, 1) for c, config in enumerate(pool)]
    with workers_for(evaluate, pool, None, n_jobs=2, **settings) as workers:
        assert next(module.outcomes_of(workers, cells))[1].status == "ok"
    # a warning is an error
    assert wait_for(lambda: not any(map(alive, noted(tmp_path))))
    assert capfd.readouterr() == ("", "")


class Other(joblib.parallel.ParallelBackendBase):
    supports_return_generator = True

    def effective_n_jobs(self, n_jobs):
        return n_jobs


joblib.register_parallel_backend("other", Other)


@pytest.mark.parametrize("backend", ["multiprocessing", "other"])
def test_a_backend_of_joblib_without_futures_is_refused(backend):
    with (
        joblib.parallel_config(backend=backend),
        pytest.raises(SettingError, match=r"use loky.* an executor or a Dask client as n_jobs="),
    ):
        racer.race([1, 2], lambda config, instance, seed: config, budget=20, n_jobs=2)
