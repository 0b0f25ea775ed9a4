"""Time races of coroutines against a simulated server: slots busy, cells lost, CPU of the driver.

A call takes 50 ms (standard deviation 20, at least 5), 5 % are refused by status 429, and 1 % hang
until a time-out of a second. The result is asserted to be that of calls without any delay, one at
a time.
"""

from __future__ import annotations

import asyncio
import random
import time
import zlib
from typing import TYPE_CHECKING, Any

import click

import racer
from experiments.options import number_option
from experiments.report import print_row

if TYPE_CHECKING:
    from racer.run.drive import Ahead

__all__ = ["main"]

SAME = ["block", "candidate", "value", "status"]
MEAN, SPREAD, LEAST = 0.05, 0.02, 0.005  # seconds
REFUSED, HUNG, TIMEOUT = 0.05, 0.01, 1.0


def score(prompt: int, item: int, seed: int) -> float:
    """Return 1 for a right answer, else 0: items differ, and prompts by 1 % each."""
    ease = zlib.crc32(b"item %d" % item) % 1000 / 2000
    luck = zlib.crc32(b"%d %d %d" % (prompt, item, seed)) % 1000 / 1000
    return float(luck < ease + 0.4 - 0.01 * prompt)


class BusyError(Exception):
    """A refusal, with the status that a client gets."""

    status_code = 429


class Server:
    """A simulated server and its client, which knows the calls and the seconds they take."""

    def __init__(self) -> None:
        self.calls, self.busy, self.rng = 0, 0.0, random.Random(1)  # noqa: S311

    async def evaluate(self, prompt: int, item: int, seed: int) -> float:
        """Answer after a while, if at all."""
        start = time.perf_counter()
        self.calls += 1
        kind = self.rng.random()
        try:
            if REFUSED <= kind < REFUSED + HUNG:
                await asyncio.sleep(600)
            await asyncio.sleep(max(self.rng.gauss(MEAN, SPREAD), LEAST))
        finally:
            self.busy += time.perf_counter() - start
        if kind < REFUSED:
            raise BusyError
        return score(prompt, item, seed)


async def at_once(prompt: int, item: int, seed: int) -> float:
    """Answer without any delay."""
    return score(prompt, item, seed)


@click.command()
@number_option("--prompts", 40)
@number_option("--items", 500)
@number_option("--slots", 32)
def main(prompts: int, items: int, slots: int) -> None:
    """Print a Markdown table: slots busy, cells lost, CPU time of a call."""
    how: dict[str, Any] = {
        "budget": prompts * items,
        "deterministic": True,
        "maximize": True,
        "seed": 1,
    }
    expected = racer.race(range(prompts), at_once, range(items), **how)
    print_row(
        "race", "calls", "wall, s", "slots busy", "cells lost", "CPU of a call, ms", head=True
    )
    races: dict[str, Ahead] = {"5 % refused, 1 % hang": "auto", "the same, ahead=0": 0}
    for name, ahead in races.items():
        server, start, cpu = Server(), time.perf_counter(), time.process_time()
        limits: dict[str, Any] = {"n_jobs": slots, "timeout": TIMEOUT, "ahead": ahead}
        result = racer.race(range(prompts), server.evaluate, range(items), **how, **limits)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        if not result.scores[SAME].equals(expected.scores[SAME]):
            raise AssertionError("the result is not that of one at a time")
        print_row(
            *(name, f"{server.calls:,}", f"{wall:.1f}", f"{server.busy / (slots * wall):.3f}"),
            *(len(result.failures), f"{1e3 * cpu / server.calls:.2f}"),
        )
