"""Table 3: candidates dropped as indistinguishable.

Their number in a Bayesian race, and the fraction of the pairs declared so that truly win against
each other with probability within 0.5 +- 0.05. "At most": how many others than the best are left
when, for the first time, a pair can be indistinguishable with probability above 0.95.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.benavoli2015 import published
from experiments.benavoli2015.racing import (
    TRULY_SO,
    Size,
    claims,
    others_left,
    races,
    settings_option,
    summary,
    truly_so,
)
from experiments.options import csv_option, run_options
from experiments.report import pm, table, write
from racer.stats.sign import probability_indistinguishable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.report import Columns

__all__ = ["main"]


def _share(row: Mapping[str, Any]) -> str:
    declared, truly = row["declared"], row["truly"]
    return f"{100 * truly / declared:.1f} % ({truly} of {declared})" if declared else "-"


COLUMNS: Columns = {
    "q, rho": "{q}, {rho:g}",
    "published": "{indistinguishable_published:.1f}",
    "ours": pm("indistinguishable"),
    "difference": "{indistinguishable_difference:+.2f}",
    "at most": pm("at_most"),
    "truly so": _share,
    "observations": pm("observations", 0),
}


def first_block_of_a_pair() -> int:
    """Return the least number of blocks after which a pair can be indistinguishable."""
    more = np.arange(1, 1000)
    within = probability_indistinguishable(more, more, 0 * more, epsilon=0.05, strength=0.0)
    return 2 * int(more[within > 0.95][0])


@click.command()
@settings_option
@run_options(200)
@csv_option
def main(
    settings: tuple[str, ...], repetitions: int, jobs: int, seed: int, csv_path: Path | None
) -> None:
    """Print Table 3 as published and as measured here."""
    size, earliest = Size(repetitions, jobs, seed), first_block_of_a_pair()
    cells, rows = races(settings, ["bayesian"], size), []
    for cell, frame in cells.items():
        row: dict[str, Any] = summary(cell, frame, ("indistinguishable", "observations"))
        known = published.table_3()[row["q"], row["rho"]]
        row["indistinguishable_published"] = known
        row["indistinguishable_difference"] = row["indistinguishable"] - known
        row["at_most"], row["at_most_se"] = others_left(cell.setting, size, earliest)
        rows.append(row | {"repetitions": repetitions, "seed": seed})
    print(table(rows, COLUMNS))
    print(f"\nNo pair is indistinguishable with fewer than {earliest} observations.")
    print(f"\n{claims({TRULY_SO: truly_so(cells)})}")
    write(csv_path, rows)
