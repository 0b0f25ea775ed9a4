"""The regret of every decider against the observations it takes, and that of halving.

A race gets a budget of evaluations and may use less of it. Regret is how much worse the one selected
is than the best; sequential halving (by means, spending all it is given) gets as many observations as
the races used in the mean, in the same races. A table per world and number of candidates, and one of
all ratios. Beside the deciders, OCBA and top-two Thompson sampling, which do not race in blocks.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.frontier.picture import draw
from experiments.frontier.runs import COMPETITORS, FIRST_TEST, HALVING, Point, Size, point
from experiments.options import (
    csv_option,
    file_in_a_directory,
    run_options,
    words_option,
)
from experiments.report import markdown, plus_minus, with_progress, write
from experiments.worlds import WORLDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

HEAD = ("budget", "decider", "observations", "MAE", "regret", "of halving", "ratio")
SECONDS = 2e-5  # per evaluation of the budget, of one core, in the mean of all deciders


def table(found: Sequence[Point]) -> str:
    """Return the table of a world and a number of candidates."""
    return markdown(
        HEAD,
        (
            (
                str(p.budget),
                p.decider,
                f"{p.observations:.0f}",
                plus_minus(p.mae, p.mae_se),
                plus_minus(p.regret, p.regret_se, 4),
                f"{p.halving:.4f}",
                _shown(p),
            )
            for p in found
        ),
    )


def ratios(found: Sequence[Point]) -> str:
    """Return a table with a line per decider and a column per world: geometric means over sizes."""
    worlds = dict.fromkeys(p.world for p in found)
    names = dict.fromkeys(p.decider for p in found if p.decider != HALVING)
    at = {key: [p for p in found if (p.decider, p.world) == key] for key in product(names, worlds)}
    lines = [(f"`{name}`", *(_mean(at[name, world]) for world in worlds)) for name in names]
    return markdown(("decider", *worlds), lines)


def _mean(points: Sequence[Point]) -> str:
    """Return the geometric mean of ratios, and its standard error, sizes being independent."""
    if not all(p.ratio > 0.0 for p in points):  # nor where there is none
        return "-"
    mean = math.exp(sum(math.log(p.ratio) for p in points) / len(points))
    return plus_minus(
        mean, mean * math.hypot(*(p.ratio_se / p.ratio for p in points)) / len(points)
    )


def _shown(p: Point) -> str:
    return "-" if p.decider == HALVING else plus_minus(p.ratio, p.ratio_se)


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
@words_option("--candidates", (10, 60), click.IntRange(2))
@click.option("--rho", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@words_option("--worlds", WORLDS)
@words_option("--deciders", COMPETITORS)
@words_option(
    "--budgets",
    (20, 80),
    click.IntRange(FIRST_TEST),
    help="Evaluations per candidate.",
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
    candidates: tuple[int, ...],
    rho: float,
    worlds: tuple[str, ...],
    deciders: tuple[str, ...],
    budgets: tuple[int, ...],
    csv_path: Path | None,
    picture: Path | None,
) -> None:
    """Print regret against observations for every decider, beside sequential halving."""
    size = Size(rho, repetitions, jobs, seed)
    names = (HALVING, *(name for name in deciders if name != HALVING))
    todo = [
        (name, world, q, each * q)
        for world, q, each, name in product(worlds, candidates, budgets, names)
    ]
    seconds = [SECONDS * repetitions * budget for *_, budget in todo]
    print(f"Regret against observations: rho {rho:g}, {repetitions} repetitions, seed {seed}")
    found = [
        point(*cell, size)
        for cell in with_progress(todo, seconds, jobs, lambda cell: ", ".join(map(str, cell)))
    ]
    for world, q in product(worlds, candidates):
        mine = [p for p in found if (p.world, p.candidates) == (world, q)]
        print(f"\n## {world}, {q} candidates\n\n{table(mine)}")
    print(
        f"\nRegret relative to halving on as many observations, mean of the sizes:\n\n{ratios(found)}"
    )
    write(csv_path, [asdict(p) | asdict(size) for p in found])
    if picture is not None:
        draw(found, picture)
        print(f"Drawn to {picture}.")
