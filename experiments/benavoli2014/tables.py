"""Tables 1 to 3: losses of the signed-rank tests.

The loss of each test in all cases and in those which the near-ignorance prior (IDP) decides, and
what the tests decide where it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from experiments.benavoli2014 import losses, published
from experiments.options import csv_option, number_option, run_options
from experiments.report import table, wide, write

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["main"]

TITLES = {
    1: "Table 1: total loss",
    2: "Table 2: loss where the IDP test decides",
    3: "Table 3: % of decisions for H0 and H1 where it does not, averaged over Delta",
}


@click.command()
@run_options(2000)
@number_option("--steps", 7)
@number_option("--draws", 4000, least=100)
@click.option("--rho", type=click.FloatRange(0, 1), default=0.0, help="Correlation of X and Y.")
@csv_option
def main(
    repetitions: int,
    jobs: int,
    seed: int,
    steps: int,
    draws: int,
    rho: float,
    csv_path: Path | None,
) -> None:
    """Print Tables 1 to 3 as published and as measured here."""
    cells = 2 * (steps + 1)
    print(f"{cells} values of Delta, {repetitions} repetitions each, {draws} draws, seed {seed}")
    run = {"repetitions": repetitions, "draws": draws, "seed": seed}
    curves = losses.play(steps, repetitions, draws, seed, jobs, rho)
    found = losses.tables(curves)
    rows: list[dict[str, Any]] = [
        {
            "table": number,
            "test": test,
            "l1": l1,
            "published": printed,
            "ours": ours[test][l1],
            **run,
        }
        for number, ours in found.items()
        for test, line in published.table(number).items()
        for l1, printed in line.items()
    ]
    for number, title in TITLES.items():
        digits = 0 if number == 3 else 3
        both = f"{{published:.{digits}f}} / {{ours:.{digits}f}}"
        print(f"\n{title}, published / ours\n")
        of_table = (row for row in rows if row["table"] == number)
        print(wide(of_table, {"test": "{test}"}, "l1 = {l1}", both))
    for l1 in (4, 19):
        print(f"\nFigure 2: loss and indeterminacy (open) against Delta, l1 = {l1}\n")
        heads = {name: f"{{{name}:.3f}}" for name in ("delta", "dp_s0", "wilcoxon", "idp", "open")}
        print(table(losses.figure_2(curves, l1), heads))
    write(csv_path, rows)
