"""Measure how often each decider drops whom it should not, and what its races cost.

Run:  python scripts/error_rates.py [--deciders "f-race t-race"] [--csv PATH]

Races in which all candidates are equal, and in which one is better by 0.1, 0.25, 0.5 and 1
standard deviations of the noise (of its scale where it has none); 2, 10 and 30 candidates; 10, 50
and 200 blocks, with a look after each from the fifth on (the library's first_test and each_test);
normal and Student t(2) noise, and normal noise on instances of unequal scale. Prints, in percent
with standard errors, the races that drop a best candidate (where all are equal: the share of the
candidates that is dropped), the races that drop anyone, and the blocks and observations used; at
the end, one line per decider. All deciders meet the same races.
"""

from __future__ import annotations

import math
import sys
from itertools import product
from pathlib import Path

import click
import joblib

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.error_rates.rates import ROWS, WORLDS, Cell, Design, Rates, measure
from experiments.error_rates.tables import grid, summary
from experiments.report import csv_option, run_options, several, takes, with_progress, write

FIRST_LOOK = 5


@click.command()
@click.option(
    "--deciders",
    default=" ".join(ROWS),
    callback=several(click.Choice(list(ROWS))),
    help=f'Which, as "f-race t-race"; by default all: {", ".join(ROWS)}.',
)
@click.option(
    "--worlds",
    default=" ".join(WORLDS),
    show_default=True,
    callback=several(click.Choice(list(WORLDS))),
)
@click.option(
    "--candidates",
    default="2 10 30",
    show_default=True,
    callback=several(click.IntRange(2)),
)
@click.option(
    "--effects",
    default="0 0.1 0.25 0.5 1",
    show_default=True,
    callback=several(click.FloatRange(0.0, 1e6)),
    help="By how many standard deviations one candidate is better; 0 is all equal.",
)
@click.option(
    "--blocks",
    default="10 50 200",
    show_default=True,
    callback=several(click.IntRange(FIRST_LOOK)),
    help="When to count: a longer race contains the shorter ones.",
)
@click.option("--summary", "only_summary", is_flag=True, help="Print one line per decider only.")
@run_options(400)
@csv_option
def main(
    deciders: tuple[str, ...],
    worlds: tuple[str, ...],
    candidates: tuple[int, ...],
    effects: tuple[float, ...],
    blocks: tuple[int, ...],
    only_summary: bool,
    repetitions: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
) -> None:
    """Print how often each decider drops whom it should not, and what its races cost."""
    if any(map(math.isnan, effects)):
        raise click.BadParameter("nan is not a number", param_hint="--effects")
    design = Design(repetitions, jobs, seed, blocks)
    cells = [
        Cell(decider, world, m, effect)
        for world, m, effect, decider in product(worlds, candidates, effects, deciders)
    ]
    seconds = [cell.expected_seconds(design) for cell in cells]
    print(f"Error rates: {len(cells)} cells, {design}.")
    print(f"{takes(math.fsum(seconds), jobs)}\n", flush=True)
    rates: list[Rates] = []
    batch = -(-repetitions // (4 * jobs))
    with joblib.Parallel(n_jobs=jobs, batch_size=batch) as pool:
        for cell in with_progress(cells, seconds, jobs, str):
            rates += measure(cell, design, pool)
    if not only_summary:
        print("\n".join(grid(rates)))
    print(summary(rates))
    write(csv_path, [each.row(design) for each in rates])


if __name__ == "__main__":
    main()
