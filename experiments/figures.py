"""Draw the pictures of the README, docs/compare.md, docs/seeing.md and docs/sklearn.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd

import racer
from experiments.importance.known_truth import SPACE, evaluate
from experiments.options import figures_option
from experiments.report import read, shrink
from experiments.wainer2023 import published
from racer import compare
from racer.plots import evolution
from racer.stats import bayesian_signed_rank_test, bradley_terry, plackett_luce_by_budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
DEMSAR = ROOT / "tests" / "data" / "demsar2006_table6_auc.csv"


def accuracy() -> pd.DataFrame:
    """Return Wainer's Table 2: the accuracy of five classifiers on 20 data sets."""
    return pd.DataFrame(published.accuracy(), columns=list(published.NAMES))


def auc() -> pd.DataFrame:
    """Return Demsar's Table 6: the AUC of four variants of C4.5 on 14 data sets."""
    return pd.DataFrame(
        [{k: v if k == "dataset" else float(v) for k, v in row.items()} for row in read(DEMSAR)]
    )


def searches(budgets: tuple[int, ...], runs: int, seed: int) -> dict[float, Any]:
    """Return the best of so many evaluations, by three ways of searching a noisy valley.

    A random search, small steps from the best so far, and steps that shrink with time: made up
    here to have something that changes with the budget.
    """
    found: dict[float, list[list[float]]] = {float(budget): [] for budget in budgets}
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        best = np.zeros((3, max(budgets)))
        for way in range(3):
            x, value = rng.uniform(-5, 5, 4), np.inf
            for t in range(max(budgets)):
                step = (0.15, 4.0 / (1.0 + 0.05 * t))[way - 1]
                new = rng.uniform(-5, 5, 4) if way == 0 else x + step * rng.normal(size=4)
                cost = float((new**2).sum() + 2.0 * np.abs(np.sin(3.0 * new)).sum())
                if cost < value:
                    x, value = new, cost
                best[way, t] = value
        for budget in budgets:
            found[float(budget)].append(best[:, budget - 1].tolist())
    return {budget: np.array(rows) for budget, rows in found.items()}


def step_sizes() -> racer.RaceResult:
    """Return the race of the README."""

    def evaluate(config: dict[str, float], instance: float, seed: int) -> float:
        rng, x = np.random.default_rng(seed), instance
        for _ in range(50):
            x = x - config["step"] * (2 * x + rng.normal())
        return abs(x)

    steps = [{"step": 0.002 * 1.5**i} for i in range(16)]
    return racer.race(steps, evaluate, instances=[1.0, 5.0, 25.0], budget=1500, seed=1)


def sizes() -> racer.RaceResult:
    """Return the race to the front of docs/tutorial_metrics.md."""

    def evaluate(size: int, item: float, seed: int) -> dict[str, float]:
        noise = np.random.default_rng([seed, size]).normal(size=2)
        error = 0.1 + 0.4 / size + 0.004 * max(size - 16, 0) + 0.05 * noise[0] + item
        return {"error": error, "seconds": 0.05 * size * (1.0 + 0.1 * noise[1])}

    return racer.race(
        [1, 2, 4, 8, 16, 32, 64],
        evaluate,
        [0.0, 0.02, 0.05, 0.1],
        budget=700,
        seed=2,
        metrics={"error": "min", "seconds": "min"},
        objective=racer.Pareto("error", "seconds"),
    )


def known_truth() -> racer.TuneResult:
    """Return a tuning on the space of `scripts/study.py known-truth`."""
    return racer.tune(SPACE, evaluate, range(10), budget=1000, seed=1, test_instances=range(10, 30))


def pictures() -> Iterator[tuple[str, Axes]]:
    """Yield the name of each picture, and the picture."""
    nemenyi = compare(auc(), "friedman", posthoc="nemenyi", alpha=0.1, maximize=True)
    yield "critical_difference", nemenyi.plot()
    yield "race", step_sizes().plot()
    yield "front", sizes().plot("front")
    tuned = known_truth()
    for kind in ("quality", "sampling", "parallel", "importance"):
        yield f"tuning_{kind}", tuned.plot(kind)
    yield "ablation", racer.ablation(tuned, evaluate).plot()
    yield "matrix", compare(accuracy(), "bayesian-friedman", maximize=True).plot("matrix")
    yield "pairs", compare(accuracy(), "bradley-terry", maximize=True).plot()
    yield "winning", compare(accuracy(), "plackett-luce", maximize=True).plot()
    frame = accuracy()
    result = bayesian_signed_rank_test(frame["lgbm"], frame["svm"], rope=0.01, maximize=True)
    yield "simplex", result.plot(("lgbm", "svm"))
    yield (
        "predictive_check",
        bradley_terry(published.counts("table3b_wins")).plot_predictive_check(),
    )
    scores = searches((10, 30, 100, 300, 1000), runs=30, seed=1)
    names = ["random", "small steps", "shrinking steps"]
    yield (
        "evolution",
        evolution(plackett_luce_by_budget(scores, names=names), caption="evaluations"),
    )
    yield "sklearn", searched().result_.plot()


def searched() -> Any:
    """Return the search of docs/sklearn.md."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
    from sklearn.svm import SVC  # noqa: PLC0415

    from racer.integrations.sklearn import RacingSearchCV  # noqa: PLC0415

    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.01, 0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]}
    return RacingSearchCV(model, grid).fit(*load_breast_cancer(return_X_y=True))


@click.command()
@figures_option
def main(folder: Path) -> None:
    """Write the pictures as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, ax in pictures():
        path = folder / f"{name}.png"
        figure: Any = ax.figure
        figure.savefig(path, dpi=100)
        shrink(path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
