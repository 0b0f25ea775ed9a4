"""`racer.bench`: which program is faster, in interleaved rounds that stop when it is sure."""

from __future__ import annotations

import inspect
import math
import reprlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import flag, is_one_of, whole
from racer._entry import entry
from racer.core.arguments import Instances
from racer.core.events import BlockCompleted
from racer.core.pool import as_instances
from racer.deciders.faster import FasterRace
from racer.deciders.gate import GateRace
from racer.errors import ObjectiveError, RaceInterrupted, SettingError
from racer.evaluate.command.command import Command
from racer.evaluate.command.timing import Timed
from racer.evaluate.objective import Misbehaved, describe
from racer.results.bench import BenchResult
from racer.run.calls import race
from racer.run.signals import GracefulStop
from racer.seeding import check_seed, rng_for

if TYPE_CHECKING:
    from os import PathLike

    Line = str | Sequence[str | PathLike[str]] | Command
    Program = Callable[..., Any] | Line

__all__ = ["bench"]


@entry
def bench(
    programs: Mapping[str, Program] | Sequence[Line],
    instances: Sequence[Any] | None = None,
    *,
    margin: float = 0.02,
    rounds: int = 200,
    warmup: int = 1,
    cpu: bool = False,
    same_output: bool | Callable[[Any, Any], Any] = False,
    baseline: str | None = None,
    alpha: float = 0.05,
    seed: int | None = None,
    progress: bool | None = None,
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
    baseline : str, optional
        Name of one of two programs: end as soon as it is sure whether the other one is slower by
        more than the margin, see `BenchResult.answer`.
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
    SettingError, CandidateError
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
    named, items, seed = _named(programs, baseline), as_instances(instances), check_seed(seed)
    faster = FasterRace(alpha=alpha, margin=margin)
    gated = None if baseline is None else GateRace(alpha, math.log1p(margin), by="ratios")
    keep = callable(same_output) or flag(same_output, "same_output")
    same: Any = same_output if callable(same_output) else _equal
    runs = {name: _runner(name, named[name], items, cpu=flag(cpu, "cpu")) for name in named}
    turns = chain([1 + whole(warmup, "warmup", least=0)], repeat(1))
    orders, alive = rng_for(seed, "bench", "orders"), list(named)
    found: dict[str, Timed] = {}  # of this round

    def evaluate(name: str, instance: Any, seed: int) -> float:
        """Return the seconds of a program; the first of a round lets all run that are in."""
        if not found:
            for _ in range(next(turns)):
                for i in orders.permutation(len(alive)).tolist():
                    found[alive[i]] = runs[alive[i]](instance, seed, keep=keep)
            first, *others = [one for one in alive if not found[one].failure] or alive[:1]
            for one in others if keep else ():
                why = _difference(first, found[first].output, found[one].output, same)
                found[one] = found[one]._replace(failure=why)
        run = found.pop(name)
        if run.failure:
            raise Misbehaved("rejected", run.failure)  # so that it is out
        return max(run.cpu if cpu else run.wall, 1e-9)  # no time is 0

    def watch(event: object) -> None:
        if isinstance(event, BlockCompleted):
            alive[:] = [name for i, name in enumerate(named) if i in event.alive]

    drawn, stop = _drawn(items or (None,), rounds, seed), GracefulStop(_interrupt)
    try:
        with stop:
            result = race(
                list(named),
                evaluate,
                Instances(drawn, deterministic=True),
                budget=rounds * len(named),
                decider=gated or faster,
                seed=seed,
                progress=progress,
                callbacks=[watch],
            )
    except RaceInterrupted as error:
        error.result, error.code = BenchResult(race=error.result, cpu=cpu), stop.code
        raise
    return BenchResult(race=result, cpu=cpu)


def _interrupt(_: str) -> None:
    """Stop at once, so that the program that runs is killed: there is nothing to record."""
    raise KeyboardInterrupt


def _drawn(instances: Sequence[Any], rounds: int, seed: int) -> list[Any]:
    """Return the instance of each round: all of them in random order, again and again."""
    if whole(rounds, "rounds", least=1) > 10**6:
        raise SettingError(f"rounds={reprlib.repr(rounds)}: give at most 1000000")
    rng, turns = rng_for(seed, "bench", "instances"), -(-rounds // len(instances))
    return [instances[i] for _ in range(turns) for i in rng.permutation(len(instances))][:rounds]


def _difference(name: str, expected: Any, output: Any, same: Any) -> str:
    """Return how an output differs from the expected one, of `name`; "" if it does not."""
    try:
        if same(expected, output):
            return ""
        why = ""
    except Exception as error:  # noqa: BLE001  (arrays of other shapes, say)
        why = f", or one that cannot be compared ({describe(error)}): give a function same_output="
    return f"gave another output than {name}{why}"


def _equal(one: Any, other: Any) -> bool:
    """Return whether two results are equal: NaN is equal to NaN, also within arrays and lists."""
    with suppress(Exception):  # arrays in lists, say, are compared one by one
        if (one == other) is True:
            return True
    if type(one) is type(other) and isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if type(one) is type(other) is dict:
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    is_alike = np.shape(one) == np.shape(other)
    return is_alike and bool(np.all((one == other) | ((one != one) & (other != other))))  # noqa: PLR0124  (NaN)


def _named(programs: Any, baseline: str | None) -> dict[str, Program]:
    """Return programs by name, first the baseline; a command without name is called as it is written."""
    if isinstance(programs, str) or not isinstance(programs, Mapping | Sequence):
        raise SettingError('programs: give {"name": program, ..}, or a list of commands')
    texts = (one if isinstance(one, str) else repr(one) for one in programs)
    named = dict(programs if isinstance(programs, Mapping) else zip(texts, programs, strict=True))
    if len(named) < max(len(programs), 2):
        raise SettingError("give two programs or more, each once or with names: {name: program}")
    if baseline is None:
        return named
    if not is_one_of(baseline, [*named]) or len(named) > 2:
        raise SettingError(f"baseline={baseline!r}: give the name of one of two programs")
    return {baseline: named[baseline], **named}


def _runner(name: str, program: Any, instances: Sequence[Any] | None, *, cpu: bool) -> Any:
    """Return a function of (instance, seed, *, keep) that runs a program once, and is `Timed`."""
    given = () if instances is None else (None,)
    try:
        if isinstance(program, Command) or not callable(program):
            command = program if isinstance(program, Command) else Command(program)
            command.check([{}], instances)
            return command.timed
        with suppress(ValueError):  # some builtins have no signature
            inspect.signature(program).bind(*given)
    except (SettingError, ObjectiveError, TypeError) as error:
        raise SettingError(f"program {name!r}: {error}") from None
    if inspect.iscoroutinefunction(program) or inspect.isgeneratorfunction(program):
        raise SettingError(f"program {name!r}: a call of it does no work: give a plain function")
    return partial(_timed, program, time.process_time if cpu else time.perf_counter, len(given))


def _timed(
    function: Any, clock: Callable[[], float], n: int, instance: Any, _seed: int, *, keep: bool
) -> Timed:
    """Return the seconds of a call with n arguments, and its output.

    The median over batches of calls, so that one in which other work had the processor does not
    count; a batch that is too short for the clock is doubled.
    """
    means, total, calls, given = list[float](), 0.0, 1, (instance,) * n
    try:
        # five batches, of a millisecond together; no further one after ten
        while total < 1e-2 and (total < 1e-3 or len(means) < 5):
            start = clock()
            for _ in repeat(None, calls):
                output = function(*given)
            taken = clock() - start
            total += taken
            means.append(taken / calls)
            # too short for the clock
            if taken < 1e-4 and total < 1e-2:
                means, calls = [], 2 * calls
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (SystemExit, too, is the function's own)
        return Timed(0.0, 0.0, f"raised {describe(error, where=True)}", None)
    seconds = statistics.median(means)
    return Timed(seconds, seconds, "", output if keep else None)
