"""The error of every decider against the observations it takes, and that of halving.

A race gets a budget of evaluations and may use less of it. MAE is the number of candidates better
than the one selected; sequential halving (by means, spending all it is given) gets as many
observations as the races used in the mean. A table per world, and how the races that spend their
budget compare with halving.
"""

from __future__ import annotations

import importlib.util
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.frontier.picture import draw
from experiments.frontier.runs import COMPETITORS, HALVING, Point, Size, point
from experiments.options import (
    csv_option,
    file_in_a_directory,
    number_option,
    run_options,
    words_option,
)
from experiments.report import markdown, plus_minus, takes, with_progress, write
from experiments.worlds import WORLDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

# Which decider has to reach what part of halving's MAE: named beforehand, as the best of many
# noisy ratios would flatter
GOALS = {
    "normal": ("bayesian-best-mean", 1.0),
    "heavy-tailed": ("bayesian-best", 0.8),
    "unequal": ("bayesian-best", 0.8),
}
HEAD = ("budget", "decider", "observations", "MAE", "MAE of halving", "ratio", "regret")
SECONDS = 1.1e-5  # per evaluation of the budget, of one core, in the mean of all deciders


def table(found: Sequence[Point]) -> str:
    """Return the table of a world."""
    return markdown(
        HEAD,
        (
            (
                str(p.budget),
                p.decider,
                f"{p.observations:.0f}",
                plus_minus(p.mae, p.mae_se),
                plus_minus(p.halving, p.halving_se),
                "-" if p.decider == HALVING else plus_minus(p.ratio, p.ratio_se),
                plus_minus(p.regret, p.regret_se, 4),
            )
            for p in found
        ),
    )


def verdicts(found: Sequence[Point]) -> str:
    """Return whether the goals are met, for each world and budget."""
    lines = ["MAE relative to halving at equal observations:"]
    for p in found:
        decider, goal = GOALS.get(p.world, ("", 0.0))
        if p.decider == decider:
            met = "met" if p.ratio <= goal else "not met"
            ratio = plus_minus(p.ratio, p.ratio_se)
            lines.append(f"- {p.world}, {p.budget}: {decider} {ratio} (goal {goal:g}: {met})")
    return "\n".join(lines) if len(lines) > 1 else ""


def _picture(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path is None:
        return None
    if importlib.util.find_spec("matplotlib") is None:
        raise click.BadParameter('needs matplotlib: pip install "racer-tuning[plot]"')
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise click.BadParameter(f"{path.name!r} should end in .png, .svg or .pdf")
    return file_in_a_directory(ctx, param, path)


@click.command()
@run_options(repetitions=200)
@number_option("--candidates", 100, least=2)
@click.option("--rho", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@words_option("--worlds", WORLDS)
@words_option("--deciders", COMPETITORS)
@words_option(
    "--budgets",
    (2000, 4000, 8000, 16000),
    click.IntRange(1),
    help="Evaluations; at least five per candidate.",
)
@csv_option
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_picture,
    help="Draw it to this file.",
)
def main(
    repetitions: int,
    jobs: int,
    seed: int,
    candidates: int,
    rho: float,
    worlds: tuple[str, ...],
    deciders: tuple[str, ...],
    budgets: tuple[int, ...],
    csv_path: Path | None,
    picture: Path | None,
) -> None:
    """Print MAE against observations for every decider, beside sequential halving."""
    if min(budgets) < 5 * candidates:
        raise click.BadParameter(
            f"{min(budgets)} pays less than five blocks of {candidates} candidates"
        )
    size = Size(candidates, rho, repetitions, jobs, seed)
    names = (HALVING, *(name for name in deciders if name != HALVING))
    todo = [(name, world, budget) for world in worlds for budget in budgets for name in names]
    seconds = [SECONDS * repetitions * budget for _, _, budget in todo]
    print(
        f"MAE against observations: {candidates} candidates, rho {rho:g}, {repetitions} repetitions"
    )
    print(takes(sum(seconds), jobs) + "\n", flush=True)
    found = [
        point(*cell, size)
        for cell in with_progress(todo, seconds, jobs, lambda cell: ", ".join(map(str, cell)))
    ]
    for world in worlds:
        print(f"\n## {world}\n\n{table([p for p in found if p.world == world])}")
    print(f"\n{verdicts(found)}")
    write(csv_path, [asdict(p) | asdict(size) | {"ratio": p.ratio} for p in found])
    if picture is not None:
        draw(found, picture)
        print(f"Drawn to {picture}.")
