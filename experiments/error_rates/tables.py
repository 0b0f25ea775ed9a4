"""How often each decider drops a best candidate, and what its races cost: a grid and a summary.

Races in which all candidates are equal, and in which one is better by 0.25 and 1 standard
deviations of the noise (of its scale where it has none); 2, 10 and 30 candidates; 10, 50 and 200
blocks, with the library's first_test and each_test; normal and Student t(2) noise, normal noise
on instances of unequal scale, candidates that interact with instances, and rare failures. In percent with
standard errors: the races that drop a best candidate (where all are equal: the fraction of the
candidates that is dropped), the races that drop any, and the blocks and observations used; at the
end, one line per decider. All deciders meet the same races.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import click
import joblib

from experiments.error_rates.rates import ROWS, WORLDS, Cell, Design, Rates, label, level, measure
from experiments.options import csv_option, run_options, words_option
from experiments.report import markdown, plus_minus, read, with_progress, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["grid", "main", "summary"]

FIRST_LOOK = 5

SUMMARY = (
    *("decider", "all equal: drops anyone", "drops a given one", "0.25 sd better: drops it"),
    *("worst cell: drops a given best one", "where", "keeps its alpha for each"),
    *("worst cell: drops any best one", "keeps it for all"),
    *("1 sd better: blocks", "observations"),
)


def summary(rates: Sequence[Rates]) -> str:
    """Return a line per decider; figures of cells that were not run are left out.

    All but the worst cell, which is of all worlds, are for normal noise, 10 candidates and 50
    blocks; the last two for 200 blocks. A decider keeps its alpha for each best candidate if in
    its worst cell a given one is dropped no more often than that, give or take two standard
    errors; and for all of them, if any one is.
    """
    found = {(each.cell, each.blocks): each for each in rates}
    lines = []
    for name in dict.fromkeys(each.cell.decider for each in rates):
        equal, better, clear = (
            found.get((Cell(name, "normal", 10, effect), blocks))
            for effect, blocks in ((0.0, 50), (0.25, 50), (1.0, 200))
        )
        worst = max(
            (each for each in rates if each.cell.decider == name),
            key=lambda each: each.best_dropped[0],
        )
        family = max(each.family for each in rates if each.cell.decider == name)
        lines.append(
            [
                f"`{label(name)}`",
                percent(equal.any_dropped if equal else None),
                percent(equal.best_dropped if equal else None),
                percent(better.best_dropped if better else None),
                percent(worst.best_dropped),
                where(worst),
                keeps(level(name), worst.best_dropped),
                percent(family),
                keeps(level(name), family),
                plus_minus(*clear.blocks_used, 0) if clear else "-",
                plus_minus(*clear.observations, 0) if clear else "-",
            ]
        )
    return markdown(SUMMARY, lines)


def keeps(alpha: float, worst: tuple[float, float]) -> str:
    """Return whether a rate is within two standard errors of alpha; without an alpha, neither."""
    mean, error = worst
    if math.isnan(alpha):
        return "promises none"
    return "yes" if mean <= alpha + 2.0 * (0.0 if math.isnan(error) else error) else "no"


def where(rates: Rates) -> str:
    """Return the place of a cell in the grid."""
    _, world, candidates, effect = rates.cell
    gap = f"{effect:g} sd" if effect else "all equal"
    return f"{world}, {candidates} candidates, {rates.blocks} blocks, {gap}"


def percent(rate: tuple[float, float] | None) -> str:
    """Return a rate and its standard error in percent."""
    return "-" if rate is None else plus_minus(100.0 * rate[0], 100.0 * rate[1], 1)


def grid(rates: Sequence[Rates]) -> Iterator[str]:
    """Yield a table for each world, number of candidates and number of blocks."""
    effects = sorted({each.cell.effect for each in rates})
    deciders = dict.fromkeys(each.cell.decider for each in rates)
    places = dict.fromkeys((each.cell.world, each.cell.candidates, each.blocks) for each in rates)
    found = {(each.cell, each.blocks): each for each in rates}
    head = ["decider"]
    for effect in effects:
        head += [f"{effect:g} sd: drops it"] if effect else ["equal: drops one", "drops anyone"]
        head += ["blocks", "observations"]
    for world, candidates, blocks in places:
        lines = []
        for decider in deciders:
            line = [decider]
            for effect in effects:
                each = found[Cell(decider, world, candidates, effect), blocks]
                line.append(percent(each.best_dropped))
                if not effect:
                    line.append(percent(each.any_dropped))
                line += [plus_minus(*each.blocks_used, 0), plus_minus(*each.observations, 0)]
            lines.append(line)
        yield f"{world}: {candidates} candidates, {blocks} blocks\n\n{markdown(head, lines)}\n"


@click.command()
@words_option(
    "--deciders",
    ROWS,
    show_default=False,
    help=f'Which, as "f-race t-race"; by default all: {", ".join(ROWS)}.',
)
@words_option("--worlds", WORLDS)
@words_option("--candidates", (2, 10, 30), click.IntRange(2))
@words_option(
    "--effects",
    (0, 0.25, 1),
    click.FloatRange(0.0, 1e6),
    help="By how many standard deviations one candidate is better; 0 is all equal.",
)
@words_option(
    "--blocks",
    (10, 50, 200),
    click.IntRange(FIRST_LOOK),
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
    """Print how often each decider drops a best candidate, and what its races cost.

    A file that is there already keeps its other rows, which count in the summary as well.
    """
    if any(map(math.isnan, effects)):
        raise click.BadParameter("nan is not a number", param_hint="--effects")
    design = Design(repetitions, jobs, seed, blocks)
    cells = [
        Cell(decider, world, m, effect)
        for world, m, effect, decider in product(worlds, candidates, effects, deciders)
    ]
    seconds = [cell.expected_seconds(design) for cell in cells]
    print(f"Error rates: {len(cells)} cells, {design}.")
    known = read(csv_path) if csv_path is not None and csv_path.exists() else []
    rows = {_place(row): row for row in known if row["decider"] in ROWS}
    rates: list[Rates] = []
    batch = -(-repetitions // (4 * jobs))
    with joblib.Parallel(n_jobs=jobs, batch_size=batch) as pool:
        for cell in with_progress(cells, seconds, jobs, str):
            rates += measure(cell, design, pool)
    if not only_summary:
        print("\n".join(grid(rates)))
    for each in rates:
        rows[_place(each.row(design))] = each.row(design)
    ordered = [rows[place] for place in sorted(rows)]
    print(summary([Rates.of(row) for row in ordered]))
    write(csv_path, ordered)


def _place(row: Mapping[str, Any]) -> tuple[float, ...]:
    """Return where a row stands in the file."""
    deciders, worlds = list(ROWS), list(WORLDS)
    numbers = (float(row[name]) for name in ("candidates", "effect", "blocks"))
    return (worlds.index(row["world"]), deciders.index(row["decider"]), *numbers)
