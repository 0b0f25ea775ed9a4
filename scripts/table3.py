"""Rerun Table 3 of Benavoli et al. (ICML 2015): candidates dropped as indistinguishable.

Run:  python scripts/table3.py [--no-gate] [--protocol assessments] [--settings "30,1 100,1"]

Prints their number in a Bayesian race as published and as measured here, and the share of the
pairs declared so that truly win against each other with probability within 0.5 +- 0.05.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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
    from experiments.benavoli2015.racing import Design, Setting

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


if __name__ == "__main__":
    main()
