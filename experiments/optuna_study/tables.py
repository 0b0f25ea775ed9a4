"""What racing does for an Optuna study, side by side with WilcoxonPruner.

How often an equal challenger is ever pruned and how soon a worse one is, at the default settings,
among many earlier trials and among trials that run at once; the trade-off at matched error, for
every decider; the time of a report; and what a study finds on a noisy objective with 20 instances
at an equal number of evaluations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click
import numpy as np

from experiments.options import number_option, run_options, words_option
from experiments.optuna_study.pruning import (
    DEFAULTS,
    LADDERS,
    Setting,
    milliseconds,
    prunings,
    quiet,
    running,
)
from experiments.optuna_study.search import STRATEGIES, find
from experiments.report import markdown, mean_and_error, plus_minus

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["main"]

PARTS = ("errors", "earlier", "matched", "time", "search")
LEVELS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
DIFFICULTIES = (0.0, 3.0, 30.0)
MOST = 50  # instances that a worse challenger has to be pruned within
ENDS = (10, 30, 100)  # instances after which an equal challenger is looked at
EARLIER = 30  # trials, as many as instances
TIMED = (100, 50)  # earlier trials and instances where reports are timed


def percent(pruned_after: NDArray[np.float64], within: int) -> str:
    """Return how many were pruned within so many instances, in percent ± standard error."""
    p = float((pruned_after <= within).mean())
    return plus_minus(100.0 * p, 100.0 * math.sqrt(p * (1.0 - p) / len(pruned_after)), 1)


def instances(pruned_after: NDArray[np.float64]) -> str:
    """Return the mean number of instances used, all if it was not pruned."""
    return plus_minus(*mean_and_error(np.where(np.isnan(pruned_after), MOST, pruned_after)), 1)


def named(pruner: str) -> str:
    """Return a pruner with its default level."""
    return f"{pruner} ({DEFAULTS[pruner]:g})"


def errors(repetitions: int, jobs: int, seed: int) -> str:
    """Return the table of the default settings, against one trial."""
    head = [
        *("pruner (its level)", f"equal, ever, %: {ENDS[0]}", *map(str, ENDS[1:])),
        *(f"1 sd worse: instances, difficulty {d:g}" for d in DIFFICULTIES),
    ]
    rows = []
    for pruner in LADDERS:
        level = DEFAULTS[pruner]
        equal = prunings(pruner, level, Setting(max(ENDS)), repetitions, jobs, seed)
        worse = [
            prunings(pruner, level, Setting(MOST, 1.0, d), repetitions // 2, jobs, seed)
            for d in DIFFICULTIES
        ]
        ever = [percent(equal, n) for n in ENDS]
        rows.append([named(pruner), *ever, *map(instances, worse)])
    return markdown(head, rows)


def earlier(repetitions: int, jobs: int, seed: int) -> str:
    """Return the table against many trials, and among those that run at once."""
    k = EARLIER
    head = (
        *("pruner (its level)", f"{k} equal: ever in {k}, %"),
        *(f"{k} spread, as the best: ever in {k}, %", f"{k} equal, 1 sd worse: instances"),
        f"{k} spread, 1 sd worse than the best: instances",
        f"4 equal at once, {k} instances: a given one, %",
    )
    rows = []
    for pruner in ("WilcoxonPruner", "anytime"):
        level, few = DEFAULTS[pruner], max(repetitions // 2, 4)
        settings = (
            Setting(n, worse, 3.0, EARLIER, spread)
            for n, worse in ((EARLIER, 0.0), (MOST, 1.0))
            for spread in (0.0, 1.0)
        )
        found = [prunings(pruner, level, setting, few, jobs, seed) for setting in settings]
        together = 100.0 * running(pruner, 4, EARLIER, few, jobs, seed)
        rows.append(
            [
                *(
                    named(pruner),
                    *(percent(f, EARLIER) for f in found[:2]),
                    *map(instances, found[2:]),
                ),
                plus_minus(*mean_and_error(together), 1),
            ]
        )
    return markdown(head, rows)


def matched(repetitions: int, jobs: int, seed: int) -> str:
    """Return the trade-off at equal errors: of each pruner, its largest level that keeps 5 %."""
    head = (
        *("pruner", "level", f"equal: ever in {MOST}, %", "1 sd worse: instances"),
        "with difficulty 10: instances",
    )
    rows = []
    for pruner, make in LADDERS.items():
        for level in LEVELS:
            try:
                with quiet():
                    make(level)
            except ValueError:  # out of its range
                continue
            equal = prunings(pruner, level, Setting(MOST), repetitions, jobs, seed)
            if (equal <= MOST).mean() <= 0.05:
                worse = [
                    prunings(pruner, level, Setting(MOST, 1.0, d), repetitions // 2, jobs, seed)
                    for d in (0.0, 10.0)
                ]
                rows.append([pruner, f"{level:g}", percent(equal, MOST), *map(instances, worse)])
                break
        else:
            rows.append([pruner, f"none of {LEVELS[0]:g} to {LEVELS[-1]:g}", "> 5", "-", "-"])
    return markdown(head, rows)


def times(seed: int) -> str:
    """Return what report and should_prune take with many earlier trials."""
    rows = []
    for pruner in LADDERS:
        ms = milliseconds(pruner, *TIMED, seed)
        rows.append([named(pruner), *(f"{t:.1f}" for t in (ms.mean(), np.median(ms), ms.max()))])
    return markdown(("pruner (its level)", "mean, ms", "median", "largest"), rows)


def search(seeds: int, budgets: tuple[int, ...], jobs: int, seed: int) -> str:
    """Return what studies find, and the differences to the first strategy on the same problems."""
    head = (
        *("evaluations", "strategy", "trials", "regret of best_trial", "less than the first by"),
        *("less than WilcoxonPruner by", "regret of the best by evidence"),
    )
    rows = []
    for budget in budgets:
        regrets: dict[str, NDArray[np.float64]] = {}
        for strategy in STRATEGIES:
            found = find(strategy, budget, 20, seeds, jobs, seed)
            if max(f.evaluations for f in found) > budget:
                raise RuntimeError(f"{strategy} used more than {budget} evaluations")
            regrets[strategy] = np.array([f.regret for f in found])
            evidence = np.array([f.by_evidence for f in found])
            than = [
                plus_minus(*mean_and_error(regrets[base] - regrets[strategy]), 3)
                if base in regrets and base != strategy
                else "-"
                for base in ("TPE, mean of all", "TPE, WilcoxonPruner")
            ]
            rows.append(
                [
                    *(str(budget), strategy, f"{np.mean([f.trials for f in found]):.0f}"),
                    *(plus_minus(*mean_and_error(regrets[strategy]), 3), *than),
                    plus_minus(*mean_and_error(evidence), 3),
                ]
            )
    return markdown(head, rows)


@click.command()
@words_option("--parts", PARTS)
@number_option("--seeds", 20, least=2)
@words_option("--budgets", (400, 1000), click.IntRange(40))
@run_options(200, least=8)
def main(
    parts: tuple[str, ...],
    repetitions: int,
    seeds: int,
    budgets: tuple[int, ...],
    jobs: int,
    seed: int,
) -> None:
    """Print the tables."""
    tables = {
        "errors": lambda: errors(repetitions, jobs, seed),
        "earlier": lambda: earlier(repetitions, jobs, seed),
        "matched": lambda: matched(repetitions, jobs, seed),
        "time": lambda: times(seed),
        "search": lambda: search(seeds, budgets, jobs, seed),
    }
    for part in parts:
        print(f"{part}\n\n{tables[part]()}\n", flush=True)
