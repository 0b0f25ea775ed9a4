"""Time the engines of two checkouts of racer, turn by turn: what each evaluation costs them.

In each round both start anew, in processes of their own whose PYTHONPATH is their checkout, and
are asked for one cell after another, each by one right after the other. So whatever else the
machine does meets both, and the ratio, the median of those of the rounds, says more than the times.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.report import print_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["DECIDERS", "compare", "engine"]

HERE = Path(__file__).resolve().parents[2]
CELLS = Path(__file__).with_name("cells.py")
DECIDERS = ("one test", "f-race", "bayesian-friedman", "best-for-budget")


def requests(deciders: Sequence[str], evaluations: int, tuned: int) -> Iterator[dict[str, Any]]:
    """Yield the cells: races of 10 and 100 candidates, and a tuning, without a store and with."""
    for store in (False, True):
        for decider, m in product(deciders, (10, 100)):
            yield {"decider": decider, "candidates": m, "evaluations": evaluations, "store": store}
        yield {"decider": "tuning", "candidates": 0, "evaluations": tuned, "store": store}


def engine(stack: ExitStack, checkout: Path) -> subprocess.Popen[str]:
    """Start a process that times the racer of a checkout; it ends with the stack.

    As that racer may not be installed, or under another name, it is given metadata to find.
    """
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    name = project["name"].replace("-", "_")
    installed = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    metadata = installed / f"{name}-0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n", "utf-8")
    process = subprocess.Popen(  # noqa: S603  (our own script)
        [sys.executable, "-P", "-W", "ignore", CELLS, checkout],
        env={**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{installed}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.enter_context(process)
    read(process)  # that it is ready
    return process


def read(process: subprocess.Popen[str]) -> str:
    """Return the next line that a process prints."""
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise click.ClickException("an engine ended early, as it says above")
    return line


def ask(process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request."""
    print(json.dumps(request), file=process.stdin, flush=True)
    answer: dict[str, Any] = json.loads(read(process))
    return answer


def one_round(cells: Sequence[dict[str, Any]], other: Path, *, swapped: bool) -> list[Any]:
    """Return for each cell the answers of this checkout and of the other."""
    with ExitStack() as stack:
        sides = [engine(stack, checkout) for checkout in (HERE, other)]
        answers = []
        for cell in cells:
            pair = [ask(side, cell) for side in (sides[::-1] if swapped else sides)]
            answers.append(pair[::-1] if swapped else pair)
        return answers


def compare(
    other: Path, *, deciders: Sequence[str], evaluations: int, tuned: int, rounds: int
) -> dict[str, float]:
    """Print a Markdown table of CPU microseconds per evaluation, here and in another checkout.

    Candidates per block show whether both had the same races: where a decider was changed they
    may differ, and then so does its work. Return the ratio of the minima for each cell: less noisy
    than the median, but blind to a slowdown of some rounds only.
    """
    minima = {}
    cells = list(requests(deciders, evaluations, tuned))
    taken = [one_round(cells, other, swapped=bool(turn % 2)) for turn in range(rounds)]
    print_row(
        *("decider", "candidates", "store", "here, us", "there, us", "ratio"),
        *("a block here", "there"),
        head=True,
    )
    for cell, pairs in zip(cells, zip(*taken, strict=True), strict=True):
        times = [[answer["us"] for answer in pair] for pair in pairs]
        ratios = [here / there for here, there in times if here and there]
        where = "with a store" if cell["store"] else "without a store"
        if ratios:
            least = [min(filter(None, column)) for column in zip(*times, strict=True)]
            minima[f"{cell['decider']}, {cell['candidates'] or '-'}, {where}"] = least[0] / least[1]
        print_row(
            *(cell["decider"], cell["candidates"] or "-", "yes" if cell["store"] else "no"),
            *(median(column, 1) for column in zip(*times, strict=True)),
            median(ratios, 2),
            *(median([answer["alive"]], 1) for answer in pairs[0]),
        )
    return minima


def median(values: Sequence[float | None], digits: int) -> str:
    """Return the median as text; "-" where there is none."""
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.{digits}f}" if known else "-"
