"""Time races of coroutines against a simulated server: slots busy, cells lost, CPU of the driver.

A call takes 50 ms (standard deviation 20, at least 5), 5 % are refused by status 429, and 1 % hang
until a time-out of a second. The result is asserted to be that of calls without any delay, one at
a time. "all stay": a decider whose eliminations are not heeded, so that every cell is evaluated.
"limit": instead the server refuses calls beyond 300 a second, a tenth of which may come at once;
"window": beyond 600 in each two seconds, and names the time that is left of them (Retry-After).
"""

from __future__ import annotations

import asyncio
import random
import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

import racer
from experiments.bench.tools import Withheld
from experiments.options import number_option
from experiments.report import print_row
from racer.deciders import BayesianFriedman

if TYPE_CHECKING:
    from racer.run.drive import Ahead

__all__ = ["Server", "main", "score"]

SAME = ["block", "candidate", "value", "status"]
MEAN, SPREAD, LEAST = 0.05, 0.02, 0.005  # seconds
LIMIT = 300.0  # calls a second
TIMEOUT = 1.0


def score(prompt: int, item: int, seed: int) -> float:
    """Return 1 for a right answer, else 0: items differ, and prompts by 1 % each."""
    ease = zlib.crc32(b"item %d" % item) % 1000 / 2000
    luck = zlib.crc32(b"%d %d %d" % (prompt, item, seed)) % 1000 / 1000
    return float(luck < ease + 0.4 - 0.01 * prompt)


class Busy(Exception):  # noqa: N818  (the status that a client gets)
    """A refusal."""

    status_code = 429

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__("too many requests")
        self.headers = headers


@dataclass
class Server:
    """A simulated server and its client.

    Attributes
    ----------
    refused, hung : float
        Shares of the calls.
    limit : float
        Calls a second beyond which it refuses.
    window : float
        Seconds of which the calls may come at once.
    names_pause : bool
        It names the time to wait, up to the next window; else its limit is a bucket of tokens.
    """

    refused: float = 0.05
    hung: float = 0.01
    limit: float = 1e9
    window: float = 0.1
    names_pause: bool = False
    answered: float = 0.0  # seconds of calls that were answered
    busy: float = 0.0  # seconds of all calls
    calls: int = 0
    refusals: int = 0
    rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311
    _used: float = 0.0  # calls of this window, or tokens taken
    _at: float = 0.0

    async def evaluate(self, prompt: int, item: int, seed: int) -> float:
        """Answer after a while, if at all."""
        start = time.perf_counter()
        self.calls += 1
        try:
            await self._wait(start)
            self.answered += time.perf_counter() - start
        finally:
            self.busy += time.perf_counter() - start
        return score(prompt, item, seed)

    async def _wait(self, now: float) -> None:
        if not self.names_pause:
            self._used = max(self._used - (now - self._at) * self.limit, 0.0)
        elif now // self.window != self._at // self.window:
            self._used = 0.0
        self._at = now
        is_over = self._used + 1.0 > self.limit * self.window
        self._used += not is_over
        kind = self.rng.random()
        is_refused = is_over or kind < self.refused
        if not is_refused and kind < self.refused + self.hung:
            await asyncio.sleep(600)
        await asyncio.sleep(max(self.rng.gauss(MEAN, SPREAD), LEAST))
        if is_refused:
            self.refusals += 1
            left = self.window - time.perf_counter() % self.window
            raise Busy({"Retry-After": f"{left:.3f}"} if self.names_pause else {})


async def at_once(prompt: int, item: int, seed: int) -> float:
    """Answer without any delay."""
    return score(prompt, item, seed)


def measured(
    prompts: int, items: int, slots: int, server: Server, decider: Any, ahead: Ahead
) -> tuple[float, float, float, racer.RaceResult]:
    """Return wall seconds, CPU seconds of the process and of this thread, and the result."""
    how: dict[str, Any] = {
        "budget": prompts * items,
        "deterministic": True,
        "decider": decider,
        "maximize": True,
        "seed": 1,
    }
    expected = racer.race(range(prompts), at_once, range(items), **how)
    start, cpu, thread = time.perf_counter(), time.process_time(), time.thread_time()
    how |= {"n_jobs": slots, "timeout": TIMEOUT, "ahead": ahead}
    result = racer.race(range(prompts), server.evaluate, range(items), **how)
    took = time.perf_counter() - start, time.process_time() - cpu, time.thread_time() - thread
    if not (
        result.scores[SAME].equals(expected.scores[SAME])
        and result.probability_best == expected.probability_best
        and result.eliminations.equals(expected.eliminations)
        and (result.best, result.ended) == (expected.best, expected.ended)
    ):
        raise AssertionError("the result is not that of one at a time")
    return *took, result


@click.command()
@number_option("--prompts", 40)
@number_option("--items", 500)
@number_option("--slots", 32)
def main(prompts: int, items: int, slots: int) -> None:
    """Print a Markdown table: slots busy, refused calls, cells lost, CPU time of a call."""
    head = ("race", "cells", "calls", "refused", "wall, s", "busy", "answered", "lost", "unused")
    print_row(*head, "CPU, ms", "driver, ms", head=True)
    stay: Any = Withheld(BayesianFriedman())
    races: tuple[tuple[str, Server, Any, Ahead], ...] = (
        ("5 % refused, 1 % hang", Server(), None, "auto"),
        ("the same, ahead=0", Server(), None, 0),
        ("the same, all stay", Server(), stay, "auto"),
        ("limit, all stay", Server(0.0, 0.0, LIMIT), stay, "auto"),
        ("window, all stay", Server(0.0, 0.0, LIMIT, 2.0, names_pause=True), stay, "auto"),
    )
    for name, server, decider, ahead in races:
        wall, cpu, thread, result = measured(prompts, items, slots, server, decider, ahead)
        total = slots * wall
        print_row(
            *(name, f"{result.evaluations:,}", f"{server.calls:,}"),
            *(f"{server.refusals / server.calls:.3f}", f"{wall:.1f}"),
            *(f"{server.busy / total:.3f}", f"{server.answered / total:.3f}"),
            *(str(len(result.failures)), str(result.unused.cells)),
            *(f"{1e3 * cpu / server.calls:.2f}", f"{1e3 * thread / server.calls:.2f}"),
        )
