"""The racing experiment of section 7.1: settings, deciders, protocols, and one cell of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from experiments.benavoli2015 import published
from experiments.report import mean_and_error
from racer.deciders import BayesianFriedman, Decider, FRace, as_decider
from racer.seeding import rng_for
from racer.simulate import NormalWorld, play

if TYPE_CHECKING:
    import pandas as pd

    from racer.deciders import Blocks, Verdict
    from racer.deciders import Setting as RaceSetting
    from racer.deciders.f_race import Posthoc
    from racer.simulate import Play

__all__ = [
    "DECIDERS",
    "PROTOCOLS",
    "READINGS",
    "SETTINGS",
    "Cell",
    "Design",
    "Setting",
    "expected_seconds",
    "others_left",
    "parse_settings",
    "run_cell",
]

Protocol = Literal["rounds", "assessments"]

M = 300
PER_ASSESSMENT = 5
PROTOCOLS: dict[Protocol, str] = {
    "rounds": (
        "Protocol rounds: one unit of M = 300 is a round, in which every survivor is assessed "
        "once (five observations). ITER = rounds used / 300."
    ),
    "assessments": (
        "Protocol assessments: one unit of M = 300 is one assessment of one candidate (five "
        "observations), 1500 evaluations in all. ITER = evaluations / 1500. Where the rest does "
        "not pay a whole round of five, the race goes on block by block as far as it does, and "
        "looks a last time; with q = 200 the first round alone takes 1000."
    ),
}
DECIDERS = ("bayesian", "f-race-sign", "f-race-mean-rank")
Reading = Literal["found", "many", "gate", "no-gate"]
READINGS: dict[Reading, str] = {
    "found": (
        'Reading found: the Bayesian race as decider "bayesian-friedman-2015"; F-Race without the '
        "Friedman test, and first looked at with ten observations (in rounds)."
    ),
    "many": (
        "Reading many: as found, but F-Race from the first look on, and asking the Friedman test "
        "while more than ten candidates are left."
    ),
    "gate": (
        'Reading gate: racer\'s own default "bayesian-friedman"; F-Race asking the Friedman test at '
        "every look."
    ),
    "no-gate": "Reading no-gate: as gate, without any omnibus test.",
}
MANY = 10


@dataclass(frozen=True)
class Setting:
    """One row of Tables 2 and 3."""

    q: int
    rho: float

    def __str__(self) -> str:
        return f"{self.q},{self.rho:g}"


SETTINGS = tuple(Setting(q, rho) for q, rho in published.table_3())


@dataclass(frozen=True)
class Design:
    """What is common to all cells of a run."""

    repetitions: int
    jobs: int
    seed: int
    protocol: Protocol
    reading: Reading = "found"

    def __str__(self) -> str:
        return f"{self.repetitions} repetitions, seed {self.seed}."

    @property
    def columns(self) -> dict[str, str | float]:
        """The columns of a file that describe the run."""
        return {
            "protocol": self.protocol,
            "reading": self.reading,
            "repetitions": self.repetitions,
            "seed": self.seed,
        }


@dataclass(frozen=True, eq=False)
class Cell:
    """The races of one decider in one setting, a row per repetition."""

    setting: Setting
    decider: str
    frame: pd.DataFrame

    def mean(self, indicator: str) -> tuple[float, float]:
        """Return the mean over the repetitions and its standard error (NaN if there is one)."""
        return mean_and_error(self.frame[indicator].to_numpy(dtype=np.float64))

    def minus(self, other: Cell, indicator: str) -> tuple[float, float]:
        """Return the mean difference to another decider, in the same races, and its error."""
        ours, theirs = (c.frame[indicator].to_numpy(dtype=np.float64) for c in (self, other))
        return mean_and_error(ours - theirs)

    @property
    def pairs(self) -> tuple[int, int]:
        """How many pairs were declared indistinguishable, and how many of them truly are."""
        declared = self.frame["indistinguishable"].to_numpy(dtype=np.float64)
        fraction = self.frame["truly_indistinguishable"].astype(np.float64).fillna(0.0).to_numpy()
        return int(declared.sum()), round(float((declared * fraction).sum()))


def parse_settings(text: str | None) -> tuple[Setting, ...]:
    """Return the settings named in "30,1 100,.5", each once; all of them for None.

    Raises
    ------
    ValueError
        Not a setting of the paper, or none at all.
    """
    if text is None:
        return SETTINGS
    chosen: list[Setting] = []
    for word in text.split():
        try:
            q, rho = word.split(",")
            setting = Setting(int(q), float(rho))
        except ValueError:
            setting = None
        if setting not in SETTINGS or setting is None:
            known = " ".join(str(s) for s in SETTINGS)
            raise ValueError(f"no setting {word!r} in the paper: choose among {known!r}")
        if setting not in chosen:
            chosen.append(setting)
    if not chosen:
        raise ValueError('no settings given: write them as "30,1 100,.5"')
    return tuple(chosen)


@dataclass(frozen=True)
class GateWhileMany(Decider):
    """F-Race that asks the Friedman test while more than ten candidates are left."""

    gated: FRace
    ungated: FRace

    def start(self, setting: RaceSetting) -> tuple[Any, Any]:
        """Return the states of both."""
        return self.gated.start(setting), self.ungated.start(setting)

    def decide(self, state: tuple[Any, Any], blocks: Blocks) -> tuple[tuple[Any, Any], Verdict]:
        """Let the one decide whose turn it is."""
        gated, with_gate = self.gated.decide(state[0], blocks)
        ungated, without = self.ungated.decide(state[1], blocks)
        return (gated, ungated), with_gate if len(blocks.candidates) > MANY else without


def make_decider(name: str, reading: Reading) -> Decider:
    """Return one of the three deciders of section 7.1, at 0.05, in a reading."""
    if name == "bayesian":
        if reading in ("found", "many"):
            return as_decider("bayesian-friedman-2015")
        return BayesianFriedman(gate=reading == "gate", pair_strength=0.0)
    posthoc: Posthoc = "sign" if name == "f-race-sign" else "mean-rank"
    gated, ungated = FRace(posthoc, gate="friedman"), FRace(posthoc, gate=False)
    if reading == "many":
        return GateWhileMany(gated, ungated)
    return gated if reading == "gate" else ungated


def first_look(name: str, design: Design) -> int:
    """Return how many observations of each candidate there are at the first look."""
    late = (design.reading, design.protocol) == ("found", "rounds") and name != "bayesian"
    return 2 * PER_ASSESSMENT if late else PER_ASSESSMENT


def run_cell(setting: Setting, decider: str, design: Design) -> Cell:
    """Play one decider in one setting.

    Every decider meets the same races: means and noise depend on seed and setting only. The
    frame has `halving`, the MAE of sequential halving on the observations the race used.
    """
    evaluations = M * PER_ASSESSMENT
    frame = _play(setting, decider, design, evaluations).frame
    if design.protocol == "assessments":
        frame["iter"] = frame["observations"] / evaluations
    frame["halving"] = [
        sequential_halving(NormalWorld(setting.q, setting.rho), int(seed), int(observations))
        for seed, observations in zip(frame["seed"], frame["observations"], strict=True)
    ]
    return Cell(setting, decider, frame)


def _play(setting: Setting, decider: str, design: Design, blocks: int) -> Play:
    evaluations = M * PER_ASSESSMENT
    return play(
        make_decider(decider, design.reading),
        NormalWorld(setting.q, setting.rho),
        repetitions=design.repetitions,
        n_jobs=design.jobs,
        seed=design.seed,
        blocks=blocks,
        budget=evaluations if design.protocol == "assessments" else None,
        first_test=first_look(decider, design),
        each_test=PER_ASSESSMENT,
        select="mean",
        epsilon=0.05,
    )


def others_left(setting: Setting, design: Design, blocks: int) -> tuple[float, float]:
    """Return how many candidates besides the best are left before the look at so many blocks."""
    before = (blocks - 1) // PER_ASSESSMENT * PER_ASSESSMENT
    found = _play(setting, "bayesian", design, before)
    return found.summary["survivors"] - 1.0, found.errors["survivors"]


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


def expected_seconds(design: Design) -> float:
    """Return about how long one cell takes on one core where nothing else runs."""
    each = 0.12 if design.protocol == "rounds" else 0.01
    return design.repetitions * each
