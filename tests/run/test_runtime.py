"""Run times: what is measured and stopped, what is said, and the store of them."""

import subprocess
import sys
import time

import flat
import pytest
from objectives import says_its_time as says

import racer
from racer import Runtime


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
    result = flat.race(
        [0.15, 0.001, 30.0], evaluate, runtime=Runtime(0.6), budget=3, **ONE_BLOCK
    )  # which burns .8 s: a fork of a large process takes .1 s at times
    times = result.table.iloc[0]
    assert times[0] >= 0.15 > times[1]
    assert result.scores["status"][2] == "capped"
    assert times[2] == 0.6


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time of a process tree")
@pytest.mark.parametrize(
    ("pool", "least", "status"), [([0.02, 0.001], 600, "ok"), ([600, 599], 0, "capped")]
)
def test_waiting_is_not_run_time_but_does_not_go_on_for_ever(monkeypatch, pool, least, status):
    monkeypatch.setattr("racer.evaluate.limits.limits._START", least)
    result = flat.race(pool, asleep, runtime=Runtime(0.015), budget=2, **ONE_BLOCK)
    assert set(result.scores["status"]) == {status}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_time_that_is_returned_is_taken(jobs):
    result = flat.race([3.0, 1.0, 9.0], says, runtime=Runtime(5.0), n_jobs=jobs, **RACE)
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
    result = flat.race(
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
    result = flat.race(
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
    first = flat.race([3.0, 1.0, 9.0], says, runtime=runtime, store=path, **RACE)
    with pytest.raises(racer.StoreError, match=r"goal=racer.Runtime\(..\)"):
        racer.resume(path, says)
    with pytest.raises(racer.StoreError, match="utility is not in the file"):
        racer.load(path)
    assert racer.resume(path, says, goal=runtime).best_index == first.best_index


def test_a_store_of_run_times_is_read_and_continued_with_a_larger_budget(tmp_path):
    path = str(tmp_path / "run.db")
    runtime = Runtime(5.0, slack=1.5)
    flat.race([3.0, 1.0, 9.0], says, runtime=runtime, store=path, **RACE)
    with pytest.raises(racer.StoreError, match=r"runtime is .*slack=2.0, .* has .*slack=1.5"):
        flat.race([3.0, 1.0, 9.0], says, runtime=Runtime(5.0), store=path, **RACE)
    loaded = racer.load(path)
    assert loaded.rules.runtime == runtime
    assert loaded.best == 1.0
