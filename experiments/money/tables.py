"""Races on a budget of money: whether it is kept, and what planning with it loses and wins.

Twenty candidates answer 120 items right or wrong; an answer costs the candidate's price, from 1 to 30,
times the length of the item.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np

import racer
from experiments.options import jobs_option, number_option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
M, N = 20, 120
PRICES = ("independent of ability", "growing with ability")
SHARES = (0.1, 0.3)  # of the price of all candidates on all items
FIRST_SEED = 5000
TOLD = "evaluations, told the right number"
COLUMNS = (
    *("prices", "budget", "way", "races", "regret", "regret_error"),
    *("beside_told", "beside_told_error", "beyond", "most", "used"),
)


def drawn(seed: int, prices: str) -> tuple[Floats, Floats, Floats]:
    """Return abilities (m,), who is wrong on each item, and what each answer costs, (n, m)."""
    rng = np.random.default_rng(seed)
    ability = rng.uniform(0.5, 0.85, M)
    shared, own = rng.random((N, 1)), rng.random((N, M))
    right = np.where(rng.random((N, M)) < 0.6, shared, own) < ability
    level = rng.permutation(M)
    if prices == PRICES[1]:
        level = (ability + rng.normal(0.0, 0.06, M)).argsort().argsort()
    price = 30.0 ** (level / (M - 1))
    length = np.exp(rng.normal(0.0, 0.5, (N, 1)))
    return ability, np.asarray(1.0 - right), np.asarray(price * length, dtype=np.float64)


def raced(wrong: Floats, costs: Floats, **given: Any) -> racer.RaceResult:
    """Return the result of a race on a budget, with the decider that plans with it."""
    race = racer.Race(
        range(M), range(N), deterministic=True, seed=1, decider="best-for-budget", **given
    )
    race.ask()
    while race.ended is None:
        at = race.n_blocks
        race.tell_block(
            [
                racer.Outcome("ok", float(wrong[at, c]), spend=float(costs[at, c]))
                for c in race.alive
            ]
        )
    return race.result()


def told_the_right_number(wrong: Floats, costs: Floats, budget: float) -> racer.RaceResult:
    """Return the race planned in evaluations, with the largest number that the money pays for.

    Found by trying, after the fact, to one block of all candidates: nobody can know it.
    """
    low, high = 5 * M, N * M  # the smallest budget with a test, and all
    best = raced(wrong, costs, budget=low)
    while high - low > M:
        middle = (low + high) // 2
        result = raced(wrong, costs, budget=middle)
        if (result.spent or 0.0) <= budget:
            low, best = middle, result
        else:
            high = middle
    return best


def measured(prices: str, share: float, seed: int) -> dict[str, tuple[float, float]]:
    """Return the regret of each way, in points, and what it spent of its budget."""
    ability, wrong, costs = drawn(seed, prices)
    budget = share * float(costs.sum())
    limit = racer.Budget(spend=budget)
    found: dict[str, tuple[int | None, float]] = {}
    results = {
        "money, prices known": raced(
            wrong, costs, budget=limit, prices=lambda c, i: float(costs[i, c])
        ),
        "money, prices learned": raced(wrong, costs, budget=limit),
        TOLD: told_the_right_number(wrong, costs, budget),
    }
    for way, result in results.items():
        found[way] = (result.leader, result.spent or 0.0)
    paid = int((np.cumsum(costs.sum(axis=1)) <= budget).sum())
    best = int(wrong[:paid].mean(axis=0).argmin())
    found["all on as many items as can be paid"] = (best, float(costs[:paid].sum()))
    return {
        way: (100.0 * float(ability.max() - ability[0 if c is None else c]), spent / budget)
        for way, (c, spent) in found.items()
    }


def estimated(values: Floats) -> tuple[str, str]:
    """Return a mean and its standard error."""
    return f"{values.mean():.3f}", f"{values.std(ddof=1) / np.sqrt(len(values)):.3f}"


@click.command("money")
@number_option("--repetitions", 250, help="Races of each kind, for each of 4 combinations.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Race with prices from 1 to 30 on budgets of money; write experiments/money/money.csv."""
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    click.echo(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    with (HERE / "money.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for prices in PRICES:
            for share in SHARES:
                rows = joblib.Parallel(n_jobs=jobs)(
                    joblib.delayed(measured)(prices, share, seed) for seed in seeds
                )
                told = np.array([row[TOLD][0] for row in rows])
                for way in rows[0]:
                    regret, spent = np.array([row[way] for row in rows]).T
                    figures = [*estimated(regret), *estimated(regret - told)]
                    beyond = int((spent > 1.0 + 1e-9).sum())
                    shares = (f"{spent.max():.4f}", f"{spent.mean():.4f}")
                    line = (prices, share, way, repetitions, *figures, beyond, *shares)
                    writer.writerow(line)
                    click.echo(f"| {' | '.join(map(str, line))} |")
