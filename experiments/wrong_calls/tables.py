"""All wrong calls, made and counted."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.report import print_row
from experiments.wrong_calls.command_line import command_lines
from experiments.wrong_calls.kinds import Call, calls_of, judged
from experiments.wrong_calls.numbers import (
    comparison_targets,
    decider_targets,
    simulation_targets,
    statistics_targets,
)
from experiments.wrong_calls.plugins import plugin_targets
from experiments.wrong_calls.runs import race_targets, store_targets, told_targets
from experiments.wrong_calls.values import space_targets, value_targets

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["calls", "main"]


def calls(folder: Path, only: str = "") -> Iterator[Call]:
    """Yield all wrong calls; files that they need are made in `folder`."""
    with contextlib.chdir(folder):
        groups = [
            *(
                race_targets(),
                told_targets(),
                store_targets(folder),
                value_targets(),
                space_targets(),
                decider_targets(),
                statistics_targets(),
            ),
            *(simulation_targets(), comparison_targets(), plugin_targets()),
        ]
        for group in groups:
            for target in group:
                if re.search(only, target.name):
                    yield from calls_of(target)
        if re.search(only, "racer"):
            (folder / "scenario.txt").write_text("nonsense = {")
            yield from (c for c in command_lines(folder) if re.search(only, c.target))


@click.command()
@click.option("--only", default="", help="A pattern of targets.")
@click.option("--show", is_flag=True, help="List what is not refused, or does not name it.")
def main(*, only: str, show: bool) -> None:
    """Make wrong calls, and count how they end."""
    tally: dict[str, Counter[str]] = {}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for call in calls(Path(folder), only):
            how, said = judged(call)
            tally.setdefault(call.target, Counter())[how] += 1
            if how != "refused":
                wrong.append((how, call, said))
    kinds = ("refused", "unnamed", "raw", "evaluated", "accepted")
    print_row("call", *kinds, head=True)
    for target, counts in [*tally.items(), ("**all**", sum(tally.values(), Counter()))]:
        print_row(target, *(counts[kind] for kind in kinds))
    if show:
        for how, call, said in wrong:
            print(
                f"{how}: {call.target}({call.argument}={call.value}): {said[:200]}", file=sys.stderr
            )
    sys.exit(bool(wrong))
