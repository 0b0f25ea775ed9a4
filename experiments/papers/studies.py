"""What the items of the papers call beside racer: recorded figures, and two small studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2

from experiments.benavoli2015 import published, table1
from experiments.report import read
from experiments.wainer2023 import ll
from racer.seeding import rng_for
from racer.stats import (
    bayesian_friedman_test,
    bayesian_signed_rank_test,
    friedman_test,
    replicability,
    signed_rank_test,
)

__all__ = ["agree", "indistinguishable", "outcomes", "recorded", "rejected", "rounding", "table_1"]

ROOT = Path(__file__).parents[1]


def recorded(file: str, column: str, /, **where: object) -> list[float]:
    """Return a column of a recorded file, of the rows in which others have these values."""
    wanted = {name: str(value) for name, value in where.items()}
    rows = [row for row in read(ROOT / file) if wanted.items() <= row.items()]
    return [float(row[column]) for row in rows if row[column]]


def rounding(file: str, digits: int, /, **where: object) -> int:
    """Return how many figures of a recorded file round to the printed ones."""
    printed = recorded(file, "published", **where)
    pairs = zip(recorded(file, "ours", **where), printed, strict=True)
    return sum(round(ours, digits) == figure for ours, figure in pairs)


def table_1(column: str) -> int:
    """Return how many of six figures of Table 1 of Benavoli et al. (2015) come out, at their place."""
    pairs = zip(table1.compute(1_000_000, 1).items(), published.table_1().items(), strict=True)
    return sum(
        a == b and round(ours[column], 4) == printed[column] for (a, ours), (b, printed) in pairs
    )


def indistinguishable() -> list[tuple[float, float]]:
    """Return Table 3 of Benavoli et al. (2015): candidates removed here, and as printed."""
    file, where = "benavoli2015/table2_rounds_found.csv", {"decider": "bayesian"}
    pairs = zip(
        *(recorded(file, name, **where) for name in ("declared", "repetitions")), strict=True
    )
    return list(zip((n / races for n, races in pairs), published.table_3().values(), strict=True))


def agree(column: str, decider: str) -> float:
    """Return the p-value of Table 2 of Benavoli et al. (2015), a chi-square over its six rows.

    The paper's 200 races have an error of their own beside that of ours, 1 000.
    """
    file = "benavoli2015/table2_rounds_found.csv"
    apart, error = (
        np.array(recorded(file, f"{column}_{kind}", decider=decider))
        for kind in ("difference", "se")
    )
    return float(chi2.sf(np.sum((apart / error) ** 2) / (1.0 + 1000 / 200), len(apart)))


def rejected(region: Any, n: int, m: int, gap: float = 0.0, repetitions: int = 200) -> float:
    """Return how often "all equal" is rejected at .05, one of m candidates better by `gap` sd.

    By `bayesian_friedman_test` with that region, or by Iman and Davenport's F (region "iman").
    """
    count = 0
    for repetition in range(repetitions):
        scores = rng_for(1, "region", n, m, repetition).normal(size=(n, m))
        scores[:, 0] -= gap
        if region == "iman":
            count += friedman_test(scores).f_p_value < 0.05
        else:
            found = bayesian_friedman_test(scores, region=region, draws=2000, seed=repetition)
            count += found.rejected
    return count / repetitions


def outcomes(first: str, second: str, repetitions: int = 300) -> dict[str, float]:
    """Return a row of Table 5 of Benavoli et al. (2014): whether `second` is better, l1 = 19.

    Of 15 data sets drawn at random from the 132 of Wainer (2023), instead of the paper's 70.
    """
    means, names = np.nanmean(ll.scores(), axis=1), ll.names()
    x, y = means[:, names.index(second)], means[:, names.index(first)]
    said = []
    for repetition in range(repetitions):
        some = rng_for(1, "outcomes", repetition).permutation(len(x))[:15]
        pair = -x[some], -y[some]
        bayes = bayesian_signed_rank_test(*pair, draws=2000, seed=repetition)
        wilcoxon = signed_rank_test(*pair, alternative="better").p_value < 0.05
        said.append((wilcoxon, bayes.probability > 0.95, bayes.prefer() == "indeterminate"))
    tests, open_ = np.array(said)[:, :2], np.array(said)[:, 2]
    found = {"H1": float(tests[:, 0].mean()), "indeterminate": float(open_.mean())}
    for k, test in enumerate(("wilcoxon", "dp")):
        found[f"{test} determinate"] = replicability(tests[~open_, k])
        found[f"{test} indeterminate"] = replicability(tests[open_, k])
    return found
