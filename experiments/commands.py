"""The benchmarks and studies by name, for `scripts/bench.py` and `scripts/study.py`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

from racer._checks import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Commands", "bench", "study"]


class Commands(click.Group):
    """Commands by name, each imported when it is called, so that none needs another's extras.

    Parameters
    ----------
    name, text : str
        Name and help of the group.
    commands : mapping of str to (str, str)
        By name the module in `experiments` whose `main` is the command, and what it does.
    """

    def __init__(self, name: str, text: str, commands: Mapping[str, tuple[str, str]]) -> None:
        listed = {key: click.Command(key, help=line) for key, (_, line) in commands.items()}
        super().__init__(name, listed, help=text)
        self.modules = {key: f"experiments.{module}" for key, (module, _) in commands.items()}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is named first in `args`; refuse an unknown name."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError:
            ctx.fail(f"there is no {args[0]!r}" + did_you_mean(args[0], self.modules))
        if name is not None:
            try:
                command = importlib.import_module(self.modules[name]).main
            except ModuleNotFoundError as error:  # an extra
                ctx.fail(f"{args[0]} needs {error.name}: pip install '.[bench]'")
        return name, command, rest


bench = Commands(
    "bench",
    "Measure time and quality: the figures of the documentation.",
    {
        "engine": ("bench.engine", "CPU time of an evaluation"),
        "optuna": ("optuna_study.tables", "Racing in an Optuna study, beside WilcoxonPruner"),
        "optuna-sampler": ("tuner.samplers", "racer's sampler in an Optuna study, beside TPE"),
        "sklearn": ("sklearn_folds.tables", "Searches over folds of real data"),
        "store": ("bench.store", "Recording an evaluation, and replaying a race"),
        "tuner": ("tuner.tables", "What tuning finds, beside other ways to spend a budget"),
        "workers": ("bench.workers", "Use of 4, 8 and 16 workers"),
    },
)
study = Commands(
    "study",
    "Run a study, or make the pictures of the documentation.",
    {
        "damage": ("campaign.damage", "Damaged stores and files: refused, right, or said"),
        "figures": ("figures", "The pictures of races, tunings and comparisons"),
        "fold-errors": ("sklearn_folds.worlds", "Errors of races over correlated folds"),
        "kills": ("campaign.kills", "Every kind of contest killed at random moments, and resumed"),
        "items": ("items.tables", "Races on scores of items, right or wrong or graded"),
        "reliability": ("reliability.tables", "How often a probability of being the best is right"),
        "run-times": ("runtime.caps", "What caps on run times do to a test and to races"),
        "screenshots": ("screenshots", "The pictures of reports, by headless Chromium"),
        "site": ("site", "The pages of the documentation as a site, by Zensical"),
        "solvers": ("runtime.solvers", "HiGHS tuned for speed, at equal time"),
        "tables": ("page_tables", "The tables of the evidence pages, from the recorded files"),
    },
)
