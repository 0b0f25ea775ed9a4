"""An executor of one's own evaluates, with the same result."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cloudpickle
import pytest
from executors import check_result, said

import racer


def evaluate(config, instance, seed):
    return (config - 2) ** 2 * instance + (seed >> config) % 9


SETTINGS = {"budget": 200, "seed": 1, "decider": "f-race"}


@pytest.fixture(name="threads")
def _threads():
    with ThreadPoolExecutor(3) as threads:
        yield threads


def test_a_race_a_tuning_and_a_resume_take_an_executor(threads, tmp_path):
    check_result(threads, tmp_path / "run.db")
    threads.submit(int).result()  # it stays open


class FakeSubmitit:
    """Submits jobs as submitit does: pickled with cloudpickle; the third is lost by Slurm."""

    def __init__(self, threads):
        self._threads = threads
        self.jobs = 0

    def submit(self, fn, *args, **kwargs):
        self.jobs += 1
        return self._threads.submit(run, cloudpickle.dumps(fn), self.jobs == 3)


def run(pickled, is_lost):
    if is_lost:
        raise RuntimeError("UncompletedJobError")
    return pickle.loads(pickled)()


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
