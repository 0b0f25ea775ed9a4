"""Which deciders race in which worlds, and what is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments import worlds
from experiments.deciders import BY_CLASS
from experiments.report import mean_and_error
from racer.deciders import (
    DECIDERS,
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    BestForBudget,
    BradleyTerryRace,
    FRace,
    SequentialHalving,
    SignedRankRace,
    TRace,
)
from racer.seeding import seed_for
from racer.simulate.play import run_race

if TYPE_CHECKING:
    from collections.abc import Mapping

    import joblib
    from numpy.typing import NDArray

    from racer import RaceResult
    from racer.deciders import Decider
    from racer.simulate import World

__all__ = [
    "NAMED",
    "ROWS",
    "WORLDS",
    "Cell",
    "Design",
    "Rates",
    "count",
    "label",
    "level",
    "measure",
    "world_of",
]

WORLDS = {name: world for name, world in worlds.WORLDS.items() if name != "runtime"}

NAMED: Mapping[str, Decider] = {
    name: decider
    for name, decider in ((name, make()) for name, make in DECIDERS.items())
    if "cost" in decider.objectives and decider.bounds is None
}
VARIANTS: Mapping[str, Decider] = {
    **BY_CLASS,
    "bayesian-friedman-no-gate": BayesianFriedman(gate=False),
    "f-race-no-gate": FRace(gate=False),
    "bayesian-friedman-no-pair-prior": BayesianFriedman(pair_strength=0.0),
    "bayesian-friedman-0.99": BayesianFriedman(confidence=0.99),
    "f-race-0.01": FRace(alpha=0.01),
    "f-race-holm": FRace(correction="holm"),
    "t-race-holm": TRace(correction="holm"),
    "anytime-familywise": AnytimeRace(familywise=True),
    "bradley-terry-independent": BradleyTerryRace(independent=True),
}
AT_EACH_BLOCK: Mapping[str, Decider] = {
    "bayesian-friedman-no-pair-prior-each-block": BayesianFriedman(pair_strength=0.0),
    "f-race-each-block": FRace(),
}
ROWS: Mapping[str, Decider] = {**NAMED, **VARIANTS, **AT_EACH_BLOCK}
PLANNERS = (SequentialHalving, BayesianBest, BestForBudget)  # they spend the budget they are given
SLOWER: Mapping[type, float] = {
    BayesianFriedman: 2.5,
    AnytimeRace: 4.0,
    BradleyTerryRace: 2.0,
    SignedRankRace: 2.0,
}  # per block, than an F-race

COUNTS = ("best_dropped", "any_dropped", "blocks_used", "observations")


@dataclass(frozen=True)
class Design:
    """What is common to all cells of a run."""

    repetitions: int
    jobs: int
    seed: int
    blocks: tuple[int, ...]

    def __str__(self) -> str:
        blocks = ", ".join(map(str, sorted(self.blocks)))
        return f"{self.repetitions} races of {blocks} blocks per cell, seed {self.seed}"


class Cell(NamedTuple):
    """One decider in one world."""

    decider: str
    world: str
    candidates: int
    effect: float  # how much better one candidate is, in units of the noise

    def __str__(self) -> str:
        return f"{self.world}, {self.candidates} candidates, {self.effect:g} sd, {self.decider}"

    def expected_seconds(self, design: Design) -> float:
        """Return about how long the cell takes on one core where nothing else runs."""
        decider = ROWS[self.decider]
        blocks = sum(design.blocks) if isinstance(decider, PLANNERS) else max(design.blocks)
        each = SLOWER.get(type(decider), 1.0) * (3e-5 + 6e-7 * self.candidates)
        return design.repetitions * blocks * each / (1.0 + 3.0 * self.effect**2)


@dataclass(frozen=True)
class Rates:
    """The results of a cell after a number of blocks: mean and standard error of each of COUNTS.

    best_dropped: 1 where the better candidate was dropped; with all equal, where each of them is
    a best one, the fraction of them that was. any_dropped: 1 where any was. blocks_used and
    observations: until the race was decided, or all blocks.
    """

    cell: Cell
    blocks: int
    best_dropped: tuple[float, float]
    any_dropped: tuple[float, float]
    blocks_used: tuple[float, float]
    observations: tuple[float, float]

    @property
    def family(self) -> tuple[float, float]:
        """Fraction of races that dropped any best candidate: with all equal, any candidate."""
        return self.best_dropped if self.cell.effect else self.any_dropped

    def row(self, design: Design) -> dict[str, Any]:
        """Return the row of the file."""
        row: dict[str, Any] = {**self.cell._asdict(), "blocks": self.blocks}
        for name in COUNTS:
            row[name], row[f"{name}_se"] = getattr(self, name)
        return row | {"repetitions": design.repetitions, "seed": design.seed}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Rates:
        """Return the results that a row of the file has."""
        cell = Cell(row["decider"], row["world"], int(row["candidates"]), float(row["effect"]))
        moments = ((float(row[name]), float(row[f"{name}_se"])) for name in COUNTS)
        return cls(cell, int(row["blocks"]), *moments)


def world_of(cell: Cell) -> World:
    """Return the world of a cell: noise of scale 1, one candidate better by `effect`."""
    qualities = (-cell.effect, *[0.0] * (cell.candidates - 1))
    return WORLDS[cell.world](cell.candidates, 1.0, qualities=qualities)


def measure(cell: Cell, design: Design, pool: joblib.Parallel) -> list[Rates]:
    """Run the races of a cell, the same for every decider; return the rates by each horizon."""
    import joblib  # noqa: PLC0415

    decider, world = ROWS[cell.decider], world_of(cell)
    one, each = joblib.delayed(count), 1 if cell.decider in AT_EACH_BLOCK else None
    counts = np.array(
        pool(
            one(
                decider,
                world,
                seed_for(design.seed, "error-rates", repetition),
                design.blocks,
                each,
            )
            for repetition in range(design.repetitions)
        )
    )
    return [
        Rates(cell, horizon, *(mean_and_error(counts[:, place, k]) for k in range(len(COUNTS))))
        for place, horizon in enumerate(design.blocks)
    ]


def count(
    decider: Decider,
    world: World,
    seed: int,
    horizons: tuple[int, ...],
    each_test: int | None = None,
) -> NDArray[np.float64]:
    """Return COUNTS of one race by each horizon, shape (len(horizons), 4).

    A race that tests after each block drops without regard to its end, so a longer one contains
    the shorter ones. Others also test at their end: a race is run for each. So it is where the
    decider plans with the budget, which is spent on as many blocks as it pays for: more than others
    have, as the pool shrinks.
    """
    drawn = world.draw(seed)
    best = np.flatnonzero(drawn.quality == drawn.quality.min())

    def run(blocks: int) -> RaceResult:
        budget = blocks * world.n_candidates
        instances = budget if isinstance(decider, PLANNERS) else blocks
        rules = {"decider": decider, "budget": budget, "each_test": each_test}
        return run_race(drawn, seed, instances, rules)

    is_growing = each_test is None and decider.tests == "growing"
    if is_growing or isinstance(decider, PLANNERS):
        return np.array([_by(run(horizon), best) for horizon in horizons])
    longest = run(max(horizons))
    return np.array([_by(longest, best, horizon) for horizon in horizons])


def _by(
    result: RaceResult, best: NDArray[np.intp], horizon: int | None = None
) -> tuple[float, ...]:
    rows = result.known.rows[:horizon]
    gone = result._eliminations  # noqa: SLF001  (as events: a frame each takes most of the time)
    out = [one.candidate for one in gone if one.block < len(rows)]
    fraction = float(np.isin(best, out).mean())
    return fraction, float(bool(out)), len(rows), sum(len(row.candidates) for row in rows)


def level(name: str) -> float:
    """Return the alpha that a decider is given (1 - confidence, or threshold); NaN where it has none."""
    match ROWS[name]:
        case object(confidence=float(confidence)):
            return 1.0 - confidence
        case object(alpha=float(alpha)) | object(threshold=float(alpha)):
            return alpha
        case _:
            return math.nan


def label(name: str) -> str:
    """Return how a decider is asked for: its name, or the object with what is not default."""
    if name in NAMED:
        return f'"{name}"'
    decider: Any = ROWS[name]
    chosen = [(each.name, vars(decider)[each.name], each.default) for each in fields(decider)]
    given = [f"{setting}={value!r}" for setting, value, default in chosen if value != default]
    named = f"{type(decider).__name__}({', '.join(given)})".replace("'", '"')
    return f"{named}, each_test=1" if name in AT_EACH_BLOCK else named
