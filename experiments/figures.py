"""Draw the pictures of the README, docs/compare.md, docs/seeing.md and docs/sklearn.md."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd

import racer
from experiments.calvo2019 import analyses, runs
from experiments.options import figures_option
from experiments.pictures import looks_alike, save
from experiments.report import read
from experiments.wainer2023 import published
from racer import compare
from racer.cli.demo.problems import FUNCTIONS
from racer.comparison import example_scores
from racer.plots import evolution
from racer.stats import bayesian_signed_rank_test, bradley_terry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
DEMSAR = ROOT / "tests" / "data" / "demsar2006_table6_auc.csv"
SPACE = racer.Space(
    {
        "large": racer.Real(0, 1),
        "medium": racer.Real(0, 1),
        "pair1": racer.Real(0, 1),
        "pair2": racer.Real(0, 1),
        "choice": racer.Categorical(["a", "b"]),
        "child": racer.Real(0, 1),
        "none1": racer.Real(0, 1),
        "none2": racer.Integer(1, 50),
        "none3": racer.Categorical(["x", "y", "z"]),
    },
    conditions={"child": {"choice": "a"}},
    default={
        "large": 0.95,
        "medium": 0.05,
        "pair1": 0.1,
        "pair2": 0.1,
        "choice": "b",
        "none1": 0.5,
        "none2": 25,
        "none3": "x",
    },
)


def auc() -> pd.DataFrame:
    """Return Demsar's Table 6: the AUC of four variants of C4.5 on 14 data sets."""
    return pd.DataFrame(
        [{k: v if k == "dataset" else float(v) for k, v in row.items()} for row in read(DEMSAR)]
    )


def descend(config: dict[str, float], instance: float, seed: int) -> float:
    """Return the distance of noisy gradient descent from the optimum after 50 steps."""
    rng, x = np.random.default_rng(seed), instance
    for _ in range(50):
        x = x - config["step"] * (2 * x + rng.normal())
    return abs(x)


def step_sizes() -> racer.RaceResult:
    """Return the race of docs/start.md."""
    steps = [{"step": 0.002 * 1.5**i} for i in range(16)]
    return racer.race(steps, descend, instances=[1.0, 5.0, 25.0], budget=1500, seed=1)


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
        goal={"error": "min", "seconds": "min"},
    )


def cost(config: dict[str, Any]) -> float:
    """Return the true cost."""
    total: float = 3.0 * (config["large"] - 0.2) ** 2 + 1.5 * abs(config["medium"] - 0.6)
    total += 4.0 * (config["pair1"] - 0.5) * (config["pair2"] - 0.5)
    child = 2.0 * (config["child"] - 0.4) ** 2 if config["choice"] == "a" else 0.9
    return total + child


def evaluate(config: dict[str, Any], instance: int, seed: int) -> float:
    """Return the cost with the block's level and noise of its own."""
    level = np.random.default_rng(seed).normal(0.2 * instance, 0.3)
    own = np.random.default_rng([seed, int(1e9 * config["large"])]).normal(0.0, 0.1)
    return float(cost(config) + level + own)


def known_truth() -> racer.TuneResult:
    """Return a tuning in which three parameters change nothing, and two matter only together."""
    return racer.tune(
        SPACE, evaluate, racer.Instances(range(10), held_out=range(10, 30)), budget=1000, seed=1
    )


def pictures() -> Iterator[tuple[str, Axes | Figure]]:
    """Yield the name of each picture, and the picture."""
    nemenyi = compare(auc(), "friedman", posthoc="nemenyi", alpha=0.1, goal="max")
    yield "critical_difference", nemenyi.plot()
    yield "race", step_sizes().plot()
    yield "front", sizes().plot("front")
    tuned = known_truth()
    for kind in ("quality", "sampling", "parallel", "importance"):
        yield f"tuning_{kind}", tuned.plot(kind)
    yield "ablation", racer.ablation(tuned, evaluate).plot()
    frame = example_scores().iloc[:, 1:]
    yield "matrix", compare(frame, "bayesian-friedman", goal="max").plot("matrix")
    yield "pairs", compare(frame, "bradley-terry", goal="max").plot()
    yield "winning", compare(frame, "plackett-luce", goal="max").plot()
    result = bayesian_signed_rank_test(frame["lgbm"], frame["svm"], rope=0.01, maximize=True)
    yield "simplex", result.plot(("lgbm", "svm"))
    yield (
        "predictive_check",
        bradley_terry(published.counts("table3b_wins")).plot_predictive_check(),
    )
    reached = analyses.budget_evolution(read(runs.RUNS), tuple(FUNCTIONS), 4000, 1)
    yield "evolution", evolution(reached, caption="evaluations")
    search = searched()
    yield "sklearn", search.result_.plot()
    yield "fits", fits(search)
    yield "reliability", reliability()


def data() -> tuple[Any, dict[str, list[float]], Any, Any]:
    """Return the model, the grid and the data of docs/sklearn.md."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
    from sklearn.svm import SVC  # noqa: PLC0415

    grid = {"svc__C": [0.01, 0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]}
    return make_pipeline(StandardScaler(), SVC()), grid, *load_breast_cancer(return_X_y=True)


def searched() -> Any:
    """Return the search of docs/sklearn.md."""
    from racer.integrations.sklearn import RacingSearchCV  # noqa: PLC0415

    model, grid, *rows = data()
    return RacingSearchCV(model, grid, random_state=1).fit(*rows)


def full_grid(search: Any) -> Any:
    """Return the grid search of the same candidates on the same folds."""
    from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold  # noqa: PLC0415

    model, grid, *rows = data()
    folds = RepeatedStratifiedKFold(
        n_splits=5,
        n_repeats=4,
        random_state=search._seed(),  # noqa: SLF001
    )
    return GridSearchCV(model, grid, cv=folds).fit(*rows)


def fits(search: Any) -> Axes:
    """Draw a bar per candidate, as long as its number of fits: a full grid, and the race."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    raced = np.sort(search.cv_results_["race_folds"])[::-1]
    same = full_grid(search).best_params_ == search.best_params_
    winner = "the same winner" if same else "another winner"
    grid = np.full(len(raced), raced.max())
    grey, teal = "#848d97", "#00897b"  # both can be read on white and on black
    axes = Figure(figsize=(7.2, 2.5), layout="constrained").subplots(1, 2, sharey=True)
    titles = (f"grid search: {grid.sum()} fits", f"racer: {raced.sum()} fits, {winner}")
    axes[0].invert_yaxis()
    for ax, folds, title in zip(axes, (grid, raced), titles, strict=True):
        ax.barh(range(len(folds)), folds, color=[teal, *[grey] * (len(folds) - 1)])
        ax.set_title(title, color=grey, fontweight="bold")
        ax.set_xlabel("fits of a candidate, one per fold", color=grey)
        ax.set_xticks(range(0, int(raced.max()) + 1, 5))
        ax.tick_params(colors=grey, left=False, labelleft=False)
        ax.spines[:].set_visible(False)
    axes[0].set_ylabel(f"{len(raced)} candidates", color=grey)
    right: Axes = axes[1]
    return right


def reliability() -> Figure:
    """Draw experiments/reliability/bins.csv: P(best), and how often it is true."""
    from experiments.reliability.tables import draw  # noqa: PLC0415

    return draw(pd.read_csv(ROOT / "experiments" / "reliability" / "bins.csv"))


@click.command()
@figures_option
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with 1 if a picture is not current."
)
def main(folder: Path, *, check: bool) -> None:
    """Write all pictures of README and docs as SVG, but for those of reports."""
    folder.mkdir(parents=True, exist_ok=True)
    stale = []
    with tempfile.TemporaryDirectory() as place:
        for name, drawn in pictures():
            target = folder / f"{name}.svg"
            path = Path(place, target.name) if check else target
            save(getattr(drawn, "figure", drawn), path)
            text = path.read_text(encoding="utf-8")
            if check and not (
                target.exists() and looks_alike(text, target.read_text(encoding="utf-8"))
            ):
                stale.append(target.name)
            print(f"{target}: {path.stat().st_size / 1000:.0f} kB")
    if stale:
        raise click.ClickException(
            f"not current: {', '.join(stale)}; run python scripts/study.py figures"
        )
