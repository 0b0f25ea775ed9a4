"""Importance and ablation on a space whose truth is known.

Cost: two additive parameters, two that matter only together, a choice with a conditional
parameter, and three that change nothing; with noise of each block and of each evaluation. The true
total Sobol indices are computed from the function itself, as the true gain of each step is.

Right is an importance that puts every parameter that matters before every inert one, and has no two
in the wrong order whose true indices differ by a factor of three or more; an ablation whose steps
have no two in the wrong order whose true gains (each from where the path stands) differ by more
than 0.05, and whose inert parameters come last.
"""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy.stats import sobol_indices, uniform

import racer
from experiments.options import number_option
from experiments.report import markdown
from racer.space.structure import toward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer import AblationResult

__all__ = ["main", "table"]

HERE = Path(__file__).parent
BUDGETS = (1000, 2000)  # of the page
INERT = ("none1", "none2", "none3")
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
NAMES = tuple(SPACE.parameters)


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


def true_totals() -> dict[str, float]:
    """Return the true total Sobol indices."""

    def at(points: NDArray[np.float64]) -> NDArray[np.float64]:
        x = dict(zip(NAMES, points, strict=True))
        total = 3.0 * (x["large"] - 0.2) ** 2 + 1.5 * abs(x["medium"] - 0.6)
        total += 4.0 * (x["pair1"] - 0.5) * (x["pair2"] - 0.5)
        child = np.where(x["choice"] < 0.5, 2.0 * (x["child"] - 0.4) ** 2, 0.9)
        return np.asarray(total + child)

    dists: Any = [uniform()] * len(NAMES)
    found = sobol_indices(func=at, n=2**14, dists=dists, rng=np.random.default_rng(1))
    totals: list[float] = np.asarray(found.total_order).tolist()
    return dict(zip(NAMES, totals, strict=True))


def importance_is_right(said: dict[str, float], truth: dict[str, float]) -> bool:
    """Say whether all that matters comes first, in the order of what clearly differs."""
    active = [name for name in NAMES if name not in INERT]
    if min(said[name] for name in active) <= max(said[name] for name in INERT):
        return False
    return all(
        said[one] > said[other]
        for one in active
        for other in active
        if truth[one] >= 3.0 * truth[other]
    )


def largest_error(said: dict[str, float], truth: dict[str, float]) -> float:
    """Return by how much an index is wrong at most."""
    return max(abs(said[name] - truth[name]) for name in NAMES)


def ablation_is_right(found: AblationResult) -> bool:
    """Say whether each step was, but for 0.05, the largest true gain from where the path stood."""
    here, target = found.configs[found.path[0]], found.target
    for number in found.path[1:]:
        new = found.configs[number]
        options = [toward(SPACE, here, target, name) for name in target]
        gains = [cost(here) - cost(option) for option in options if option is not None]
        if cost(here) - cost(new) < max(gains) - 0.05:
            return False
        here = new
    return bool(found.configs[found.path[-1]] == target)


def inert_come_last(found: AblationResult) -> bool:
    """Say whether no step of an inert parameter comes before one that gains more than 0.05."""
    gains = [cost(found.configs[s.before]) - cost(found.configs[s.after]) for s in found.steps]
    of_inert = [i for i, step in enumerate(found.steps) if set(step.parameters) <= set(INERT)]
    return all(gain <= 0.05 for i in of_inert[:1] for gain in gains[i:])


def table() -> str:
    """Return the table of the page, a row for each recorded budget."""
    rows = []
    for budget in BUDGETS:
        with (HERE / f"known_truth_{budget}.csv").open(encoding="utf-8", newline="") as file:
            total, *runs = csv.DictReader(file)
        errors = sorted(float(run["error"]) for run in runs)
        rows.append(
            [
                f"{budget} evaluations",
                total["importance_right"],
                f"{median(errors):.2f}, {errors[-1]:.2f}",
                total["ablation_right"],
            ]
        )
    head = ["budget", "importance right", "error: median, largest", "ablation right"]
    return markdown(head, rows)


@click.command()
@number_option("--seeds", default=10)
@number_option("--budget", default=2000)
@click.option("--csv", "path", type=click.Path(path_type=Path))
def main(seeds: int, budget: int, path: Path | None) -> None:
    """Tune with each seed; print, and keep, what importance and ablation say beside the truth."""
    path = path or HERE / f"known_truth_{budget}.csv"
    truth = true_totals()
    rows: list[list[Any]] = [["true", "", "", "", "", *(f"{truth[n]:.3f}" for n in NAMES), ""]]
    right = {"importance": 0, "ablation": 0}
    for seed in range(seeds):
        result = racer.tune(SPACE, evaluate, range(10), budget=budget, seed=seed)
        found = result.importance
        said = dict(zip(found.parameters, found.total, strict=True))
        path_taken = racer.ablation(result, evaluate)
        verdicts = {
            "importance": not found.is_poor and importance_is_right(said, truth),
            "ablation": ablation_is_right(path_taken) and inert_come_last(path_taken),
        }
        for name, value in verdicts.items():
            right[name] += value
        steps = " > ".join("+".join(step.parameters) for step in path_taken.steps)
        rows.append(
            [seed, f"{found.r_squared:.2f}", f"{largest_error(said, truth):.3f}"]
            + [("no", "yes")[v] for v in verdicts.values()]
            + [f"{said[name]:.3f}" for name in NAMES]
            + [steps]
        )
        print(*rows[-1], flush=True)
    head = ["seed", "r_squared", "error", "importance_right", "ablation_right", *NAMES, "ablation"]
    rows[0] = ["true", "", "", *(f"{right[n]} of {seeds}" for n in right), *rows[0][5:]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    print(*rows[0])
