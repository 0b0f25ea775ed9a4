"""Races on scores of items: right or wrong, grades 1 to 5, or any table of scores.

True is who has the best mean over all items of a table, which is what a race on these items is to
find. Items come in a random order, the same for all ways. At a fifth of the calls, `best-for-budget`
stands beside UCB-E with the exploration that the true gaps ask for, and beside a random fifth of the
items for all candidates.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np

import racer
from experiments.options import csv_option, jobs_option, number_option
from experiments.report import print_row, write
from racer.deciders import BestForBudget, MeanRace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
M, N = 20, 500
FIRST_SEED = 1000
MARGIN = 0.02  # of the width of the bounds
PART = 0.2  # of all calls, for what spends a budget
NULLS, NULL_ITEMS = (2, 20), 200  # candidates, items
COLUMNS = ("table", "way", "races", "lost", "regret", "beyond", "decided", "calls")


def _right(spread: float) -> Callable[[Generator], Floats]:
    """Return worlds of answers right or wrong: logit of P(right) is ability less difficulty."""

    def draw(rng: Generator) -> Floats:
        ability = 0.5 + spread * rng.standard_normal((M, 1))
        difficulty = rng.standard_normal((1, N))
        chance = 1.0 / (1.0 + np.exp(difficulty - ability))
        return np.asarray(rng.random((M, N)) < chance, dtype=np.float64)

    return draw


def _grades(rng: Generator) -> Floats:
    ability, difficulty = 0.5 * rng.standard_normal((M, 1)), rng.standard_normal((1, N))
    noise = 0.7 * rng.standard_normal((M, N))
    return np.clip(np.round(3.5 + ability - difficulty + noise), 1.0, 5.0)


WORLDS: dict[str, tuple[Callable[[Generator], Floats], tuple[float, float]]] = {
    "right or wrong, apart": (_right(1.0), (0.0, 1.0)),
    "right or wrong, close": (_right(0.2), (0.0, 1.0)),
    "right or wrong, equal": (_right(0.0), (0.0, 1.0)),
    "grades 1 to 5": (_grades, (1.0, 5.0)),
}


def raced(scores: Floats, bounds: tuple[float, float], **settings: Any) -> racer.RaceResult:
    """Run a race on a table of scores, candidates x items, larger is better."""
    m, n = scores.shape
    race = racer.Race.of(
        range(m),
        range(n),
        metrics={"score": racer.Metric("max", bounds=bounds)},
        instance_order="given",  # of a table whose items have been shuffled
        deterministic=True,
        seed=1,
        **{"budget": m * n, **settings},
    )
    while cells := race.ask():
        values = [scores[cell.candidate, cell.block] for cell in cells]
        race.tell_all([racer.Outcome("ok", v, metrics={"score": v}) for v in values])
    return race.result()


def ucb_e(scores: Floats, budget: int, width: float) -> int:
    """Return who UCB-E finds (Audibert, Bubeck and Munos, COLT 2010, figure 1).

    Exploration a = 25/36 (n - K) / H1 (theorem 1), H1 from the true gaps in units of the bounds' width:
    more than anybody knows. A candidate whose items are all seen is known exactly.
    """
    k, n = scores.shape
    means = scores.mean(axis=1) / width
    gaps = means.max() - means
    least = gaps[gaps > 0.0].min(initial=1.0)
    a = 25.0 / 36.0 * (budget - k) / (1.0 / np.maximum(gaps, least) ** 2).sum()
    sums, counts = scores[:, 0] / width, np.ones(k, dtype=np.int64)
    for _ in range(budget - k):
        bound = np.where(counts < n, sums / counts + np.sqrt(a / counts), -np.inf)
        if not np.isfinite(bound).any():
            break
        i = int(bound.argmax())
        sums[i] += scores[i, counts[i]] / width
        counts[i] += 1
    return int((sums / counts).argmax())


def measured(
    scores: Floats, bounds: tuple[float, float], seed: int
) -> dict[str, tuple[float, float, float, float, float]]:
    """Return by way: best lost, regret, whether beyond the margin, decided, share of the calls."""
    scores = scores[:, np.random.default_rng([seed, 1]).permutation(scores.shape[1])]
    m, width = len(scores), bounds[1] - bounds[0]
    margin, budget = MARGIN * width, round(PART * scores.size)
    means = scores.mean(axis=1)
    regret = means.max() - means

    def of(chosen: int, calls: float, *, decided: bool) -> tuple[float, float, float, float, float]:
        behind = float(regret[chosen])
        return behind > 1e-9, behind, behind > margin + 1e-9, decided, calls

    found = {}
    deciders: dict[str, Any] = {
        "mean": "mean",
        f"mean, margin {MARGIN:.0%}": MeanRace(margin=margin),
        "anytime": "anytime",
    }
    for way, decider in deciders.items():
        result = raced(scores, bounds, decider=decider)
        alone = len(result.survivors) == 1
        chosen = result.survivors[0]
        found[way] = of(chosen, result.evaluations / scores.size, decided=alone)
    spending = {
        "best-for-budget": BestForBudget(),
        "best-for-budget, means": BestForBudget(by="mean"),
    }
    for way, decider in spending.items():
        result = raced(scores, bounds, decider=decider, budget=budget)
        used = result.evaluations / scores.size
        found[way] = of(result.survivors[0], used, decided=True)
    found["UCB-E"] = of(ucb_e(scores, budget, width), budget / scores.size, decided=True)
    some = int(scores[:, : budget // m].mean(axis=1).argmax())
    found["the same random items for all"] = of(some, budget // m * m / scores.size, decided=True)
    return found


def null(m: int, seed: int) -> tuple[float, float]:
    """Return whether #0 of m equals is dropped at any look, and whether any is with `familywise`.

    Looks are after each item but the last. All have as many right answers, at places of their own.
    """
    rng = np.random.default_rng([seed, 2])
    right = np.arange(NULL_ITEMS) < round(0.7 * NULL_ITEMS)
    scores = np.array([rng.permutation(right) for _ in range(m)], dtype=np.float64)
    found = []
    for familywise in (False, True):
        gone = raced(scores, (0.0, 1.0), decider=MeanRace(familywise=familywise)).eliminations
        found.append(gone.loc[gone["measure"] == "e-value", "candidate"].tolist())
    return 0 in found[0], bool(found[1])


def read(path: Path, name: str | None) -> Floats:
    """Return a table of scores, candidates x items, an array of an .npz file."""
    if not path.is_file():
        raise click.UsageError(f"there is no file {str(path)!r}")
    with np.load(path) as arrays:
        chosen = name or next(key for key in arrays if arrays[key].ndim == 2)
        if chosen not in arrays:
            raise click.UsageError(f"{path} has no array {chosen!r}: {', '.join(arrays)}")
        return np.asarray(arrays[chosen], dtype=np.float64)


def _rows(table: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return and print the means of the races on a table."""
    rows = []
    for way in found[0]:
        means = np.mean([one[way] for one in found], axis=0).tolist()
        lost, regret, beyond, decided, calls = means
        values = (table, way, len(found), *(f"{value:.4f}" for value in means))
        rows.append(dict(zip(COLUMNS, values, strict=True)))
        shown = (f"{100 * share:.0f}" for share in (beyond, decided))
        print_row(table, way, f"{100 * lost:.0f}", f"{regret:.4f}", *shown, f"{100 * calls:.1f}")
    return rows


@click.command("items")
@number_option("--repetitions", 100, help="Races on each simulated table.")
@number_option("--orders", 20, help="Orders of the items of FILE.")
@number_option("--nulls", 1000, least=0, help="Races of equals.")
@click.option(
    "--scores",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Race on this table instead: .npz (candidates x items).",
)
@click.option("--array", help="The array of an .npz; the first with two dimensions if not given.")
@click.option(
    "--bounds",
    nargs=2,
    type=float,
    default=(0.0, 1.0),
    show_default=True,
    help="The smallest and largest score of FILE.",
)
@csv_option
@jobs_option
def main(
    repetitions: int,
    orders: int,
    nulls: int,
    path: Path | None,
    array: str | None,
    bounds: tuple[float, float],
    csv_path: Path | None,
    jobs: int,
) -> None:
    """Race on scores of items; write experiments/items/items.csv and nulls.csv."""
    print_row("table", "way", *COLUMNS[3:], head=True)
    pool = joblib.Parallel(n_jobs=jobs)
    if path is not None:
        scores = read(path, array)
        calls = (joblib.delayed(measured)(scores, bounds, seed) for seed in range(orders))
        write(csv_path, _rows(path.stem, pool(calls)))
        return
    rows = []
    for table, (draw, limits) in WORLDS.items():
        seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
        made = ((draw(np.random.default_rng(seed)), limits, seed) for seed in seeds)
        rows += _rows(table, pool(joblib.delayed(measured)(*each) for each in made))
    write(HERE / "items.csv", rows)
    if not nulls:
        return
    print()
    print_row("equals", "races", "a given one dropped", "anyone, familywise", head=True)
    rows = []
    for m in NULLS:
        seeds = range(FIRST_SEED, FIRST_SEED + nulls)
        drops = pool(joblib.delayed(null)(m, seed) for seed in seeds)
        given, anyone = np.mean(drops, axis=0).tolist()
        rows.append({"candidates": m, "races": nulls})
        rows[-1] |= {"given": f"{given:.4f}", "anyone": f"{anyone:.4f}"}
        print_row(m, nulls, f"{100 * given:.1f}", f"{100 * anyone:.1f}")
    write(HERE / "nulls.csv", rows)
