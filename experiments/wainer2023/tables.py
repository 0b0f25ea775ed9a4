"""Tables 4 to 7 and 10 to 18: each pair, the policies for ties, predictions, priors, other tests."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from experiments.options import csv_option, number_option, seed_option, words_option
from experiments.report import read, wide, write
from experiments.wainer2023 import ll, published
from racer.stats import BradleyTerryResult, bradley_terry

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["COLUMNS", "main"]

COLUMNS = {
    "mean": "estimate",
    "low": "low",
    "high": "high",
    "delta": "delta",
    "above_50": "probability",
    "in_rope": "in_rope",
}


def compare(name: str, result: BradleyTerryResult) -> list[dict[str, Any]]:
    """Return a row per pair and published figure, in the published direction of the pair."""
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
    spread = bradley_terry(published.counts("table3b_wins"), draws=draws, seed=seed)
    missing = bradley_terry(published.missing_counts(), draws=draws, seed=seed)
    rows: list[dict[str, Any]] = compare("table4_table6", spread) + compare(
        "table7_missing", missing
    )
    first = len(rows)
    for title, name in (
        ("Tables 4 and 6, from the win table 3b", "table4_table6"),
        ("Table 7b, xgb missing on two data sets, from 7a", "table7_missing"),
    ):
        part = [row for row in rows if row["table"] == name]
        both = "{published:.2f} / {ours:.3f}"
        print(f"{title}, published / ours\n\n{wide(part, {'pair': '{pair}'}, '{column}', both)}\n")
    worst = max(rows, key=lambda row: abs(row["difference"]))
    print(f"Largest difference: {worst['difference']:+.3f} ({worst['column']} of {worst['pair']})")
    print(f"Sampling: {spread.posterior}\n")

    print(
        "Tables 10 to 18, published / ours; those of random samples (ss, mm, sl) can be near only\n"
    )
    found = ll.measured(seed, cases)
    for printed in read(ll.FILE.with_name("tables10_18.csv")):
        key = printed["case"], printed["row"], printed["column"]
        if key in found:
            difference = found[key] - float(printed["published"])
            rows.append(
                {**printed, "pair": " ".join(key[:2]), "ours": found[key], "difference": difference}
            )
    for number, of_table in groupby(
        sorted(rows[first:], key=itemgetter("table")), itemgetter("table")
    ):
        both = "{published} / {ours:.3g}"
        print(f"Table {number}\n\n{wide(of_table, {'case': '{pair}'}, '{column}', both)}\n")
    write(csv_path, rows)
