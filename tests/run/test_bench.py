"""Which program is faster: rounds, orders, failures and results, on times that are made up."""

import json
import math
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import racer
from racer.evaluate.command.timing import Timed, timed
from racer.run import bench

NAMES = ["a", "b", "c"]


class Odd:
    """A value that cannot be compared."""

    __hash__ = None

    def __eq__(self, other):
        raise ValueError("is that so?")


def took(seconds, failure=""):
    return Timed(seconds, seconds, failure, None)


class Clock:
    """Times of programs by number, with noise; all runs in the order in which they were made."""

    def __init__(self, times, size=0.01, seed=1):
        self.times, self.size = times, size
        self.rng = np.random.default_rng(seed)
        self.runs = []

    def __call__(self, program, instance, seed):
        self.runs.append((program, instance, seed))
        return took(self.times[program] * math.exp(self.size * self.rng.standard_normal()))

    def rounds(self):
        by_seed = {}
        for program, instance, seed in self.runs:
            by_seed.setdefault(seed, []).append((program, instance))
        return list(by_seed.values())


@pytest.fixture
def raced(monkeypatch):
    """A benchmark of programs whose times a function of their number, instance and seed returns."""

    def run(names, measure, instances=None, **settings):
        def runner(name, *_, cpu):
            return lambda instance, seed, keep: measure(names.index(name), instance, seed)

        monkeypatch.setattr(bench, "_runner", runner)
        return racer.bench(dict.fromkeys(names), instances, **({"warmup": 0} | settings))

    return run


def test_the_fastest_is_found_and_the_others_are_compared_with_it(raced):
    result = raced(NAMES, Clock([1.1, 1.0, 1.5]), seed=1)
    assert (result.fastest, result.ended) == ("b", "decided")
    table = result.table.set_index("program")
    assert list(table.index) == ["b", "a", "c"]
    assert list(table["verdict"]) == ["fastest", "slower", "slower"]
    assert table.loc["a", "low"] < 1.1 < table.loc["a", "high"]
    assert table.loc["c", "low"] < 1.5 < table.loc["c", "high"]
    assert (table["low"][1:] > 1.0).all()
    assert result.race.evaluations == table["rounds"].sum() == result.times.notna().sum().sum()
    assert table.loc["b", "median"] == result.times["b"].median()
    assert str(result).startswith("b is the fastest.")


def test_equal_programs_end_within_the_margin(raced):
    result = raced(NAMES[:2], Clock([1.0, 1.005]), seed=1)
    assert (result.fastest, result.ended) == (None, "settled")
    assert set(result.table["verdict"]) == {"within 2 %"}
    other = result.table.iloc[1]
    assert 1 / 1.02 < other["low"] < other["high"] < 1.02
    assert f"{result.table['program'][0]} is the fastest, or within 2 % of it." in str(result)


def test_the_rounds_may_not_suffice(raced):
    result = raced(NAMES[:2], Clock([1.0, 1.0]), margin=0.0, rounds=30, seed=1)
    assert (result.ended, len(result.times), result.fastest) == ("rounds", 30, None)
    assert set(result.table["verdict"]) == {"not known"}
    assert "give more rounds" in str(result)
    few = raced(NAMES, Clock([1.0, 2.0, 3.0]), rounds=9, seed=1)
    assert few.table["high"][1:].tolist() == [math.inf] * 2
    assert raced(NAMES, Clock([1.0, 2.0, 3.0]), rounds=10, seed=1).ended == "decided"


def test_rounds_are_in_random_order_and_each_program_runs_once(raced):
    clock = Clock([1.0, 1.0, 1.0])
    raced(NAMES, clock, margin=0.0, rounds=60, seed=1)
    orders = [[program for program, _ in runs] for runs in clock.rounds()]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    first = np.bincount([order[0] for order in orders], minlength=3)
    assert first.min() > 10
    assert len({tuple(order) for order in orders}) == 6


def test_the_same_seed_repeats_it_and_the_result_names_it(raced):
    one, same, other = (Clock([1.0, 1.01, 1.1]) for _ in range(3))
    result = raced(NAMES, one)
    again = raced(NAMES, same, seed=result.race.seed)
    raced(NAMES, other, seed=result.race.seed + 1)
    assert one.runs == same.runs != other.runs
    assert result.to_json() == again.to_json()


def test_each_round_has_another_instance_until_all_were_used(raced):
    clock = Clock([1.0, 1.0])
    raced(["a", "b"], clock, list("vwxyz"), margin=0.0, rounds=20, seed=1)
    taken = [{instance for _, instance in runs} for runs in clock.rounds()]
    assert all(len(instances) == 1 for instances in taken)
    taken = [instances.pop() for instances in taken]
    passes = ["".join(taken[i : i + 5]) for i in range(0, 20, 5)]
    assert {"".join(sorted(one)) for one in passes} == {"vwxyz"}
    assert len(set(passes)) > 1


def test_the_warm_up_does_not_count(raced):
    calls = []

    def measure(program, instance, seed):
        calls.append(program)
        return took(9.0 - 8.0 * program if len(calls) <= 4 else 1.0 + program + len(calls) / 1e3)

    result = raced(["a", "b"], measure, warmup=2, seed=1)
    assert (result.fastest, len(result.times), len(calls)) == ("a", 8, 20)
    assert result.times.to_numpy().max() < 2.1


def test_who_fails_is_out_and_the_others_go_on(raced):
    clock, runs = Clock([1.0, 1.0, 2.0]), []

    def measure(program, instance, seed):
        runs.append(program)
        if program == 1 and runs.count(1) == 3:
            return took(0.0, "exited with code 3: no licence")
        return clock(program, instance, seed)

    result = raced(NAMES, measure, ["x", "y"], seed=1)
    assert runs.count(1) == 3
    assert (result.fastest, result.ended) == ("a", "decided")
    (failure,) = result.failures
    assert re.fullmatch(
        r"b exited with code 3: no licence \(round 3, [xy]\), and is out\.", failure
    )
    assert failure in " ".join(str(result).split())
    assert result.table["verdict"].tolist() == ["fastest", "slower", "failed"]
    assert result.times["b"].notna().sum() == 2


def test_one_that_is_left_alone_and_none_at_all(raced):
    def measure(program, instance, seed):
        return took(1.0, "" if program == 0 else "failed")

    result = raced(NAMES, measure, seed=1)
    assert (result.fastest, len(result.times)) == (None, 1)
    assert result.table["verdict"].tolist() == ["left", "failed", "failed"]
    assert "the only program that did not fail" in str(result)
    result = raced(NAMES, lambda *_: took(1.0, "failed"), seed=1)
    assert (result.ended, result.fastest) == ("all-rejected", None)
    assert "All programs failed." in str(result)


def test_who_is_slower_than_one_that_failed_is_not_called_slower_than_another(raced):
    """B is out by a, which then fails; the times of c are below and above b's."""
    rounds = dict.fromkeys(range(3), 0)

    def measure(program, instance, seed):
        rounds[program] += 1
        if program == 2:
            return took(0.5 if rounds[2] % 9 < 4 else 3.0)
        if program == 0 and rounds[0] == 20:
            return took(0.0, "exited with code 1")
        return took([1.0, 1.01][program])

    result = raced(NAMES, measure, rounds=60, seed=1)
    assert (result.ended, result.fastest) == ("decided", None)
    table = result.table.set_index("program")
    assert table.loc["b", "low"] < 1.0 < table.loc["b", "high"]
    assert table["verdict"].to_dict() == {"c": "not known", "b": "slower than a", "a": "failed"}


@pytest.mark.parametrize("seed", range(24, 28))
def test_whatever_is_called_slower_has_an_interval_above_one(raced, seed):
    rng = np.random.default_rng(seed)
    clock = Clock(np.exp(0.1 * rng.random(4)), size=0.1, seed=seed)
    table = raced(list("abcd"), clock, rounds=60, seed=1).table
    assert (table["low"][table["verdict"] == "slower"] >= 1.0).all()
    first, *others = table["verdict"]
    assert first != "fastest" or set(others) == {"slower"}


def test_ctrl_c_returns_what_is_known_of_whole_rounds(raced):
    clock = Clock([1.0, 1.0])

    def measure(program, instance, seed):
        if len(clock.runs) == 7:
            raise KeyboardInterrupt
        return clock(program, instance, seed)

    with pytest.raises(racer.RaceInterrupted) as stop:
        raced(["a", "b"], measure, seed=1)
    result = stop.value.result
    assert (result.ended, len(result.times), result.race.evaluations) == ("interrupted", 3, 6)
    assert "Interrupted after 3 of " in str(result)


def test_a_result_prints_and_is_plain_data(raced):
    result = raced(NAMES, Clock([1.0, 1.0, 1.2]), seed=2, alpha=1e-3)
    assert sorted(result.table["verdict"]) == ["slower", "within 2 %", "within 2 %"]
    assert "wrong with probability 0.001 at most" in " ".join(repr(result).split())
    assert result._repr_html_().count("<tr>") == 4
    data = json.loads(result.to_json())
    assert (data["ended"], data["alpha"]) == ("settled", 1e-3)
    assert [line["verdict"] for line in data["programs"]] == list(result.table["verdict"])
    assert data["times"]["a"] == result.times["a"].tolist()
    assert None in data["times"]["c"]
    few = json.loads(raced(["a", "b"], Clock([1.0, 1.0]), rounds=2, seed=1).to_json())
    assert few["programs"][1]["high"] is None


@pytest.mark.parametrize("progress", [True, False])
def test_progress(raced, capsys, progress):
    raced(["a", "b"], Clock([1.0, 2.0]), seed=1, progress=progress)
    assert ("dropped #1" in capsys.readouterr().err) is progress


# -- functions


class Ticks:
    """A clock that a function moves: each call takes 1 µs, some are interrupted for 3 ms."""

    def __init__(self, interrupted=()):
        self.now, self.calls, self.interrupted = 0.0, 0, set(interrupted)

    def __call__(self):
        return self.now

    def work(self, seconds=1e-6):
        self.now += seconds + 3e-3 * (self.calls in self.interrupted)
        self.calls += 1
        return self.calls


@pytest.mark.parametrize("interrupted", [(), (0,), (700,), (300, 800)])
def test_short_calls_are_timed_in_batches_whose_median_counts(interrupted):
    clock = Ticks(interrupted)
    run = bench._timed(clock.work, clock, 0, None, 1, keep=True)
    assert run.wall == run.cpu == pytest.approx(1e-6)
    assert run.output == clock.calls > 500


def test_a_long_call_is_made_once():
    clock = Ticks()
    assert bench._timed(clock.work, clock, 1, 0.5, 1, keep=False) == took(0.5)
    assert clock.calls == 1


@pytest.mark.parametrize("cpu", [True, False])
def test_functions_are_compared(cpu):
    result = racer.bench(
        {"long": lambda n: sum(range(100 * n)), "short": lambda n: n}, [50, 60], cpu=cpu
    )
    assert result.fastest == "short"
    assert (result.cpu, "CPU time" in str(result)) == (cpu, cpu)


@pytest.mark.parametrize("error", [ValueError(3), SystemExit(3), GeneratorExit(3)])
def test_a_function_that_raises_or_exits_is_out_with_its_line(error):
    def leaves():
        raise error

    result = racer.bench({"good": int, "leaves": leaves}, rounds=1)
    said = rf"leaves raised {type(error).__name__}: 3 \(in leaves, .*:\d+\) \(round 1\)"
    assert re.match(said, result.failures[0])


def test_functions_return_the_same():
    numbers = np.array([2, 1, 3])
    given = {"sort": lambda: np.sort(numbers), "wrong": lambda: numbers, "list": lambda: [1, 2, 3]}
    result = racer.bench(given, same_output=True, rounds=2)
    assert result.failures == ("wrong gave another output than sort (round 1), and is out.",)
    near = racer.bench({"a": lambda: 1.0, "b": lambda: 1.1}, same_output=lambda x, y: x - y < 0.2)
    assert not near.failures
    odd = {"a": lambda: np.ones(3), "b": lambda: np.ones(2)}
    (failure,) = racer.bench(odd, same_output=np.allclose, rounds=1).failures
    assert "than a, or one that cannot be compared (ValueError" in failure


NAN, OTHER_NAN = float("nan"), float("nan")
LISTED = {"k": [(1, np.ones(2)), NAN]}


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (NAN, OTHER_NAN, True),
        (NAN, 1.0, False),
        (np.array([1.0, NAN]), np.array([1.0, NAN]), True),
        (np.array([1.0, NAN]), np.array([NAN, 1.0]), False),
        (np.array(["a"]), np.array(["a"]), True),
        (np.array([None, NAN]), np.array([None, OTHER_NAN]), True),
        (np.ones(2), [1.0, 1.0], True),
        (np.ones(2), np.ones(1), False),
        (np.ones(2), 1, False),
        (pd.Series([1.0, NAN]), pd.Series([1.0, NAN]), True),
        (LISTED, {"k": [(1, np.ones(2)), OTHER_NAN]}, True),
        (LISTED, {"k": [(1, np.ones(3)), OTHER_NAN]}, False),
        (LISTED, {"k": [(1, np.ones(2))]}, False),
        (LISTED, {"l": [(1, np.ones(2)), NAN]}, False),
        ([1, 2], (1, 2), False),
        (Odd(), Odd(), False),
    ],
)
def test_equal_results(one, other, is_same):
    failure = bench._difference("a", one, other, bench._equal)
    assert bool(failure) is not is_same
    assert ("give a function same_output=" in failure) is isinstance(one, Odd)


# -- commands


def python(code):
    return [sys.executable, "-c", code]


def test_a_failing_command_is_named_with_its_code_and_its_last_words():
    bad = "import sys; print('first', file=sys.stderr); sys.exit('no licence')"
    killed = "import os; os.kill(os.getpid(), 9)"
    result = racer.bench({"good": "true", "bad": python(bad), "killed": python(killed)}, rounds=1)
    assert result.failures == (
        "bad exited with code 1: no licence (round 1), and is out.",
        "killed was killed by SIGKILL (round 1), and is out.",
    )


def test_commands_get_the_instance_and_the_seed_of_the_round(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    code = "import sys; open(sys.argv[1], 'a').write(' '.join(sys.argv[2:]) + '\\n')"
    commands = [[*python(code), path, "{instance}", "{seed}"] for path in paths]
    result = racer.bench(commands, ["x y", "$z"], rounds=2, warmup=0, seed=5)
    one, other = (path.read_text() for path in paths)
    assert one == other
    assert sorted(line.rpartition(" ")[0] for line in one.splitlines()) == ["$z", "x y"]
    assert len({line.rpartition(" ")[2] for line in one.splitlines()}) == 2
    assert result.race.configs == tuple(map(repr, commands))


def test_commands_print_the_same():
    given = {"a": ["printf", "1\n2\n"], "b": ["printf", "1\n3\n"], "c": ["printf", "1\n2"]}
    result = racer.bench({**given, "d": ["printf", "1\n2\n"]}, same_output=True, rounds=1)
    said = "{} gave another output than a (round 1), and is out."
    assert result.failures == tuple(map(said.format, "bc"))
    assert not racer.bench(given, rounds=1).failures


@pytest.mark.skipif(sys.platform == "win32", reason="programs are refused")
def test_the_time_of_a_command(monkeypatch):
    """Wall time that is no CPU time."""
    clock = SimpleNamespace(perf_counter=iter([1.0, 900.0, 901.0]).__next__)
    monkeypatch.setattr("racer.evaluate.command.timing.time", clock)
    slept = timed(["true"], "/bin/true", None, keep=False)
    assert (slept.wall, slept.cpu == slept.wall) == (899.0, False)
    assert slept.output is None
    assert "cannot be started" in timed(["x"], "/no/such", None, keep=True).failure


async def later():
    return 1


@pytest.mark.parametrize(
    ("programs", "given", "message"),
    [
        ({"a": "true"}, {}, "give two programs or more"),
        (["true", "true"], {}, "give two programs or more, each once"),
        ("true", {}, "programs: give"),
        ({"a": "true", "b": 3}, {}, "program 'b': the command is 3: give"),
        ({"a": "true", "b": "no-such"}, {}, "program 'b': the program 'no-such' cannot be run"),
        ({"a": "true", "b": "echo {instance}"}, {}, "there are no instances"),
        ({"a": "true", "b": "true"}, {"instances": []}, "instances is empty"),
        ({"a": int, "b": lambda x: x}, {}, "program 'b': missing a required argument: 'x'"),
        ({"a": int, "b": later}, {}, "program 'b': a call of it does no work"),
        ({"a": int, "b": float}, {"rounds": 10**12}, "rounds=1000000000000: give at most 1000000"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(programs, given, message):
    with pytest.raises(racer.RacerError, match=message):
        racer.bench(programs, **given)


@pytest.mark.parametrize("instances", [["a", object()], [object(), "a"], ["a", "b\0c"]])
def test_an_instance_that_no_command_can_have_is_a_wrong_setting(instances):
    with pytest.raises(racer.SettingError, match=r"program 'true \{instance\}': "):
        racer.bench(["true {instance}", "true x{instance}"], instances, rounds=2)
