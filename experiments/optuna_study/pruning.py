"""When pruners prune: challengers of a trial that is already there, equal and worse.

Values are quality + difficulty of the instance + normal noise with sd 1, to be minimised. The
challenger reports instance by instance and asks after each, through Optuna.
"""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.trial import TrialState, create_trial

from experiments.report import measured, pm, table
from racer.deciders import AnytimeRace, BayesianFriedman, FRace, TRace
from racer.integrations.optuna import RacingPruner
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from optuna.pruners import BasePruner

    from experiments.report import Columns, Row
    from racer.deciders import Decider

__all__ = ["DEFAULTS", "Challenge", "errors", "pruned", "quiet"]


def _racing(decider: Decider) -> BasePruner:
    """Return a pruner that is told that steps are instances, and not how many there are to come."""
    return RacingPruner(decider, instances=1_000_000)


# By name a pruner with the level of error that it is given, and that level
DEFAULTS: Mapping[str, tuple[Callable[[], BasePruner], float]] = {
    "WilcoxonPruner": (lambda: optuna.pruners.WilcoxonPruner(p_threshold=0.1), 0.1),
    "anytime": (lambda: _racing(AnytimeRace(0.05)), 0.05),
    "bayesian-friedman": (lambda: _racing(BayesianFriedman(0.95, epsilon=0.0)), 0.05),
    "f-race": (lambda: _racing(FRace(alpha=0.05)), 0.05),
    "t-race": (lambda: _racing(TRace(alpha=0.05)), 0.05),
}
MOST = 50  # instances that a worse challenger has to be pruned within
ENDS = (10, 30, 100)  # instances after which an equal challenger is looked at


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna from logging trials, and from warning of what is experimental in it."""
    verbosity = optuna.logging.get_verbosity()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            yield
        finally:
            optuna.logging.set_verbosity(verbosity)


class Challenge(NamedTuple):
    """What a pruner meets: the challenger's lag in sds of the noise, the sd of difficulties."""

    pruner: str
    instances: int
    worse: float = 0.0
    difficulty: float = 0.0


@quiet()
def pruned(seed: int, challenge: Challenge, repetition: int) -> dict[str, float]:
    """Return after how many instances the challenger was pruned (all, if it was not).

    And for each of ENDS, and MOST, in percent: 100 if it was pruned by then.
    """
    rng = rng_for(seed, "challenge", repetition)  # the same values for each pruner
    n = challenge.instances
    rng.normal()  # the quality of a trial, among several
    difficulty = rng.normal(size=n) * challenge.difficulty
    values = (difficulty + rng.normal(size=n)).tolist()
    challenger = challenge.worse + difficulty + rng.normal(size=n)
    study = optuna.create_study(pruner=DEFAULTS[challenge.pruner][0]())
    study.add_trial(
        create_trial(
            state=TrialState.COMPLETE,
            value=math.fsum(values) / n,
            intermediate_values=dict(enumerate(values)),
        )
    )
    trial, after = study.ask(), math.inf
    for step, value in enumerate(challenger.tolist()):
        trial.report(value, step)
        if trial.should_prune():
            after = step + 1.0
            break
    ever = {f"within_{end}": 100.0 * (after <= end) for end in (*ENDS, MOST)}
    return {"instances": min(after, float(n)), **ever}


def _challenged(
    challenges: list[Challenge], repetitions: int, jobs: int, seed: int
) -> list[dict[str, Any]]:
    return measured(partial(pruned, seed), challenges, range(repetitions), jobs)


def _named(rows: Sequence[Row], difficulty: float) -> list[dict[str, Any]]:
    """Return the instances of worse challengers, under names that have the difficulty."""
    names = {"instances": f"at_{difficulty:g}", "instances_se": f"at_{difficulty:g}_se"}
    found = (row for row in rows if row["difficulty"] == difficulty)
    return [{new: row[old] for old, new in names.items()} for row in found]


def errors(repetitions: int, jobs: int, seed: int) -> str:
    """Return the table of the default settings."""
    equal = [Challenge(name, max(ENDS)) for name in DEFAULTS]
    worse = [Challenge(name, MOST, 1.0, d) for d in (0.0, 30.0) for name in DEFAULTS]
    slower = _challenged(worse, repetitions // 2, jobs, seed)
    columns: Columns = {
        "pruner (its level)": lambda row: f"{row['pruner']} ({DEFAULTS[row['pruner']][1]:g})",
        **{f"equal, ever, %: {end}": pm(f"within_{end}", 1) for end in ENDS},
        "1 sd worse: instances, difficulty 0": pm("at_0", 1),
        "1 sd worse: instances, difficulty 30": pm("at_30", 1),
    }
    rows = zip(
        _challenged(equal, repetitions, jobs, seed),
        *(_named(slower, difficulty) for difficulty in (0.0, 30.0)),
        strict=True,
    )
    return table((one | easy | hard for one, easy, hard in rows), columns)
