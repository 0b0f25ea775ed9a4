"""Which decider tunes better where noise is large: quadratic valleys and bowls that nothing was chosen on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from experiments.options import number_option, words_option
from experiments.report import markdown
from experiments.tuner.contenders import CONTENDERS
from experiments.tuner.synthetic import quadratic
from racer.seeding import rng_for

if TYPE_CHECKING:
    from experiments.tuner.problem import Problem

__all__ = ["main"]


class Kind(NamedTuple):
    """Reals, the condition number of the quadratic form, the noise's sd; whether it is turned."""

    reals: int
    condition: float
    noise: float
    is_turned: bool = False


KINDS = {
    "bowl of 5": Kind(5, 1.0, 3.0),
    "bowl of 8": Kind(8, 1.0, 4.0),
    "valley of 5 along axes": Kind(5, 30.0, 3.0),
    "valley of 4": Kind(4, 100.0, 4.0, is_turned=True),
    "valley of 5": Kind(5, 30.0, 3.0, is_turned=True),
    "valley of 7": Kind(7, 50.0, 2.0, is_turned=True),
}


def problem(name: str, seed: int) -> Problem:
    """Return a problem of a kind; any level set has the volume of the same level set of a bowl."""
    kind = KINDS[name]
    rng = rng_for(seed, "noisy", name)
    at = rng.uniform(-3.0, 3.0, kind.reals)
    axes = np.eye(kind.reals)
    if kind.is_turned:
        axes = np.linalg.qr(rng.normal(size=axes.shape))[0]
    widths = kind.condition ** np.linspace(-0.25, 0.25, kind.reals)
    return quadratic(seed, f"noisy {name}", axes * rng.permutation(widths)[:, None], at, kind.noise)


@click.command()
@words_option("--contenders", ("racer", "friedman"), click.Choice(list(CONTENDERS)))
@words_option("--budgets", (1000, 3000), click.IntRange(50))
@number_option("--seeds", 12)
def main(contenders: tuple[str, ...], budgets: tuple[int, ...], seeds: int) -> None:
    """Print mean regrets of the chosen configurations, a row for each problem and budget."""
    rows = []
    for name in KINDS:
        problems = [problem(name, seed) for seed in range(seeds)]
        for budget in budgets:
            regrets = [
                [
                    p.quality(CONTENDERS[c](p, budget, seed)) - (p.reference or 0.0)
                    for seed, p in enumerate(problems)
                ]
                for c in contenders
            ]
            means = (f"{np.mean(some):.3g}" for some in regrets)
            won = sum(one < other for one, other in zip(regrets[0], regrets[-1], strict=True))
            rows.append((name, f"{budget}", *means, f"{won} of {seeds}"))
    head = ("mean regret", "evaluations", *contenders, f"{contenders[0]} better")
    print(markdown(head, rows))
