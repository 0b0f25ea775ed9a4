"""An executor of one's own evaluates, with the same result."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import cloudpickle
import pytest
from executors import check_result, said

import racer


def evaluate(config, instance, seed):
    return (config - 2) ** 2 * instance + (seed >> config) % 9


class Inline(Executor):
    """An outsider's executor: it answers at once."""

    def __init__(self, future=Future):
        self.calls = 0
        self._future = future

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        future = self._future()
        future.set_result(fn(*args, **kwargs))
        return future


SETTINGS = {"budget": 200, "seed": 1, "decider": "f-race"}


@pytest.fixture(name="threads")
def _threads():
    with ThreadPoolExecutor(3) as threads:
        yield threads


def test_a_race_a_tuning_and_a_resume_take_an_executor(threads, tmp_path):
    check_result(threads, tmp_path / "run.db")
    threads.submit(int).result()  # it stays open


def test_an_executor_of_ones_own_is_asked_for_each_cell():
    inline = Inline()
    result = racer.race(range(6), evaluate, [1.0, 2.0], n_jobs=inline, **SETTINGS)
    assert said(result) == said(racer.race(range(6), evaluate, [1.0, 2.0], **SETTINGS))
    made = result.evaluations + result.unused.cells
    assert inline.calls == made + 1  # one finds out whether evaluate arrives


class Uncancellable(Future):
    """A future like Parsl's."""

    def cancel(self):
        raise NotImplementedError("Cancel not implemented")


def test_a_race_is_decided_although_its_futures_cannot_be_cancelled():
    result = racer.race(range(6), evaluate, [1.0, 2.0], n_jobs=Inline(Uncancellable), **SETTINGS)
    assert result.ended == "decided"
    assert said(result) == said(racer.race(range(6), evaluate, [1.0, 2.0], **SETTINGS))
    assert result.unused.cells > 0  # in flight at the end


class FakeSubmitit:
    """Submits jobs as submitit does: pickled with cloudpickle; the third is lost by Slurm."""

    def __init__(self, threads):
        self._threads = threads
        self.jobs = 0

    def submit(self, fn, *args, **kwargs):
        self.jobs += 1
        return FakeJob(self._threads.submit(run, cloudpickle.dumps(fn), self.jobs == 3))


def run(pickled, is_lost):
    if is_lost:
        raise RuntimeError("UncompletedJobError")
    return pickle.loads(pickled)()


class FakeJob:
    def __init__(self, future):
        self._future = future

    def result(self):
        return self._future.result()

    def done(self):
        return self._future.done()


def test_the_adapter_for_submitit_that_the_docs_show(threads):
    page = Path(__file__).parents[2] / "docs" / "clusters.md"
    (code,) = re.findall(
        r"^```python\n([^`]*class Jobs[^`]*)```$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    names = {}
    exec(code, names)
    submitit = FakeSubmitit(threads)
    result = racer.race(
        range(6),
        evaluate,
        [1.0, 2.0],
        n_jobs=racer.Workers(4, executor=names["Jobs"](submitit)),
        **SETTINGS,
    )
    assert said(result) == said(racer.race(range(6), evaluate, [1.0, 2.0], **SETTINGS))
    assert submitit.jobs > result.evaluations
