"""Worlds of the study of P(best): functions of a generator and a number of candidates.

A world returns costs (n, m), or a posterior, or the result of a race, a search or a tuning, and each
candidate's share (m,) in being truly the best, NaN where it is not compared. A law returns costs of n blocks.

Where evaluations fail, the best has the least mean of the candidates that fail least on their own: by
chance, and on hard blocks, all fail alike. Own rates that differ by at most `ALIKE` count as one.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import racer
from experiments.sklearn_folds.worlds import race_over_folds
from racer.deciders import CorrelatedTRace
from racer.failures import impute_by_block
from racer.stats import best_posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Law = Callable[[Generator, int, int], tuple[Floats, Floats]]
    World = Callable[[Generator, int], tuple[Any, Floats]]
    Qualities = Callable[[Generator, int], Floats]

__all__ = ["KINDS", "best_of", "portfolio"]

SIZES = (3, 10, 40, 150)
DECIDERS = ("bayesian-friedman", "f-race", "best-for-budget")
SPREADS = (0.1, 0.3, 1.0)  # of qualities, in standard deviations of the noise
FAR = (3.0, 10.0, 100.0, 1000.0)
ALIKE = 0.05
FIRST_TEST = 5  # block of a crude race, which drops who is two standard errors behind
RUNTIME = racer.Runtime(10.0, par=10.0)
HELD_OUT = 40_000  # instances on which the PAR10 is computed
OFFSETS = (0.0, 0.03, 0.1, 0.3)
SPACE = racer.Space({"m": racer.Categorical(OFFSETS)} | dict.fromkeys("xyz", racer.Real(0, 1)))


def best_of(quality: Floats, rates: Floats | float = 0.0) -> Floats:
    """Return each candidate's share (m,) in being the best: 1, or equal shares of equals."""
    rates = np.broadcast_to(rates, quality.shape)
    costs = np.where(rates <= rates.min() + ALIKE, quality, np.inf)
    best = costs <= costs.min() + 1e-12
    return np.asarray(best / best.sum())


# -- tables and races of a law


def left_by_race(costs: Floats) -> Floats:
    """Return costs (n, m), NaN where a crude race has dropped a candidate before."""
    numbers, seen, left = impute_by_block(costs), costs.copy(), np.arange(costs.shape[1])
    for n in range(FIRST_TEST, len(costs)):
        first = np.nanmean(numbers[:n, left], axis=0).argmin()
        behind = numbers[:n, left] - numbers[:n, [left[first]]]
        limit = 2.0 * np.nanstd(behind, axis=0) / math.sqrt(n)
        out = np.nanmean(behind, axis=0) > limit
        seen[n:, left[out]] = np.nan
        left = left[~out]
    return seen


def table(law: Law, rng: Generator, m: int) -> tuple[Floats, Floats]:
    """Return a table of 5 to 50 blocks; every other one is as a crude race leaves it."""
    costs, best = law(rng, m, int(rng.choice((5, 10, 20, 50))))
    return left_by_race(costs) if rng.random() < 0.5 else costs, best


def race(laws: Sequence[Law], rng: Generator, m: int, **settings: Any) -> tuple[Any, Floats]:
    """Return a race in one of these worlds, 25 evaluations for each candidate, and the best."""
    budget = 25 * m
    costs, best = laws[int(rng.integers(len(laws)))](rng, m, budget // 2 + 1)
    seed = int(rng.integers(2**31))
    contest = racer.Race(range(m), budget=budget, seed=seed, **settings)
    while cells := contest.ask():
        for cell in cells:
            cost = float(costs[cell.block, cell.candidate])
            told = racer.Outcome("ok", cost)
            if cell.bound is not None and cost >= cell.bound:
                told = racer.Outcome("capped", cell.bound)
            elif math.isinf(cost):
                told = racer.Outcome("failed", None, message="in this world")
            contest.tell(cell, told)
    return contest.result(), best


# -- costs


def normal(rng: Generator, m: int) -> Floats:
    """Return normal qualities of one of several spreads."""
    return np.asarray(rng.choice(SPREADS) * rng.standard_normal(m))


def one_better(rng: Generator, m: int) -> Floats:
    """Return equal qualities, of which one is better by a quarter to one standard deviation."""
    return np.where(np.arange(m) == rng.integers(m), -rng.choice((0.25, 0.5, 1.0)), 0.0)


def some_bad(many: int | None, low: float, high: float, rng: Generator, m: int) -> Floats:
    """Return qualities of a narrow pool; `many` candidates (None: half) are `low` to `high` sd worse."""
    quality, k = 0.5 * rng.random(m), m // 2 if many is None else min(many, m - 1)
    quality[rng.permutation(m)[:k]] += rng.uniform(low, high, k)
    return quality


def costs_of(
    qualities: Qualities, rng: Generator, m: int, n: int, *, own: float = 0.0, blocks: float = 0.0
) -> tuple[Floats, Floats]:
    """Law of costs: quality, noise, and a level of the block.

    Spreads of noise differ between candidates by factors of `own`, and between blocks: log sd.
    """
    quality, level = qualities(rng, m), 3.0 * rng.standard_normal((n, 1))
    spread = np.exp(own * rng.standard_normal(m) + blocks * rng.standard_normal((n, 1)))
    return quality + level + spread * rng.standard_normal((n, m)), best_of(quality)


def heavy_tailed(rng: Generator, m: int, n: int) -> tuple[Floats, Floats]:
    """Law of costs with noise of Student's t with two degrees of freedom."""
    quality = normal(rng, m)
    return quality + rng.standard_t(2, (n, m)) + rng.standard_normal((n, 1)), best_of(quality)


LAWS: dict[str, Law] = {
    "normal": partial(costs_of, normal),
    "near-equal": partial(costs_of, lambda rng, m: 0.1 * rng.standard_normal(m)),
    "all equal": partial(costs_of, lambda _, m: np.zeros(m)),
    "one better": partial(costs_of, one_better),
    "uniform": partial(costs_of, lambda rng, m: rng.uniform(0.0, 3.0, m)),
    "some far better": partial(costs_of, lambda rng, m: -rng.exponential(0.5, m)),
    "long tail": partial(costs_of, lambda rng, m: rng.exponential(1.0, m) ** 2),
    "heavy tails": heavy_tailed,
    "unequal noise": partial(costs_of, normal, own=0.7),
    "unequal blocks": partial(costs_of, normal, blocks=1.0),
    "half bad": partial(costs_of, partial(some_bad, None, 2.0, 20.0)),
    **{f"one bad, {x:g} sd": partial(costs_of, partial(some_bad, 1, x, x)) for x in FAR},
    **{f"three bad, {x:g} sd": partial(costs_of, partial(some_bad, 3, x, 2 * x)) for x in FAR},
}


# -- failures


def failing(
    rates: Qualities, rng: Generator, m: int, n: int, hard: float = 0.0, unsolved: float = 0.0
) -> tuple[Floats, Floats]:
    """Law of costs that fail at rates of each candidate, with odds that differ between blocks.

    `hard` is the standard deviation of the blocks' log odds; on a share `unsolved` all fail.
    """
    quality, rate, level = normal(rng, m), rates(rng, m), rng.standard_normal((n, 1))
    with np.errstate(divide="ignore"):
        odds = np.log(rate / (1.0 - rate)) + hard * level
    failed = rng.random((n, m)) < 1.0 / (1.0 + np.exp(-odds))
    failed |= rng.random((n, 1)) < unsolved
    costs = quality + rng.standard_normal((n, m)) + 3.0 * level
    return np.where(failed, np.inf, costs), best_of(quality, rate)


def over_limit(rng: Generator, m: int, n: int) -> tuple[Floats, Floats]:
    """Law of logarithms of run times, of which those over a limit are failures."""
    quality, limit = normal(rng, m), rng.choice((2.0, 3.0))
    logs = quality + rng.standard_normal((n, m)) + 2.0 * rng.standard_normal((n, 1))
    return np.where(logs > limit, np.inf, logs), best_of(quality)


def penalised(law: Law, rng: Generator, m: int, n: int) -> tuple[Floats, Floats]:
    """Law of run times, a failure ten times the largest of them."""
    costs, best = law(rng, m, n)
    times = np.exp(0.5 * costs)
    largest = np.max(times, where=np.isfinite(times), initial=1.0)
    return np.where(np.isinf(times), 10.0 * largest, times), best


def at(rate: float) -> Qualities:
    """Return one rate for all."""
    return lambda _, m: np.full(m, rate)


def of_their_own(rng: Generator, m: int) -> Floats:
    """Return rates, of which a third are larger."""
    return np.where(rng.permutation(m) < max(m // 3, 1), rng.choice((0.2, 0.5)), 0.02)


def half_never(rng: Generator, m: int) -> Floats:
    """Return rates, of which half are 0."""
    return np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0.0, 0.3, m))


_BY_CHANCE, _HARD = partial(failing, at(0.1)), partial(failing, at(0.05), hard=2.0)
_OWN = partial(failing, of_their_own)
FAILING: dict[str, Law] = {
    "fail by chance, .02": partial(failing, at(0.02)),
    "fail by chance, .1": _BY_CHANCE,
    "fail on hard blocks": _HARD,
    "fail of their own": _OWN,
    "of their own, hard blocks": partial(_OWN, hard=2.0),
    "the same, a third unsolved": partial(_OWN, hard=2.0, unsolved=1.0 / 3.0),
    "half never fail": partial(failing, half_never),
    "each at its own rate": partial(failing, lambda rng, m: rng.beta(1.0, 9.0, m)),
    "over a limit": over_limit,
    "penalty, by chance": partial(penalised, _BY_CHANCE),
    "penalty, hard blocks": partial(penalised, _HARD),
    "penalty, of their own": partial(penalised, _OWN),
    "penalty, over a limit": partial(penalised, over_limit),
}


def timed(
    rng: Generator, m: int, n: int, apart: float = 0.5, own: float = 0.0, hang: float = 0.0
) -> tuple[Floats, Floats]:
    """Law of log-normal run times, of which some hang; the best has the least PAR10.

    `apart` is the standard deviation of the candidates' log medians; logarithms of the spreads of
    their log times differ by `own`; at most a share `hang` hangs.
    """
    spread, share = 0.4 * rng.lognormal(0.0, own, m), hang * rng.choice((0.0, 0.1, 0.3, 1.0), m)
    logs = rng.normal(-1.0, apart, m) + spread * rng.standard_normal((HELD_OUT + n, m))
    times = np.exp(logs + rng.standard_normal((len(logs), 1)))
    times[rng.random(times.shape) < share] = np.inf
    seen, held_out = times[:n], times[n:]
    par10 = np.where(held_out >= RUNTIME.limit, 10.0 * RUNTIME.limit, held_out).mean(axis=0)
    return seen, best_of(par10)


TIMED: dict[str, Law] = {
    "different speeds": partial(timed, apart=1.0),
    "nearly equal speeds": partial(timed, apart=0.3),
    "spreads of their own": partial(timed, apart=0.3, own=0.5),
    "some hang": partial(timed, hang=0.15),
}


def portfolio(rng: Generator, m: int, *, solved: bool = False) -> Floats:
    """Return run times (n, m) of solvers on instances, +inf over a limit of 1, as in ASlib.

    Instances have a difficulty and a kind; solvers of a family like the same kinds. With `solved`,
    instances that nobody solved are left out.
    """
    n, families = int(rng.integers(100, 300)), rng.standard_normal((-(-m // 3), 4))
    likes = families[rng.integers(len(families), size=m)] + 0.3 * rng.standard_normal((m, 4))
    logs = 0.5 * rng.standard_normal((n, 4)) @ likes.T + rng.standard_normal(m)
    logs += 3.0 * rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, m))
    times = np.exp(logs - np.quantile(logs, rng.uniform(0.4, 0.9)))
    times[times > 1.0] = np.inf
    return times[np.isfinite(times).any(axis=1)] if solved else times


# -- searches over folds, and tunings

# Of models' qualities, in standard deviations of a fold's noise: in searches of 24 models of real data
# their means vary by .35 to 5.6 of them.
WIDTHS = {"models are alike": (0.0, 0.25, 0.5, 1.0), "models differ": (2.0, 4.0, 8.0)}
FORMULAS: dict[str, Callable[[Any], float]] = {
    "sphere": lambda c: sum((c[name] - 0.3) ** 2 for name in "xyz"),
    "interaction": lambda c: (c["x"] - c["y"]) ** 2 + 0.3 * abs(c["z"] - 0.2),
    "choices": lambda c: c["m"] + (c["x"] - 0.4) ** 2,
    "pure noise": lambda _: 0.0,
}


def folds(widths: tuple[float, ...], rng: Generator, m: int) -> tuple[Any, Floats]:
    """Return P(best) of models over folds that share data, or a search; and the best.

    Two of n folds have correlation 1/n; qualities are uniform.
    """
    n = int(rng.choice((5, 10, 20)))
    quality, shared = rng.choice(widths) * rng.random(m), 1.0 / n
    costs = quality + math.sqrt(shared) * rng.standard_normal(m)
    costs = costs + math.sqrt(1.0 - shared) * rng.standard_normal((n, m))
    if rng.random() < 0.5:
        return best_posterior(costs, measure="mean", correlation=shared), best_of(quality)
    seed = int(rng.integers(2**31))
    return race_over_folds(CorrelatedTRace(shared), costs, seed), best_of(quality)


def tuning(formula: Callable[[Any], float], rng: Generator, m: int) -> tuple[Any, Floats]:
    """Return a tuning with ten evaluations for each of m."""
    noise, seed = rng.choice((0.05, 0.3)), int(rng.integers(2**31))

    def evaluate(config: Any, instance: int, seed: int) -> float:  # noqa: ARG001
        return float(formula(config) + noise * rng.standard_normal() + 0.5 * math.sin(instance))

    result = racer.tune(SPACE, evaluate, range(30), budget=10 * m, seed=seed)
    best, some = np.full(len(result.configs), np.nan), list(result.compared)
    best[some] = best_of(np.array([formula(result.configs[c]) for c in some]))
    return result, best


_RUNS: dict[str, World] = {k: partial(race, [law], goal=RUNTIME) for k, law in TIMED.items()}
_ALL = [*LAWS.values(), *FAILING.values()]
KINDS: dict[str, tuple[Sequence[int], float, dict[str, World]]] = {
    "tables": (SIZES, 1.0, {name: partial(table, law) for name, law in LAWS.items()}),
    "failures": (SIZES, 1.0, {name: partial(table, law) for name, law in FAILING.items()}),
    "races": (SIZES[:3], 1.0, {name: partial(race, _ALL, decider=name) for name in DECIDERS}),
    "run times": (SIZES[:3], 0.4, _RUNS),
    "folds": ((10,), 4.0, {name: partial(folds, widths) for name, widths in WIDTHS.items()}),
    "tunings": ((40, 120), 0.1, {name: partial(tuning, f) for name, f in FORMULAS.items()}),
}
"""By kind: numbers of candidates, a share of the repetitions, and worlds."""
