"""`racer demo`: a race of real configurations."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from racer.cli.demo import configurations, evaluate, problems
from racer.cli.output import reported, say, shown
from racer.errors import RaceInterrupted
from racer.run.calls import race


@click.command(short_help="Race settings of an optimiser, as an example.")
@click.option("--candidates", type=click.IntRange(2, 1279), default=40)
@click.option("--budget", type=click.IntRange(1), default=1200, help="Evaluations at most.")
@click.option("--n-jobs", type=int, default=-1, help="Worker processes; -1 uses all cores, 1 none.")
@click.option("--seed", type=click.IntRange(0), default=1)
def demo(candidates: int, budget: int, n_jobs: int, seed: int) -> None:
    """Race settings of SciPy's differential evolution on 60 test problems.

    Each configuration (strategy, population size, mutation, recombination, initialisation) runs
    with the same number of function evaluations on the same problem; its cost is the log10 of
    the error left. The race drops configurations that are inferior to, or indistinguishable
    from, another one.
    """
    started = time.perf_counter()
    pool, instances = configurations(candidates, seed), problems()
    say(
        f"Racing {candidates} configurations of SciPy's differential_evolution on "
        f"{len(instances)} problems\n(seed {seed})."
    )
    with reported():
        try:
            how: dict[str, Any] = {"budget": budget, "n_jobs": n_jobs, "seed": seed}
            result = race(pool, evaluate, instances, progress=True, **how)
        except RaceInterrupted as stop:
            say(shown(stop.result))
            sys.exit(130)
    say(shown(result))
    full = candidates * len(instances)
    say(
        f"{result.evaluations} evaluations instead of {full} (every candidate on every instance): "
        f"{1.0 - result.evaluations / full:.0%} saved."
    )
    say(f"Took {time.perf_counter() - started:.0f} s.")
    say("For a program of your own, `racer init` writes a scenario.toml to fill in.")
