"""Tables 3 to 7: the posterior of each pair, the predictive check, and the policies for ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from experiments.options import csv_option, number_option, seed_option
from experiments.report import markdown, table, wide, write
from experiments.wainer2023 import published
from racer.stats import BradleyTerryResult, bradley_terry, win_table

if TYPE_CHECKING:
    from pathlib import Path

    from racer.stats.wins import TiePolicy

__all__ = ["COLUMNS", "main"]

COLUMNS = {
    "mean": "estimate",
    "low": "low",
    "high": "high",
    "delta": "delta",
    "above_50": "probability",
    "in_rope": "in_rope",
}
POLICIES: tuple[TiePolicy, ...] = ("spread", "add", "forget", "davidson")


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
@seed_option
@csv_option
def main(draws: int, seed: int, csv_path: Path | None) -> None:
    """Print the tables as published and as computed here."""
    print(f"{draws} draws, seed {seed}. Takes a few seconds.\n", flush=True)
    spread = bradley_terry(published.counts("table3b_wins"), draws=draws, seed=seed)
    missing = bradley_terry(published.missing_counts(), draws=draws, seed=seed)
    rows = compare("table4_table6", spread) + compare("table7_missing", missing)
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

    print("Table 5, posterior predictive check (published 0.8, 1, 1, 1)\n")
    share = spread.predictive_check().to_dict("records")
    print(table(share, {"HDI": "{level:.2f}", "share": "{wins:.1f}"}))

    print(
        "\nTable 3a, win table of Table 2's three decimals where it differs from the printed one\n"
    )
    ours = win_table(published.accuracy(), names=published.NAMES, maximize=True).to_frame()
    printed = published.counts("table3a_wins_ties").to_frame()
    differ = (
        {**theirs, **{f"our_{name}": value for name, value in row.items()}}
        for row, theirs in zip(ours.to_dict("records"), printed.to_dict("records"), strict=True)
        if row != theirs
    )
    counts = {
        "pair": "{first}, {second}",
        "published": "{wins_first}/{wins_second}/{ties}",
        "ours": "{our_wins_first}/{our_wins_second}/{our_ties}",
    }
    print(table(differ, counts))

    print("\nPolicies for ties, from Table 3a\n")
    lines = []
    for policy in POLICIES:
        result = bradley_terry(published.counts("table3a_wins_ties"), ties=policy, seed=seed)
        check = result.predictive_check().set_index("level")
        fractions = [" / ".join(f"{v:.1f}" for v in check.loc[level]) for level in (0.5, 0.9)]
        lines.append([policy, f"{result.waic().waic:.1f}", *fractions])
    print(markdown(["policy", "WAIC", "wins (/ ties) in 50 % HDI", "in 90 % HDI"], lines))
    write(csv_path, rows)
