"""`racer.bench`: which program is faster, in interleaved rounds that stop when it is sure."""

from __future__ import annotations

import inspect
import operator
import reprlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import flag, suggests, whole
from racer.core.events import Ended
from racer.core.pool import as_instances
from racer.deciders.faster import FasterRace
from racer.errors import ObjectiveError, RaceInterrupted, SettingError
from racer.evaluate.command.command import Command
from racer.evaluate.command.timing import Printout
from racer.evaluate.objective import describe
from racer.evaluate.outcome import Outcome
from racer.racing.race import Race
from racer.results.bench import BenchEnded, BenchResult, Failed
from racer.run.signals import GracefulStop
from racer.seeding import check_seed, rng_for

if TYPE_CHECKING:
    from os import PathLike

    from racer.evaluate.outcome import Cell

    Line = str | Sequence[str | PathLike[str]] | Command
    Program = Callable[..., Any] | Line

__all__ = ["Measured", "bench", "raced"]

_BATCH = 1e-4  # seconds that a batch of calls of a function takes at least
_BATCHES = 5  # and so many of them, of such seconds together; but no further one after the longest
_LONG, _LONGEST = 1e-3, 1e-2
_MOST_ROUNDS = 1_000_000
_SHORTEST = 1e-9  # seconds: no time is 0
_ENDS: dict[Ended, BenchEnded] = {
    Ended.DECIDED: "decided",
    Ended.SETTLED: "within margin",
    Ended.ALL_REJECTED: "failed",
    Ended.INTERRUPTED: "interrupted",
}


class Measured(NamedTuple):
    """One run: its seconds, why it failed ("": it did not), and its output."""

    seconds: float
    failure: str = ""
    output: Any = None


Measure = Callable[
    [int, Any, int], Measured
]  # of a program, by number, on an instance, with a seed
Same = Callable[[Any, Any], Any]


@suggests
def bench(
    programs: Mapping[str, Program] | Sequence[Line],
    instances: Sequence[Any] | None = None,
    *,
    margin: float = 0.02,
    rounds: int = 200,
    warmup: int = 1,
    cpu: bool = False,
    same_output: bool | Same = False,
    alpha: float = 0.05,
    seed: int | None = None,
    progress: bool = False,
) -> BenchResult:
    """Find the fastest program, or function; stop when it is sure.

    In a round each program runs once, in random order, on the same instance: a clock that drifts,
    or a burst of other work, then favours none. The signs of their ratios are evidence that may be
    looked at after each round. A program that is slower than another is out; when the others are
    as fast as the first, within the margin, the benchmark ends.

    Parameters
    ----------
    programs : mapping of str to function or command, or sequence of commands
        A function is called as ``f()``, with instances as ``f(instance)``, which it must not
        change. Short calls are repeated for a millisecond or more, and the median counts. A command
        is a line of text, a list of arguments or a `Command`; ``{instance}`` and ``{seed}``, the
        same for all programs of a round, have places as in `racer.Command`.
    instances : sequence, optional
        Inputs, one for each round, in random order; when all were used, again in another order.
    margin : float >= 0
        Programs whose median ratio is within 1 / (1 + margin) and 1 + margin are as fast as each
        other. 0: equal programs run until the last round.
    rounds : int
        Maximum number of rounds.
    warmup : int
        Rounds before the first, which do not count.
    cpu : bool
        Compare CPU times (user and system, of a program and all that it waits for), not wall times.
    same_output : bool or callable
        True: output (of a function: result) that differs from the first program's in the same
        round is a failure; NaN equals NaN. For functions, ``same(one, other)`` may compare two
        results.
    alpha : float in (0, 0.5)
        Probability that any statement of the result is false.
    seed : int >= 0, optional
        Of the orders of programs and instances; None draws one.
    progress : bool
        Show the rounds, as in `racer.race`.

    Returns
    -------
    BenchResult
        A program that fails (exit code, signal, exception) is out, see `BenchResult.failures`.

    Raises
    ------
    SettingError, CandidateError, ObjectiveError
        Invalid settings, before anything is run.
    RaceInterrupted
        Ctrl-C (it is a KeyboardInterrupt), SIGTERM or SIGHUP; its `result` is the result so far.

    References
    ----------
    Ramdas, Ruf, Larsson, Koolen: Admissible anytime-valid sequential inference must rely on
    nonnegative martingales (arXiv:2009.03167, 2020).

    Examples
    --------
    >>> import racer
    >>> words = ["".join(chr(97 + i * j % 26) for j in range(9)) for i in range(2000)]
    >>> known = set(words)
    >>> result = racer.bench({"list": lambda: "x" in words, "set": lambda: "x" in known})
    >>> result.fastest
    'set'
    """
    named = _named(programs)
    items = as_instances(instances)
    runs = [_runner(name, program, items, cpu=flag(cpu, "cpu")) for name, program in named.items()]
    same: Same | None = None
    if callable(same_output):
        if commands := [name for name, program in named.items() if _is_command(program)]:
            raise SettingError(
                f"same_output is a function, but {commands[0]!r} is a command: give True, which "
                "compares printed output"
            )
        same = same_output
    elif flag(same_output, "same_output"):
        same = _equal
    keep = same is not None

    def measure(program: int, instance: Any, seed: int) -> Measured:
        return runs[program](instance, seed, keep)

    return raced(
        list(named),
        measure,
        items,
        margin=margin,
        rounds=rounds,
        warmup=warmup,
        cpu=bool(cpu),
        same=same,
        alpha=alpha,
        seed=seed,
        progress=progress,
    )


def raced(
    names: Sequence[str],
    measure: Measure,
    instances: Sequence[Any] | None = None,
    *,
    margin: float = 0.02,
    rounds: int = 200,
    warmup: int = 0,
    cpu: bool = False,
    same: Same | None = None,
    alpha: float = 0.05,
    seed: int | None = None,
    progress: bool = False,
) -> BenchResult:
    """Race programs by their times, which `measure` returns: a block of the race is a round.

    There is one run at a time, and nothing is prefetched: so this drives the race itself.
    """
    whole(warmup, "warmup", least=0)
    if whole(rounds, "rounds", least=1) > _MOST_ROUNDS:
        raise SettingError(f"rounds={reprlib.repr(rounds)}: give at most {_MOST_ROUNDS}")
    seed = check_seed(seed)
    m = len(names)
    race = Race(
        names,
        _drawn(instances, rounds, seed),
        decider=FasterRace(alpha=alpha, margin=margin),
        budget=rounds * m,
        seed=seed,
        deterministic=True,
        first_test=1,
        each_test=1,
    )
    race.warns_of_failed_blocks = False  # all that failed are named in the result
    display: Any = None
    if flag(progress, "progress"):
        from racer.run.progress import Progress  # noqa: PLC0415  (Rich, only where needed)

        display = Progress()
        race.watch(display)
    orders = rng_for(seed, "bench", "orders")
    stop = GracefulStop(_interrupt)
    try:
        with stop, display or nullcontext():
            if display is not None:
                display.begin(race, 1, lambda: 1)
            for _ in range(warmup):
                for i in orders.permutation(m).tolist():
                    measure(i, race.instances and race.instances[0], seed)
            while cells := race.ask():
                order = orders.permutation(len(cells)).tolist()
                told = _outcomes(_measured(cells, order, measure), cells, same)
                for cell, outcome in zip(cells, told, strict=True):
                    race.tell(cell, outcome)
    except KeyboardInterrupt:
        raise RaceInterrupted(_result(race, cpu=cpu), code=stop.code) from None
    return _result(race, cpu=cpu)


def _interrupt(_: str) -> None:
    """Stop at once, so that the program that runs is killed: there is nothing to record."""
    raise KeyboardInterrupt


def _drawn(instances: Sequence[Any] | None, rounds: int, seed: int) -> list[Any]:
    """Return the instance of each round: all of them in random order, again and again."""
    if instances is None:
        return [None] * rounds
    rng, drawn = rng_for(seed, "bench", "instances"), list[Any]()
    while len(drawn) < rounds:
        drawn += [instances[i] for i in rng.permutation(len(instances)).tolist()]
    return drawn[:rounds]


def _measured(cells: Sequence[Cell], order: Sequence[int], measure: Measure) -> list[Measured]:
    """Run the programs of a round in an order; return their runs in the order of cells."""
    found = {i: measure(cells[i].candidate, cells[i].instance, cells[i].seed) for i in order}
    return [found[i] for i in range(len(cells))]


def _outcomes(
    found: Sequence[Measured], cells: Sequence[Cell], same: Same | None
) -> Iterator[Outcome]:
    """Yield the outcomes of a round; a program that failed is rejected, so that it is out."""
    first = next((i for i, run in enumerate(found) if not run.failure), 0)
    for i, run in enumerate(found):
        failure = run.failure
        if same is not None and not failure and i != first:
            failure = _other_output(found[first].output, run.output, cells[first].config, same)
        seconds = max(run.seconds, _SHORTEST)
        if failure:
            yield Outcome("rejected", None, seconds=seconds, message=failure)
        else:
            yield Outcome("ok", seconds, seconds=seconds)


def _other_output(expected: Any, output: Any, name: str, same: Same) -> str:
    """Return how an output differs from the expected one; "" if it does not."""
    try:
        if same(expected, output):
            return ""
    except Exception as error:  # noqa: BLE001  (arrays of other shapes, say)
        advice = "; give same_output=, a function of two results" if same is _equal else ""
        return (
            f"returned a value that cannot be compared with the output of {name} "
            f"({describe(error)}){advice}"
        )
    if isinstance(expected, Printout) and isinstance(output, Printout):
        where = output.difference(expected)
        return f"printed something else than {name}" + (f": {where}" if where else "")
    return f"returned something else than {name}"


def _equal(one: Any, other: Any) -> bool:
    """Return whether two results are equal: NaN is equal to NaN, also within arrays and lists."""
    with suppress(Exception):  # arrays in lists, say, are compared one by one
        if operator.eq(one, other) is True:
            return True
    if type(one) is type(other) and type(one) in {list, tuple}:
        return len(one) == len(other) and all(map(_equal, one, other))
    if type(one) is type(other) is dict:
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            return False
    are_nan = operator.ne(one, one) & operator.ne(other, other)
    return bool(np.all(operator.eq(one, other) | are_nan))


def _result(race: Race, *, cpu: bool) -> BenchResult:
    state = race.result()
    rules, instances = state.rules, race.instances or ()
    decider: Any = rules.decider
    failures = [
        Failed(race.configs[candidate], block + 1, instances[block], outcome.message)
        for block, candidate, outcome in state.known.cells()
        if outcome.status == "rejected"
    ]
    return BenchResult(
        programs=tuple(race.configs),
        ended=_ENDS.get(state.ended, "rounds"),
        failures=tuple(failures),
        evaluations=state.evaluations,
        margin=decider.margin,
        alpha=decider.alpha,
        cpu=cpu,
        seed=state.seed,
        _times=state.known.values(len(race.configs)),
        _left=race.ranked,
    )


def _named(programs: Any) -> dict[str, Program]:
    """Return programs by name; commands without one are called as they are written."""
    if isinstance(programs, Mapping):
        named = dict(programs)
    elif isinstance(programs, str) or not isinstance(programs, Sequence):
        raise SettingError(
            'programs: give {"name": function or command, ..}, or a list of commands'
        )
    else:
        named = {}
        for program in programs:
            text = program if isinstance(program, str) else repr(program)
            if not text.strip():
                raise SettingError("a command is empty: give a program and its arguments")
            if not _is_command(program):
                raise SettingError(f'{text} has no name: give {{"name": function, ..}}')
            again = sum(name == text or name.startswith(f"{text} #") for name in named)
            named[f"{text} #{again + 1}" if again else text] = program
    if not all(isinstance(name, str) and name for name in named):
        raise SettingError("programs: a name is text, and not empty")
    if len(named) < 2:
        raise SettingError(f"{len(named)} program to compare: give two or more")
    return named


Runner = Callable[[Any, int, bool], Measured]


def _runner(name: str, program: Any, instances: Sequence[Any] | None, *, cpu: bool) -> Runner:
    """Return a function that runs a program once; an error names the program."""
    try:
        if _is_command(program):
            return _command(program, instances, cpu=cpu)
        return _function(program, instances, cpu=cpu)
    except (SettingError, ObjectiveError) as error:
        raise type(error)(f"program {name!r}: {error}") from None


def _is_command(program: object) -> bool:
    return isinstance(program, Command) or not callable(program)


def _command(program: Any, instances: Sequence[Any] | None, *, cpu: bool) -> Runner:
    if not isinstance(program, str | Sequence | Command):
        raise SettingError(f"give a function or a command, not {reprlib.repr(program)}")
    command = program if isinstance(program, Command) else Command(program)
    try:
        command.check([{}], None if instances is None else [instances[0]])
        if instances is not None:
            if command.argv({}, "a", 0) == command.argv({}, "b", 0):
                raise SettingError("there are instances, but the command has no {instance}")
            command.check([{}], instances)
    except ObjectiveError as error:  # the command is a setting here
        raise SettingError(str(error)) from None

    def run(instance: Any, seed: int, keep: bool) -> Measured:
        found = command.timed(instance, seed, keep=keep)
        return Measured(found.cpu if cpu else found.wall, found.failure, found.printout)

    return run


def _function(
    function: Callable[..., Any], instances: Sequence[Any] | None, *, cpu: bool
) -> Runner:
    clock = time.process_time if cpu else time.perf_counter
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise ObjectiveError("calling it does no work: give a plain function (asyncio.run(..))")
    try:
        inspect.signature(function).bind(*(() if instances is None else (None,)))
    except TypeError as error:
        call = "f()" if instances is None else "f(instance)"
        raise ObjectiveError(f"it cannot be called as {call}: {error}") from None
    except ValueError:  # some builtins have no signature
        pass

    def run(instance: Any, seed: int, keep: bool) -> Measured:  # noqa: ARG001
        try:
            seconds, output = _call(function, () if instances is None else (instance,), clock)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (SystemExit, too, is the function's own)
            return Measured(0.0, f"raised {describe(error, where=True)}")
        return Measured(seconds, "", output)

    return run


def _call(
    function: Callable[..., Any], given: tuple[Any, ...], clock: Callable[[], float]
) -> tuple[float, Any]:
    """Return the seconds of a call, and its output.

    The median over batches of calls, so that one in which other work had the processor does not
    count; a batch that is too short for the clock is doubled.
    """
    means, total, calls = list[float](), 0.0, 1
    while True:
        start = clock()
        for _ in repeat(None, calls):
            output = function(*given)
        taken = clock() - start
        total += taken
        means.append(taken / calls)
        if total >= _LONGEST or (total >= _LONG and len(means) >= _BATCHES and taken >= _BATCH):
            return statistics.median(means), output
        if taken < _BATCH:
            means, calls = [], 2 * calls
