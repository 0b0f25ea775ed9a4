"""The racing experiment of section 7.1: its settings, its deciders, and the races of a table.

One unit of M = 300 is a round, in which every survivor is assessed once (five observations). The
Bayesian race is "bayesian-friedman-2015"; F-Race tests without the Friedman test, and first after
ten observations. README.md says what of this is read from the paper and what was found by search.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments.benavoli2015 import published
from experiments.options import words_option
from experiments.report import mean_and_error, with_progress
from racer.deciders import FRace, as_decider
from racer.seeding import rng_for
from racer.simulate import NormalWorld, play

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from racer.deciders import Decider
    from racer.simulate import Play

__all__ = [
    "DECIDERS",
    "SETTINGS",
    "Cell",
    "Size",
    "claims",
    "others_left",
    "pairs",
    "races",
    "settings_option",
    "summary",
]

M = 300
PER_ASSESSMENT = 5
DECIDERS: Mapping[str, Decider] = {
    "bayesian": as_decider("bayesian-friedman-2015"),
    "f-race-sign": FRace("sign", gate=False),
    "f-race-mean-rank": FRace("mean-rank", gate=False),
}
SETTINGS = {f"{q},{rho:g}": (q, rho) for q, rho in published.table_3()}

settings_option = words_option("--settings", SETTINGS, help="Rows of the table: q and rho.")


class Cell(NamedTuple):
    """One decider in one row of Tables 2 and 3."""

    setting: str
    decider: str

    @property
    def world(self) -> NormalWorld:
        """Candidates with means from U[0, 1], and normal noise."""
        return NormalWorld(*SETTINGS[self.setting])


class Size(NamedTuple):
    """What is common to all races of a table."""

    repetitions: int
    jobs: int
    seed: int
    first_look: int = 2  # rounds before F-Race tests


Cells = dict[Cell, "pd.DataFrame"]


def races(settings: Iterable[str], deciders: Iterable[str], size: Size) -> Cells:
    """Return the races of each cell, a row per repetition; progress goes to stderr.

    Every decider meets the same races: means and noise depend on seed and setting only. The
    column `halving` is the MAE of sequential halving on the observations that the race used.
    """
    cells = [Cell(setting, decider) for setting in settings for decider in deciders]
    print(f"{len(cells)} cells, {size.repetitions} repetitions, seed {size.seed}.\n", flush=True)
    found = {}
    for cell in with_progress(cells):
        frame = _play(cell, size, M * PER_ASSESSMENT).frame
        frame["halving"] = [
            sequential_halving(cell.world, int(seed), int(observations))
            for seed, observations in zip(frame["seed"], frame["observations"], strict=True)
        ]
        found[cell] = frame
    return found


def _play(cell: Cell, size: Size, blocks: int) -> Play:
    first_test = PER_ASSESSMENT * (1 if cell.decider == "bayesian" else size.first_look)
    decider: Any = as_decider(DECIDERS[cell.decider])
    return play(
        replace(decider, first_test=first_test, each_test=PER_ASSESSMENT),
        cell.world,
        repetitions=size.repetitions,
        n_jobs=size.jobs,
        seed=size.seed,
        blocks=blocks,
        select="mean",
    )


def summary(cell: Cell, frame: pd.DataFrame, indicators: Sequence[str]) -> dict[str, object]:
    """Return a row of the file: means and standard errors of indicators, and what was declared."""
    q, rho = SETTINGS[cell.setting]
    row: dict[str, object] = {"q": q, "rho": rho, "decider": cell.decider}
    for name in indicators:
        row[name], row[f"{name}_se"] = mean_and_error(frame[name].to_numpy(dtype=np.float64))
    row["declared"], row["truly"] = pairs(frame)
    return row


def pairs(frame: pd.DataFrame) -> tuple[int, int]:
    """Return how many pairs were declared indistinguishable, and how many of them truly are."""
    declared = frame["indistinguishable"].to_numpy(dtype=np.float64)
    fraction = frame["truly_indistinguishable"].astype(np.float64).fillna(0.0).to_numpy()
    return int(declared.sum()), round(float((declared * fraction).sum()))


def claims(found: Mapping[str, tuple[bool | None, str]]) -> str:
    """Return a line for each claim: whether it holds, None for nothing to judge, and why."""
    words = {True: "holds", False: "does not hold", None: "nothing to judge"}
    lines = [f"- {claim}: {words[holds]} ({why})" for claim, (holds, why) in found.items()]
    return "\n".join(["In this run:", *lines])


def others_left(setting: str, races: int, blocks: int) -> float:
    """Return how many candidates besides the best are left before the look at so many blocks."""
    before = (blocks - 1) // PER_ASSESSMENT * PER_ASSESSMENT
    found = _play(Cell(setting, "bayesian"), Size(races, 1, 1), before)
    return found.summary["survivors"] - 1.0


def sequential_halving(world: NormalWorld, seed: int, observations: int) -> int:
    """Return how many candidates are better than the one that sequential halving selects.

    A shortcut for `racer.deciders.SequentialHalving`, some hundred times as fast, as the sum of
    t observations is drawn at once. They are spent in equal parts on log2(q) rounds, or as many
    as there are observations for; in each, the survivors get equally many, and the better part
    by the mean of all observations so far goes on.
    """
    quality = world.draw(seed).quality
    rng = rng_for(seed, "halving")
    rounds = min(math.ceil(math.log2(world.q)), observations // world.q)
    alive, total, count = np.arange(world.q), np.zeros(world.q), 0
    for done in range(rounds):
        alive = alive[np.argsort(total[alive], kind="stable")]
        alive = alive[: math.ceil(world.q ** (1.0 - done / rounds))]
        more = observations // (rounds * len(alive))
        noise = math.sqrt(more) * world.rho * rng.standard_normal(len(alive))
        total[alive] += more * quality[alive] + noise
        count += more
    best = alive[total[alive].argmin()]
    return int((quality < quality[best]).sum())
