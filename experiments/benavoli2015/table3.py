"""Table 3: candidates dropped as indistinguishable.

Their number in a Bayesian race, and the fraction of the pairs declared so that truly win against
each other with probability within 0.5 +- 0.05. "At most": how many others than the best are left
when, for the first time, a pair can be indistinguishable with probability above 0.95.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.benavoli2015 import published, report
from experiments.benavoli2015.racing import others_left
from experiments.options import run_options
from experiments.report import markdown, plus_minus, write
from racer.stats.sign import probability_indistinguishable

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.benavoli2015.racing import Design, Setting

__all__ = ["main"]

HEAD = ("q, rho", "published", "ours", "difference", "at most", "truly so", "observations")


def first_block_of_a_pair() -> int:
    """Return the least number of blocks after which a pair can be indistinguishable."""
    more = np.arange(1, 1000)
    within = probability_indistinguishable(more, more, 0 * more, epsilon=0.05, strength=0.0)
    return 2 * int(more[within > 0.95][0])


@click.command()
@run_options(200)
@report.racing_options
def main(settings: tuple[Setting, ...], design: Design, csv_path: Path | None) -> None:
    """Print Table 3 as published and as measured here."""
    report.announce("Table 3", settings, ["bayesian"], design)
    lines: list[list[str]] = []
    records: list[dict[str, Any]] = []
    cells = report.run(settings, ["bayesian"], design)
    earliest = first_block_of_a_pair()
    for (setting, _), cell in cells.items():
        known = published.table_3()[setting.q, setting.rho]
        mean, error = cell.mean("indistinguishable")
        observations, observations_error = cell.mean("observations")
        declared, truly = cell.pairs
        most = others_left(setting, design, earliest)
        lines.append(
            [
                *(f"{setting.q}, {setting.rho:g}", f"{known:.1f}", plus_minus(mean, error)),
                f"{mean - known:+.2f}",
                plus_minus(*most),
                f"{100 * truly / declared:.1f} % ({truly} of {declared})" if declared else "-",
                plus_minus(observations, observations_error, 0),
            ]
        )
        records.append(
            {
                "q": setting.q,
                "rho": setting.rho,
                "decider": "bayesian",
                "indistinguishable_published": known,
                "indistinguishable": mean,
                "indistinguishable_se": error,
                "indistinguishable_difference": mean - known,
                "at_most": most[0],
                "at_most_se": most[1],
                "declared": declared,
                "truly": truly,
                "observations": observations,
                "observations_se": observations_error,
                **design.columns,
            }
        )
    print(markdown(HEAD, lines))
    print(f"\nNo pair is indistinguishable with fewer than {earliest} observations.")
    print(f"\n{report.claims({report.TRULY_SO: report.truly_so(cells.values())})}")
    write(csv_path, records)
