"""What results say: whether a line contradicts another, and what comparisons claim among equals."""

from __future__ import annotations

import re
from typing import Any, get_args

import numpy as np
import pandas as pd

import racer
from racer._numerics import shown_probability
from racer.comparison.data import Method
from racer.render.sections import number

__all__ = ["claims", "contradictions"]

METHODS = get_args(Method)[1:6]  # of a score for each algorithm and data set


def contradictions(result: Any) -> list[str]:
    """Return what contradicts itself in what a race or a tuning prints, and in its plain data."""
    text, data, best = " ".join(str(result).split()), result.to_dict(), result.best_index
    if best is None:
        return [] if "can be called the best" in text and "best_index" in data else ["of nothing"]
    chances, leaders = result.probability_best, result.leaders
    rows = re.findall(r"#(\d+)(?:, eliminated)? +([<>]?[01]\.\d\d) +(\S+)", str(result))
    said = re.match(r"(Best so far: )?#(\d+)(?:, but| is).*?probability ([<>]? ?[01]\.\d\d)", text)
    rivals = re.search(r"(\d+) others? may be better \(95 %\): ([#\d, ]+)", text)
    others = [c for c in result.credible_set if c != best]
    listed = sorted({*leaders, *others}, key=lambda c: (c != best, -round(chances[c], 6), c))
    known = result.table.loc[result.known.common(leaders), listed].dropna(how="all")
    worst = known.min(axis=1) if result.rules.maximize else known.max(axis=1)
    means, failed = known.T.fillna(worst).T.mean(), known.isna().any()
    sign = -1.0 if result.rules.maximize else 1.0
    given = {row["candidate"]: row["probability_best"] for row in data["survivors"]}
    told = list(map(int, re.findall(r"#(\d+)", rivals[2]))) if rivals else []
    gone = {*map(int, re.findall(r"#(\d+)(?=[#\d, ]*(?: and \d+ more)? w\w+ eliminated)", text))}
    dropped = {*result.eliminations["candidate"]}.difference(result.survivors)
    checks = {
        "chances do not sum to 1": abs(sum(chances.values()) - 1.0) < 1e-6,
        "another is more probable": chances[best] >= max(chances.values()) - 1e-6,
        "the set begins with another": result.credible_set[0] == leaders[0] == best,
        "the text names another": said is not None and int(said[2]) == best,
        "the text is surer than the set": said is not None and bool(said[1]) == bool(others),
        "the text has another chance": said is not None
        and said[3].replace(" ", "") == shown_probability(chances[best], 2),
        "the data name another": data["best_index"] == best == next(iter(given)),
        "the data have other chances": all(abs(given[c] - chances[c]) < 1e-9 for c in given),
        "rivals are not of the set": told == others[: len(told)]
        and (rivals is None or int(rivals[1]) == len(others))
        and bool(told) == (len(others) > 0 and "Any of the others may be better" not in text),
        "others were not eliminated": gone <= dropped & {best, *others}
        and (len(others) > 12 or data.get("races") is not None or gone >= dropped & {*others}),
        "rows are not in order": [c for c, _, _ in rows]
        == [str(c) for c in listed if str(c) in {row[0] for row in rows}],
        "rows have other chances": all(
            shown == shown_probability(chances[int(c)], 2) for c, shown, _ in rows
        ),
        "means are of other blocks": all(
            mean == number(means[int(c)])
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
            pairs = racer.compare(table, method, goal="min").pairs.query("decision == 'better'")
            found = pairs["better"].isin(equals) & pairs["worse"].isin(equals)
            rows.append({"table": name, "method": method, "claims": bool(found.any())})
    return pd.DataFrame(rows)
