"""Tables 4 to 7 and 10 to 18: each pair, the policies for ties, predictions, priors, other tests."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from experiments.options import csv_option, number_option, seed_option, words_option
from experiments.report import read, wide, write
from experiments.wainer2023 import ll, published
from racer.stats import bradley_terry

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["compare", "main"]

COLUMNS = {
    "mean": "estimate",
    "low": "low",
    "high": "high",
    "delta": "delta",
    "above_50": "probability",
    "in_rope": "in_rope",
}
COUNTED = {
    "table4_table6": lambda: published.counts("table3b_wins"),
    "table7_missing": published.missing_counts,
}


def compare(name: str, draws: int = 200_000, seed: int = 1) -> list[dict[str, Any]]:
    """Return a row per pair and published figure, in the published direction of the pair."""
    result = bradley_terry(COUNTED[name](), draws=draws, seed=seed)
    found_pairs = {
        (row["better"], row["worse"]): row for row in result.to_frame().to_dict("records")
    }
    rows = []
    for (better, worse), figures in published.summary(name).items():
        found = found_pairs.get((better, worse))
        if found is None:
            found = dict(found_pairs[worse, better])
            found |= {"estimate": 1 - found["estimate"], "probability": 1 - found["probability"]}
        for column, figure in figures.items():
            ours = float(found[COLUMNS[column]])
            pair = {"table": name, "pair": f"{better} > {worse}", "column": column}
            rows.append(pair | {"published": figure, "ours": ours, "difference": ours - figure})
    return rows


@click.command()
@number_option("--draws", 200_000, least=100)
@words_option("--cases", ll.CASES, help="Cases of Tables 10 to 18.")
@seed_option
@csv_option
def main(draws: int, cases: tuple[str, ...], seed: int, csv_path: Path | None) -> None:
    """Print the tables as published and as computed here."""
    print(f"{draws} draws, seed {seed}. Takes minutes, with --cases ll half of one.\n", flush=True)
    rows = [row for name in COUNTED for row in compare(name, draws, seed)]
    found = ll.measured(seed, cases)
    for printed in read(ll.FILE.with_name("tables10_18.csv")):
        key = printed["case"], printed["row"], printed["column"]
        if key in found:
            difference = found[key] - float(printed["published"])
            rows.append(
                {**printed, "pair": " ".join(key[:2]), "ours": found[key], "difference": difference}
            )
    print("Published / ours; those of random samples (ss, mm, sl) can be near only\n")
    for number, of_table in groupby(sorted(rows, key=itemgetter("table")), itemgetter("table")):
        both = "{published} / {ours:.3g}"
        print(f"Table {number}\n\n{wide(of_table, {'': '{pair}'}, '{column}', both)}\n")
    write(csv_path, rows)
