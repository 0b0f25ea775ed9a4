"""Playing races without running anything."""

from types import SimpleNamespace

import numpy as np

from racer import Outcome, Race
from racer.deciders import (
    DECIDERS,
    BayesianBest,
    CorrelatedTRace,
    Decider,
    Drop,
    SignedRankRace,
    Verdict,
    as_decider,
)
from racer.deciders.decider import Blocks, Setting
from racer.seeding import rng_for

BY_CLASS = (BayesianBest(), CorrelatedTRace(), SignedRankRace())
"""The deciders that have no name."""

ONE_NUMBER = (
    *(
        name
        for name in DECIDERS
        if "cost" in as_decider(name).objectives and as_decider(name).bounds is None
    ),
    *BY_CLASS,
)
"""The deciders of races in which one number per cell decides, of any size."""


def short(decider):
    """Return the name of a decider, or its class."""
    return decider if isinstance(decider, str) else type(decider).__name__


class Scripted(Decider):
    """A decider that drops by a script and keeps a record of what it was shown.

    `script` maps the number of blocks seen so far to the candidates to drop, of which it says what
    is given besides; it is `settled`, or `undecided` from so many blocks on.
    """

    takes_capped = True

    def __init__(self, script=None, best=None, *, undecided=np.inf, settled=False, **said):
        self.script = script or {}
        self.best, self.undecided, self.settled = best, undecided, settled
        self.said = {"reason": "inferior", "probability": 0.99, "measure": "posterior", **said}
        self.looks, self.shares = [], []

    def start(self, setting):
        self.setting = setting
        return 0

    def decide(self, state, blocks):
        state += len(blocks.costs)
        self.looks.append((state, blocks.candidates.tolist(), blocks.costs.tolist()))
        self.shares.append(blocks.used_share)
        gone, standing = self.script.get(state, ()), blocks.costs.mean(axis=0)
        against = next((c for c in blocks.candidates.tolist() if c not in gone), 0)
        drops = tuple(Drop(c, against=against, **self.said) for c in gone)
        ends = {"undecided": state >= self.undecided, "settled": self.settled}
        return state, Verdict(drops, self.best, standing, {}, **ends)


def outcome_of(answer, seconds=1.0):
    """Return an Outcome: as given, failed for None, or ok with the number."""
    if isinstance(answer, Outcome):
        return answer
    if answer is None:
        return Outcome("failed", None, seconds=seconds, message="it failed")
    return Outcome("ok", float(answer), seconds=seconds)


def play(race, evaluate, order=None):
    """Run a race to its end; `order` says in which order the cells of a block are told."""
    while cells := race.ask():
        for cell in order(cells) if order else cells:
            race.tell(cell, outcome_of(evaluate(cell)))
    return race.result()


def tell_block(race, told):
    """Tell the cells of a block at once: values, or outcomes, in the order of `alive`."""
    told = dict(zip(race.alive, told, strict=True))
    race.tell_all([outcome_of(told[cell.candidate], 0.0) for cell in race.ask()])


def eliminated(result):
    """Return the eliminations of a result, as events: a frame of them takes far longer."""
    return result._eliminations


def play_table(costs, decider, *, seed=1, **settings):
    """Race over a table of costs, one row per block, and return the result."""
    running = Race(range(costs.shape[1]), decider=decider, seed=seed, **settings)
    while cells := running.ask():
        tell_block(running, costs[cells[0].block, list(running.alive)])
    return running.result()


def rising(m=9):
    """Return the noisy costs of 600 blocks: a candidate's are higher the later it comes."""
    return np.random.default_rng(1).normal(size=(600, m)) + 0.3 * np.arange(m)


def looks(decider, costs, **setting):
    """Show a table to a decider block by block; yield who was still in, and the verdict."""
    m = costs.shape[1]
    state, alive = decider.start(Setting(m, rng_for(0), **setting)), np.arange(m)
    for n, row in enumerate(costs, 1):
        state, verdict = decider.decide(state, Blocks(alive, row[None, alive], used=n * m))
        yield alive, verdict
        alive = np.setdiff1d(alive, [drop.candidate for drop in verdict.dropped])
        if len(alive) < 2 or verdict.settled:
            return


def told(result):
    """Return what was told and decided, but for the seconds that were measured."""
    return {
        "configs": repr(result.configs),
        "ended": (result.survivors, result.ended, result.evaluations),
        "seed": result.seed,
        "dropped": eliminated(result),
        "scores": [
            [repr(v) for v in row] for row in result.known.values(len(result.configs)).tolist()
        ],
        "failures": result.known.failures,
        "set_aside": result.known.set_aside,
        "rows": [
            (*result.stream.place(row.block), row.candidates.tolist()) for row in result.known.rows
        ],
    }


def content(result):
    """Return that, and the posterior which is computed from it."""
    return {**told(result), "best": (result.best_index, result.probability_best)}


def story(result):
    """Return what was decided, and on which values of all metrics, for how much."""
    return (
        result.survivors,
        result.best,
        result.ended,
        result.eliminations.to_dict("records"),
        result.scores.drop(columns=["seconds"]).fillna(-1.0).to_dict("records"),
    )


def noisy(cell, spread=1.0):
    """Return the configuration (a number) plus noise that depends on the cell alone."""
    rng = np.random.default_rng([cell.seed, cell.candidate])
    return float(cell.config) + spread * rng.standard_normal()


def racing_tools():
    """Return the helpers of these tests, as the fixture `racing`."""
    return SimpleNamespace(
        Scripted=Scripted, play=play, content=content, noisy=noisy, outcome_of=outcome_of
    )
