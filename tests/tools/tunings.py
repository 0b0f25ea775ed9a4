"""Spaces, objectives, and playing runs of races without running anything."""

from types import SimpleNamespace

import numpy as np
from playing import outcome_of

from racer import Categorical, Integer, Ordinal, Real, Space


def reals(d=2):
    return Space({f"x{i}": Real(-5, 5) for i in range(d)})


def mixed():
    """A space with conditions and a forbidden combination."""
    return Space(
        {
            "kind": Categorical(["a", "b", "c"]),
            "x": Real(0, 1),
            "n": Integer(1, 100, log=True),
            "level": Ordinal([1, 2, 3]),
        },
        conditions={"x": {"kind": "a"}, "n": {"kind": ["a", "b"]}},
        forbidden=[{"kind": "c", "level": 3}],
    )


def countable(*sizes):
    """A space of choices: countable(3) has three configurations, countable(2, 2) four."""
    return Space({f"k{i}": Categorical(list(range(n))) for i, n in enumerate(sizes)})


SPACES = {
    "reals": reals,
    "mixed": mixed,
    "three": lambda: countable(3),
    "four": lambda: countable(2, 2),
    "one": lambda: countable(1),
}


def height(config):
    """Return a number that depends on all parameters of a configuration; at least 0."""
    numbers = {"a": 0.0, "b": 1.0, "c": 2.0}
    return sum(0.1 * (numbers[v] if isinstance(v, str) else float(v)) ** 2 for v in config.values())


def noise(cell):
    """Return a standard normal number that depends on the cell alone."""
    return float(np.random.default_rng([cell.seed, cell.candidate]).standard_normal())


def noisy(cell):
    """Return the height of the configuration, a shift of the instance, and noise."""
    return height(cell.config) + (cell.seed % 1000) / 100 + noise(cell)


def half_fail(cell):
    return None if noise(cell) > 0 else noisy(cell)


def huge(cell):
    return 1.7e308 * np.clip(noise(cell) / 2, -1, 1)


def wild(cell):
    """Return values of all magnitudes."""
    return float(
        np.clip(np.exp(np.clip(300 * noise(cell), -700, 700)), 1e-320, 1e308) * np.sign(noisy(cell))
    )


OBJECTIVES = {
    "noisy": noisy,
    "constant": lambda cell: 1.0,
    "all fail": lambda cell: None,
    "half fail": half_fail,
    "every other candidate fails": lambda cell: None if cell.candidate % 2 else noisy(cell),
    "all fail at first": lambda cell: None if cell.block < 6 else noisy(cell),
    "huge": huge,
    "wild": wild,
    "tiny": lambda cell: 1e-320 * noise(cell),
}


def play(tuner, evaluate=noisy, *, order=None, seconds=lambda cell: 0.01, most=20_000):
    """Run a tuner to its end, and keep what was asked: a list of steps, each a list of cells."""
    steps, asked = [], set()
    while cells := tuner.ask():
        steps.append(cells)
        for cell in order(cells) if order else cells:
            place = cell.held_out, cell.block, cell.candidate
            assert place not in asked, "asked twice"
            asked.add(place)
            assert len(asked) <= most
            tuner.tell(cell, outcome_of(evaluate(cell), seconds(cell)))
    return steps


def content(result):
    """Return all that a result says, but for the seconds, in a form that can be compared."""
    held = []
    for race in result.completed_races:
        said = dict(vars(race))
        del said["seconds"]
        held.append(said)
    return {
        "configs": repr(result.configs),
        "best": (result.best_index, result.elites, result.ended, result.evaluations, result.seed),
        "races": repr(held),
        "origins": result.origins,
        "scores": repr(result.scores.drop(columns="seconds").to_numpy().tolist()),
        "tests": repr(result.tests.to_numpy().tolist()),
        "probability_best": repr(result.probability_best),
        "indistinguishable": result.indistinguishable,
        "blocks": result.shared_blocks,
    }


def tuning_tools():
    """Return the helpers of these tests, as the fixture `tuning`."""
    return SimpleNamespace(
        SPACES=SPACES,
        OBJECTIVES=OBJECTIVES,
        reals=reals,
        mixed=mixed,
        countable=countable,
        height=height,
        noise=noise,
        noisy=noisy,
        outcome_of=outcome_of,
        play=play,
        content=content,
    )
