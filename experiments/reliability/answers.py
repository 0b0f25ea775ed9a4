"""What results say: whether a line contradicts another, and what comparisons claim among equals."""

from __future__ import annotations

import re
from typing import Any, get_args

import numpy as np
import pandas as pd

import racer
from racer._numerics import shown_probability
from racer.comparison.data import Method

__all__ = ["claims", "contradictions"]

METHODS = get_args(Method)[1:6]  # of a score for each algorithm and data set


def contradictions(result: Any) -> list[str]:
    """Return what contradicts itself in what a race or a tuning prints, and in its plain data."""
    text, data, best = " ".join(str(result).split()), result.to_dict(), result.best_index
    if best is None:
        is_alike = text.startswith("No candidate can be called the best")
        return [] if is_alike and data["best_index"] is None else ["best of nothing"]
    chances, leaders = result.probability_best, result.leaders
    rows = re.findall(r"#(\d+)(?:, eliminated)? +([<>]?[01]\.\d\d) +(\S+)", str(result))
    named = re.search(r"P\(best\) (?:= )?([<>]? ?[01]\.\d\d)", text)
    rivals = re.search(r"With probability [> .\d]+ it is that or (?:one of )?([#\d, ]+)", text)
    others = [c for c in result.credible_set if c != best]
    known = result.table.loc[result.known.common(leaders), [*leaders]].dropna(how="all")
    worst = known.min(axis=1) if result.rules.maximize else known.max(axis=1)
    means, failed = known.T.fillna(worst).T.mean(), known.isna().any()
    sign = -1.0 if result.rules.maximize else 1.0
    listed = {row["candidate"]: row["probability_best"] for row in data["survivors"]}
    told = list(map(int, re.findall(r"#(\d+)", rivals[1]))) if rivals else []
    checks = {
        "chances do not sum to 1": abs(sum(chances.values()) - 1.0) < 1e-6,
        "another is more probable": chances[best] >= max(chances.values()) - 1e-6,
        "the set begins with another": result.credible_set[0] == leaders[0] == best,
        "the text names another": text.startswith(
            f"The {'best' if chances[best] >= 0.5 else 'likeliest best'} is #{best} of "
        ),
        "the text has another chance": named is not None
        and named[1].replace(" ", "") == shown_probability(chances[best], 2),
        "the data name another": data["best_index"] == best == next(iter(listed)),
        "the data have other chances": all(abs(listed[c] - chances[c]) < 1e-9 for c in listed),
        "rivals are not of the set": told == others[: len(told)]
        and bool(told) == (0 < len(others) < len(result.compared) - 1),
        "rows are not in order": [c for c, _, _ in rows]
        == [str(c) for c in leaders if str(c) in {row[0] for row in rows}],
        "rows have other chances": all(
            shown == shown_probability(chances[int(c)], 2) for c, shown, _ in rows
        ),
        "means are of other blocks": all(
            np.isclose(float(mean), means[int(c)], rtol=1e-5, atol=1e-6)
            or (failed[int(c)] and sign * float(mean) > sign * means[int(c)])  # worse than each
            for c, _, mean in rows
            if mean != "-"
        ),
        "the blocks are not counted": not rows or f"mean on {len(known)} " in text,
    }
    return [name for name, holds in checks.items() if not holds]


def claims(m: int, seed: int) -> pd.DataFrame:
    """Return by table and method whether one of m equal algorithms is called better than another.

    In the second table another algorithm is better than all of them by a standard deviation.
    """
    costs = np.random.default_rng([seed, m]).normal(size=((10, 30)[seed % 2], m + 1))
    scores, rows = pd.DataFrame(costs, columns=[f"a{j}" for j in range(m + 1)]), []
    equals, better = scores.columns[1:], scores.assign(a0=scores["a0"] - 1.0)
    for name, table in {"equals": scores[equals], "equals and one better": better}.items():
        for method in METHODS:
            pairs = racer.compare(table, method=method, goal="min").pairs
            both = pairs["better"].isin(equals) & pairs["worse"].isin(equals)
            found = bool((both & (pairs["decision"] == "better")).any())
            rows.append({"table": name, "method": method, "claims": found})
    return pd.DataFrame(rows)
