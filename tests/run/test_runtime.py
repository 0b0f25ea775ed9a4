"""Run times with workers: the same result whatever goes ahead, crashes, or is measured."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from objectives import says_its_time as says
from playing import eliminated
from stored import stored

import racer
from racer import Outcome, Runtime
from racer.evaluate.executor import never
from racer.evaluate.outcome import bounded
from racer.racing import Race
from racer.run.drive import drive
from racer.run.progress_state import ProgressState
from racer.run.watch import state_in
from racer.store.load import check_store
from racer.tuner import Tuner

SPACE = racer.Space({"x": racer.Real(0.0, 5.0), "y": racer.Categorical(["a", "b"])})
TIMES = Runtime(20.0)
CONTESTS = {
    "race": lambda: Race(range(7), budget=120, seed=3, runtime=TIMES),
    "in seconds": lambda: Race(range(7), budget=racer.Budget(seconds=700.0), seed=3, runtime=TIMES),
    "tuning": lambda: Tuner(SPACE, range(7), budget=120, runtime=TIMES, test_instances=[1], seed=3),
}


def time_of(config, instance, seed):
    noise = zlib.crc32(repr((config, seed)).encode()) / 2**32
    x = config if isinstance(config, int) else config["x"] + 2 * (config["y"] == "b")
    return math.exp(0.3 * x + 4 * noise - 1 + seed % 3)


class Stopping:
    """Workers that end in any order, and stop each cell at the bound that it has."""

    takes_more = True

    def __init__(self, capacity, seed, until=None):
        self.capacity, self.until = capacity, until
        self.evaluated = []
        self._random = random.Random(seed)
        self._running = []

    def submit(self, cell):
        self._running.append(cell)

    def next(self, stopping=never):
        if len(self.evaluated) == self.until:
            raise Crash
        cell = self._running.pop(self._random.randrange(len(self._running)))
        self.evaluated.append((cell.key, cell.bound))
        took = time_of(cell.config, cell.instance, cell.seed)
        return cell, bounded(Outcome("ok", took, seconds=took), cell.bound)

    def withdraw(self, cell):
        return False

    def finish(self):
        return list(self._running)

    def rest(self):
        return iter(())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._running.clear()


class Crash(BaseException):
    """As if the power failed."""


def content(result):
    rows = [*result.known.rows, *(result.held_out.rows if hasattr(result, "held_out") else ())]
    return repr(
        (
            *(result.best_index, result.survivors, result.ended, result.evaluations),
            *(result.configs, eliminated(result), round(result.seconds, 6)),
            [(r.block, r.candidates.tolist(), r.values.tolist(), sorted(r.others)) for r in rows],
        )
    )


@pytest.fixture(name="expected", scope="module")
def _expected():
    found = {name: drive(make(), Stopping(1, 0)) for name, make in CONTESTS.items()}
    for result in found.values():
        assert (result.scores["status"] == "capped").any()
    return {name: content(result) for name, result in found.items()}


LAW = settings(deadline=None, derandomize=True)


@settings(LAW, max_examples=12)
@given(
    name=st.sampled_from(sorted(CONTESTS)),
    capacity=st.sampled_from([3, 10]),
    ahead=st.sampled_from([0, 8]),
    seed=st.integers(0, 2**32),
)
def test_the_result_is_the_same_for_any_number_of_workers_ahead_or_not(
    expected, name, capacity, ahead, seed
):
    result = drive(CONTESTS[name](), Stopping(capacity, seed), ahead=ahead)
    assert content(result) == expected[name]
    assert result.unused.cells == 0 or ahead


@pytest.mark.thorough
@settings(
    LAW,
    max_examples=5,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    name=st.sampled_from(sorted(CONTESTS)), until=st.integers(60, 150), seed=st.integers(0, 2**32)
)
def test_from_any_crash_it_goes_on_to_the_same_result(expected, name, until, seed):
    evaluated = []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/run.db"
        for at in (until, None):
            workers = Stopping(8, seed, at)
            with (
                suppress(Crash),
                stored(path, CONTESTS[name](), time_of) as (contest, store, known),
            ):
                result = drive(contest, workers, store=store, prefetched=known)
            evaluated += workers.evaluated
        assert content(result) == expected[name]
        assert len(set(evaluated)) == len(evaluated)  # what is recorded is not evaluated again
        report = check_store(path)
        assert report.problems == []
        assert report.evaluations == len(evaluated)
        assert content(report.result) == expected[name]


def test_some_are_run_again_that_went_ahead_with_too_small_a_cap():
    workers = Stopping(12, 1)
    drive(Race(range(7), budget=120, seed=3, runtime=Runtime(20.0, slack=1.0)), workers)
    keys = [key for key, _ in workers.evaluated]
    assert len(set(keys)) < len(keys)


def busy(config, instance, seed):
    # CPU time: it does not pass while others have the processor
    end = time.process_time() + config
    while time.process_time() < end:
        pass


def in_a_child(config, instance, seed):
    subprocess.run(
        # without site, which would begin to measure coverage, and take longer than config
        [
            *(sys.executable, "-I", "-S", "-c"),
            f"import time\nwhile time.process_time() < {config}: pass",  # of the child
        ],
        check=True,
    )


def asleep(config, instance, seed, *, bound):
    time.sleep(config)  # to take wall time beyond the bound, without CPU time


RACE = {"budget": 15, "seed": 1, "first_test": 2, "min_survivors": 2}
ONE_BLOCK = {"seed": 1, "first_test": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time of a process tree")
@pytest.mark.parametrize("evaluate", [busy, in_a_child])
def test_cpu_time_is_measured_and_stopped_at_the_limit(evaluate):
    result = racer.race(
        [0.04, 0.001, 30.0], evaluate, runtime=Runtime(0.15), budget=3, **ONE_BLOCK
    )  # which burns .2 s
    times = result.table.iloc[0]
    assert times[0] >= 0.04 > times[1]
    assert result.scores["status"][2] == "capped"
    assert times[2] == 0.15


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time of a process tree")
@pytest.mark.parametrize(
    ("pool", "least", "status"), [([0.02, 0.001], 600, "ok"), ([600, 599], 0, "capped")]
)
def test_waiting_is_not_run_time_but_does_not_go_on_for_ever(monkeypatch, pool, least, status):
    monkeypatch.setattr("racer.evaluate.limits.limits._START", least)
    result = racer.race(pool, asleep, runtime=Runtime(0.015), budget=2, **ONE_BLOCK)
    assert set(result.scores["status"]) == {status}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_time_that_is_returned_is_taken(jobs):
    result = racer.race([3.0, 1.0, 9.0], says, runtime=Runtime(5.0), n_jobs=jobs, **RACE)
    assert result.table.iloc[0].tolist() == [3.0, 1.0, 5.0]
    assert result.scores["status"].tolist()[:3] == ["ok", "ok", "capped"]


@pytest.mark.parametrize(
    ("script", "more", "status", "value"),
    [
        ("echo 2.5", {}, "ok", 2.5),
        ("echo 7 2.5", {"protocol": "irace"}, "ok", 2.5),
        ("echo 2.5", {"protocol": "irace"}, "ok", 2.5),
        ("echo $5", {"protocol": "irace"}, "capped", 2.7),
        ("echo 9", {}, "capped", 2.7),
        ("echo {bound}", {}, "capped", 2.7),
        (
            'echo \'Result of this algorithm run: {{"status": "TIMEOUT", "runtime": 1}}\'',
            {"protocol": "aclib"},
            "capped",
            2.7,
        ),
    ],
)
def test_what_a_program_says_of_its_time(tmp_path, script, more, status, value):
    path = tmp_path / "run"
    path.write_text(
        "#!/bin/sh\n" + script.replace("{bound}", "$1").replace("{{", "{").replace("}}", "}")
    )
    path.chmod(0o755)
    argv = [str(path)] if more else [str(path), "{bound}", "{x}"]
    if more.get("protocol") == "irace":
        argv += ["{candidate}", "{instance_id}", "{seed}", "{instance}", "{bound}", "{parameters}"]
    result = racer.race(
        [{"x": 1}, {"x": 2}],
        racer.Command(argv, **more),
        ["i"],
        runtime=Runtime(2.7),
        budget=2,
        **ONE_BLOCK,
    )
    assert set(result.scores["status"]) == {status}
    assert value is None or set(result.scores["value"]) == {value}


def test_a_program_that_says_nothing_is_measured(tmp_path):
    result = racer.race(
        [{"x": 1}, {"x": 2}],
        racer.Command([sys.executable, "-c", "", "{x}"]),
        runtime=Runtime(9.0),
        budget=2,
        **ONE_BLOCK,
    )
    assert result.table.min().min() > 0.001


def test_a_runtime_with_a_function_is_given_again(tmp_path):
    path = str(tmp_path / "run.db")
    runtime = Runtime(5.0, utility=lambda t: 1.0 - t)
    first = racer.race([3.0, 1.0, 9.0], says, runtime=runtime, store=path, **RACE)
    with pytest.raises(racer.StoreError, match="runtime=\\.\\."):
        racer.resume(path, says)
    with pytest.raises(racer.StoreError, match="utility is not in the file"):
        racer.load(path)
    assert racer.resume(path, says, runtime=runtime).best_index == first.best_index


def test_a_store_of_run_times_is_read_and_continued_with_a_larger_budget(tmp_path):
    path = str(tmp_path / "run.db")
    runtime = Runtime(5.0, slack=1.5)
    racer.race([3.0, 1.0, 9.0], says, runtime=runtime, store=path, **RACE)
    with pytest.raises(racer.StoreError, match=r"runtime\['slack'\] is 2.0, .* has 1.5"):
        racer.race([3.0, 1.0, 9.0], says, runtime=Runtime(5.0), store=path, **RACE)
    loaded = racer.load(path)
    seen = state_in(path, ProgressState(0.0))
    assert (seen.best, seen.mean, seen.of.mean_label) == (1, 1.0, "PAR10")
    assert loaded.rules.runtime == runtime
    assert loaded.best == 1.0
