"""Table 3: candidates dropped as indistinguishable.

Their number in a Bayesian race, and the fraction of the pairs declared so that truly win against each other with probability within 0.5 +- 0.05.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from experiments.benavoli2015 import published
from experiments.benavoli2015.report import (
    TRULY_SO,
    announce,
    claims,
    racing_options,
    run,
    truly_so,
)
from experiments.report import markdown, plus_minus, write

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.benavoli2015.racing import Design, Setting

__all__ = ["main"]

HEAD = ("q, rho", "published", "ours", "difference", "truly so", "observations")


@click.command()
@racing_options
def main(settings: tuple[Setting, ...], design: Design, csv_path: Path | None) -> None:
    """Print Table 3 as published and as measured here."""
    announce("Table 3", settings, ["bayesian"], design)
    lines: list[list[str]] = []
    records: list[dict[str, Any]] = []
    cells = run(settings, ["bayesian"], design)
    for (setting, _), cell in cells.items():
        known = published.table_3()[setting.q, setting.rho]
        mean, error = cell.mean("indistinguishable")
        observations, observations_error = cell.mean("observations")
        declared, truly = cell.pairs
        lines.append(
            [
                *(f"{setting.q}, {setting.rho:g}", f"{known:.1f}", plus_minus(mean, error)),
                f"{mean - known:+.2f}",
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
                "declared": declared,
                "truly": truly,
                "observations": observations,
                "observations_se": observations_error,
                **design.columns,
            }
        )
    print(markdown(HEAD, lines))
    print(f"\n{claims({TRULY_SO: truly_so(cells.values())})}")
    write(csv_path, records)
