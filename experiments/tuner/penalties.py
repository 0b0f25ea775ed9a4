"""What tuning finds where unsolved runs cost ten times the limit, and not all typical times do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from experiments.options import number_option, words_option
from experiments.report import markdown
from experiments.tuner.contenders import CONTENDERS
from experiments.tuner.problem import Problem
from racer import Categorical, Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Config = Mapping[str, Any]

__all__ = ["main"]

KINDS = ("time", "spread", "choice", "stuck")
LIMIT, TIMES = 50.0, 10.0  # seconds; what an unsolved run counts, in limits
TUNING, HELD_OUT = 40, 160
NAMES = [f"x{i}" for i in range(5)]


class Law(NamedTuple):
    """Run times of a configuration: log-normal, and a share that is stuck."""

    location: float  # of the logarithm
    spread: float
    stuck: float

    def mean(self, shift: float) -> float:
        """Return the expected cost on an instance that shifts the logarithm."""
        at = self.location + shift
        far = (math.log(LIMIT) - at) / self.spread
        solved = math.exp(at + 0.5 * self.spread**2) * _normal(far - self.spread)
        return (1.0 - self.stuck) * (solved + (1.0 - _normal(far)) * TIMES * LIMIT) + (
            self.stuck * TIMES * LIMIT
        )

    def draw(self, shift: float, seed: int) -> float:
        """Return the cost of a run."""
        rng = np.random.default_rng(seed)
        is_stuck = rng.random() < self.stuck
        time = math.exp(self.location + shift + self.spread * rng.normal())
        return TIMES * LIMIT if is_stuck or time >= LIMIT else time


def _normal(value: float) -> float:
    return 0.5 * math.erfc(-value / math.sqrt(2.0))


def law(kind: str, config: Config, quick: list[float], safe: list[float]) -> Law:
    """Return the law of a configuration, by the optima of typical times and of what else differs."""
    near = sum((config[name] - at) ** 2 for name, at in zip(NAMES, quick, strict=True))
    other = sum((config[name] - at) ** 2 for name, at in zip(NAMES, safe, strict=True))
    if kind == "time":
        return Law(6.0 * near - 1.0, 1.0, 0.0)
    if kind == "spread":
        return Law(3.0 * near - 1.0, 0.4 + 2.5 * math.sqrt(other), 0.0)
    if kind == "stuck":
        return Law(3.0 * near - 1.0, 0.8, min(0.01 + 0.5 * other, 0.9))
    if config["kind"] == "safe":
        return Law(4.0 * near + 0.5, 0.8, 0.0)
    return Law(4.0 * near - 1.5, 0.8, min(0.02 + 0.3 * other, 0.9))


def problem(kind: str, seed: int) -> Problem:
    """Return a problem of a kind: five parameters, and for "choice" which of two algorithms."""
    rng = rng_for(seed, "penalties", kind)
    quick, safe = (rng.uniform(0.2, 0.8, 5).tolist() for _ in range(2))
    shifts = rng.normal(size=TUNING + HELD_OUT).tolist()
    parameters: dict[str, Any] = {name: Real(0.0, 1.0) for name in NAMES}
    if kind == "choice":
        parameters["kind"] = Categorical(["quick", "safe"])

    def cost(config: Config, instance: int, seed: int) -> float:
        return law(kind, config, quick, safe).draw(shifts[instance], seed)

    def worth(config: Config, instance: int, _: int) -> float:
        return law(kind, config, quick, safe).mean(shifts[instance])

    return Problem(Space(parameters), cost, TUNING, HELD_OUT, worth)


@click.command()
@words_option("--kinds", KINDS, click.Choice(KINDS))
@words_option("--contenders", ("racer", "tpe", "halving"), click.Choice(list(CONTENDERS)))
@words_option("--budgets", (1000, 3000), click.IntRange(50))
@number_option("--seeds", 12)
def main(
    kinds: tuple[str, ...], contenders: tuple[str, ...], budgets: tuple[int, ...], seeds: int
) -> None:
    """Print mean costs of what is chosen, a row for each kind and budget."""
    rows = []
    for kind in kinds:
        problems = [problem(kind, seed) for seed in range(seeds)]
        for budget in budgets:
            means = [
                np.mean([p.quality(CONTENDERS[c](p, budget, s)) for s, p in enumerate(problems)])
                for c in contenders
            ]
            rows.append((kind, f"{budget}", *(f"{mean:.3g}" for mean in means)))
    print(markdown(("mean cost", "evaluations", *contenders), rows))
