"""Tables 10 to 18, and the counts of sections 7.1 and 7.2, on the scores of the paper.

132 data sets x 4 folds x 16 classifiers (`data/ll.csv`), and, as the paper's own are not known, random
parts of them: its cases ss, mm and sl. Ties of local ropes are spread where no policy is named.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from racer.seeding import rng_for
from racer.stats import (
    bradley_terry,
    friedman_test,
    hochberg,
    nemenyi_critical_difference,
    signed_rank_test,
    win_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from racer.stats import BradleyTerryResult

__all__ = ["CASES", "counts", "measured", "names", "parts", "scores"]

FILE = Path(__file__).parent / "data" / "ll.csv"
CASES = {"ss": (5, 20, 10), "mm": (10, 50, 10), "sl": (5, 100, 5), "ll": (16, 132, 1)}
ROPES: dict[str, Any] = {"none": None, "unpaired": "unpaired", "paired": "paired"}
POLICIES: tuple[Any, ...] = ("add", "davidson", "forget", "spread")
PRIORS: tuple[tuple[Any, float], ...] = (
    *(("cauchy", 0.5), ("cauchy", 1.0), ("lognormal", 0.25), ("lognormal", 0.5)),
    *(("lognormal", 1.0), ("normal", 2.0), ("normal", 5.0)),
)
BINS = (0.5, 0.7, 0.9, 1.0)
_SUMS = ("pred", "real", "beyond", "missed", "equivalent")  # over all samples; others are means


def scores() -> NDArray[np.float64]:
    """Return the accuracies, (data sets, folds, classifiers)."""
    frame = pd.read_csv(FILE)
    return frame.iloc[:, 1:].to_numpy().reshape(len(frame) // 4, 4, -1)


def names() -> list[str]:
    """Return the classifiers."""
    return [str(name) for name in pd.read_csv(FILE, nrows=0)][1:]


def parts(case: str, seed: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the scores of each sample of a case, and of ten data sets more, if there are so many."""
    found, (k, n, samples) = scores(), CASES[case]
    for sample in range(samples):
        rng = rng_for(seed, case, sample)
        rows, columns = rng.permutation(len(found)), rng.permutation(found.shape[2])[:k]
        yield found[rows[:n]][:, :, columns], found[rows[n : n + 10]][:, :, columns]


def _fit(result: BradleyTerryResult) -> dict[str, float]:
    """Return the WAIC and the shares of wins in the four intervals."""
    shares = result.predictive_check()["wins"].tolist()
    return dict(
        zip(("waic", "h50", "h90", "h95", "h100"), (result.waic().waic, *shares), strict=True)
    )


def counts(train: NDArray[np.float64], result: BradleyTerryResult) -> dict[str, dict[str, float]]:
    """Return how many pairs the model separates beyond a test, misses, or calls equivalent."""
    means, names = np.nanmean(train, axis=1), result.names
    frame, critical = result.to_frame(), nemenyi_critical_difference(len(names), len(means))
    i, j = (np.array([names.index(name) for name in frame[side]]) for side in ("better", "worse"))
    ranks = friedman_test(means, maximize=True).mean_ranks
    pairs = zip(means.T[i], means.T[j], strict=True)
    p_values = hochberg([signed_rank_test(x, y, maximize=True).p_value for x, y in pairs])
    ours, alike = frame["probability"] > 0.95, frame["in_rope"] >= 0.95
    tests = {"demsar": np.abs(ranks[i] - ranks[j]) > critical, "wilcoxon": p_values < 0.05}
    return {
        name: {
            "beyond": float((ours & ~theirs).sum()),
            "missed": float((theirs & ~ours).sum()),
            "equivalent": float((alike & ~theirs).sum()),
        }
        for name, theirs in tests.items()
    }


def _predictions(test: NDArray[np.float64], result: BradleyTerryResult) -> dict[str, float]:
    """Return Tables 15 and 16 of one sample: wins of each pair on other data sets, and predictions."""
    new = win_table(test, names=result.names, maximize=True)
    frames = {level: result.to_frame(level=level / 100) for level in (90, 70, 50)}
    first, second = frames[90]["better"], frames[90]["worse"]
    i, j = (np.array([result.names.index(name) for name in side]) for side in (first, second))
    share = new.wins[i, j] / np.maximum(new.wins[i, j] + new.wins[j, i], 1.0)
    found = {
        f"within.{level}": float(frame["low"].le(share).mul(frame["high"].ge(share)).mean())
        for level, frame in frames.items()
    }
    found["above90"] = float((share > frames[90]["high"]).mean())
    found["below90"] = float((share < frames[90]["low"]).mean())
    error, above = frames[90]["estimate"] - share, frames[90]["probability"]
    found |= {"err": float(error.mean()), "mad": float(error.abs().median())}
    for low, high in pairwise(BINS):
        some = (above >= low) & ((above < high) | (high == 1.0))
        name = f"{100 * low:.0f}-{100 * high:.0f}"
        found[f"pred{name}"] = float(above[some].sum())
        found[f"real{name}"] = float((share[some] > 0.5).sum())
    return found


def _sample(
    train: NDArray[np.float64], test: NDArray[np.float64]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield rows of figures of one sample, most of them for each local rope."""
    for rope, kind in ROPES.items():
        table = win_table(train, maximize=True, local_rope=kind)
        for policy in POLICIES:
            yield policy, _fit(result := bradley_terry(table, ties=policy))
            if policy == "davidson":
                for row in result.predictive_check().to_dict("records"):
                    yield f"{row['level']:.2f}", {k: row[k] for k in ("wins", "ties")}
            if policy == "spread" and len(test):
                yield rope, _predictions(test, result)
            if policy == "spread" and rope == "paired":
                yield from counts(train, result).items()
    for prior, scale in PRIORS:
        result = bradley_terry(table, sigma_prior=prior, sigma_scale=scale)
        yield f"{prior} {scale:.2f}", _fit(result)


def measured(seed: int, cases: Iterable[str] = tuple(CASES)) -> dict[tuple[str, str, str], float]:
    """Return the figures by case, row and column: sums of counts, means of others."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for case in cases:
        for train, test in parts(case, seed):
            for row, figures in _sample(train, test):
                for column, value in figures.items():
                    found[case, row, column].append(value)
    return {
        key: float(np.sum(values) if key[2].startswith(_SUMS) else np.mean(values))
        for key, values in found.items()
    }
