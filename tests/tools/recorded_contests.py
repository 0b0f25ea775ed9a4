"""Races, tunings and the like, recorded: a change that must change nothing is compared with them.

    python tests/tools/recorded_contests.py record  [--jobs 2]
    python tests/tools/recorded_contests.py compare [--kinds races] [--first 100] [--jobs 2]
    python tests/tools/recorded_contests.py dump races/17

A case is determined by its kind and number alone, which draw its settings from the tables below. Of
all that can be observed of it a digest is recorded, bit for bit, one per part besides, and a few
fields in clear. Where a case differs, the dumps of both versions of the code, compared with `diff`,
say in what.

Floats are compared by all their bits, so other versions of NumPy or SciPy, or another processor,
may bring other digests: `probe` says whether arithmetic is as it was when this was recorded.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import os
import platform
import re
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from multiprocessing.util import Finalize
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import flat
import numpy as np
import pandas as pd
from joblib.externals.loky import reusable_executor
from objectives import Counting
from threadpoolctl import threadpool_limits
from tunings import countable, mixed, reals

import racer
import racer.tuner
from racer import Budget, Categorical, Integer, Ordinal, Param, Real, Space, deciders

FILE = Path(__file__).parents[1] / "data" / "recorded_contests.json.gz"

# -- what a case may be: one value of each is drawn, and those that stand there twice more often

NAMED = "bayesian-friedman bayesian-friedman-2015 f-race-sign f-race-mean-rank best-for-budget"
NAMED = (*NAMED.split(), "f-race", "t-race", "halving", "anytime")
DECIDERS = {name: name for name in NAMED} | {
    "bayesian-best": deciders.BayesianBest(),
    "fixed-confidence-rank": deciders.FixedConfidence(form="rank"),
    "correlated-t": deciders.CorrelatedTRace(),
    "signed-rank": deciders.SignedRankRace(),
}
CAPPED = {"default", *NAMED[:4], "bayesian-best", "fixed-confidence-rank"}  # take capped run times
PLAN = {"best-for-budget", "bayesian-best", "halving"}  # with a number of evaluations
TUNING = ("default", "f-race", "bayesian-friedman", "anytime", "halving", "default", "t-race")
TUNING += ("fixed-confidence-rank", "f-race-sign", "default", "signed-rank", "bayesian-best")
LUCK = {
    "digits": (None, None, 1, 1, 0),
    "seeded": ("fresh", "fresh", "fresh", "ignored", "ignored", "partly", "late"),
    "failing": (0.0, 0.0, 0.0, 0.04, 0.2, 0.5),
    "lame": (0, 0, 0, 0, 0, 5),
    "dark": (0.0, 0.0, 0.0, 0.0, 0.15),
    "rejecting": (0.0, 0.0, 0.0, 0.0, 0.004, 0.03),
    "kind": ("",) * 35 + ("equal", "equal", "equal", "failed", "rejected"),
    "noise": (1.0, 1.0, 0.5, 0.1),
    "cut": (True, False),
}
RUNTIME = {
    "limit": (2.0, 5.0, 20.0),
    "slack": (1.0, 1.2, 1.5, 2.0),
    "par": (10.0, 10.0, 1.0, None),
    "utility": (None, None, None, "log", "linear"),
}
RULES = {
    "maximize": (False, False, True),
    "deterministic": (None, None, True, False),
    "each_test": (None, None, None, 1, 2, 3, 5, "growing", "growing"),
    "first_test": (None,) * 7 + (1, 2, 3, 4, 5, 6, 7),
}
MORE = {
    "race": {"min_survivors": (None,) * 7 + (1, 2, 4), "block_size": (1, 1, 1, 1, 1, 2, 3)},
    "tuning": {
        "block_size": (1, 1, 1, 1, 2),
        "elites": (None, None, None, None, 1, 3, 5),
        "instance_order": (None, None, "given"),
        "test_instances": (None, None, None, [100, 101], [*range(100, 107)]),
    },
}
SIZES = {  # of races; of tunings only some
    "m": (1, *range(2, 12), *range(2, 12), *range(2, 12), 16, 25),
    "n_instances": (None, None, 3, 4, 5, 6, 8, 11, 12, 17, 24, 30),
    "blocks": range(6, 46),
    "spread": (0.0, 0.3, 1.0, 2.0, 3.0),
    "limit": ("evaluations",) * 12 + ("seconds",) * 3 + ("both",) * 5,
    "timed": range(20),
    "initial": (0, 0, 0, 1, 4),
}


def draw(rng, table):
    """Return one of the values of each setting."""
    return {name: values[int(rng.integers(len(values)))] for name, values in table.items()}


def wide():
    """Return a space of many parameters, some under conditions of conditions."""
    parameters = {f"x{i}": Real(-2, 6) for i in range(4)}
    parameters |= {f"n{i}": Integer(0, 20) for i in range(3)}
    parameters |= {"use": Categorical([True, False]), "how": Categorical(["a", "b", "c", "d"])}
    parameters |= {"deep": Real(1e-3, 10.0, log=True, digits=2), "deeper": Ordinal([1, 2, 3])}
    parameters |= {"step": Real(0, 2, step=0.25), "size": Integer(1, 4096, log=True)}
    parameters |= {"rate": Real(1e-4, 1.0, log=True)}
    conditions = {"how": {"use": True}, "deep": {"how": ["a", "b"]}, "deeper": Param("deep") > 0.1}
    return Space(parameters | {"fixed": Categorical(["only"])}, conditions=conditions)


def bounded_by_others():
    """Return a space in which bounds depend on parameters, and some combinations are forbidden."""
    parameters = {"a": Integer(1, 30), "b": Integer(0, Param("a"))}
    parameters |= {"c": Real(0.0, Param("a") / 2 + 1.0), "d": Categorical(["x", "y", "z"])}
    return Space(parameters, forbidden=[(Param("d") == "x") & (Param("a") > 20)])


SPACES = (reals, mixed, wide, bounded_by_others)
SPACES += (partial(countable, 2, 4), partial(reals, 1), partial(reals, 14))


def space_of(number):
    """Return a space, every other time with a default, as it is stored."""
    space = SPACES[number % len(SPACES)]()
    default = {"default": space.sample(1, seed=9)[0]} if number % 2 else {}
    return Space.from_json(space.to_json() | default)


# -- what is used of racer: if a name changes, it is adapted here and nowhere else

RACES = "race kind candidates alive blocks best best_mean elites evaluations left ended seconds"
EVENTS = {
    racer.BlockCompleted: "block alive best best_mean eliminated evaluations failed seconds",
    racer.RaceEnded: "ended eliminated",
    racer.tuner.CandidatesAdded: "race first configs parents",
    racer.tuner.RaceCompleted: RACES,
}
ELIMINATION = "block candidate reason against probability measure"
CELL = "held_out block candidate instance_index instance seed bound"
STATE = "ended evaluations best_index survivors seconds"
CONTEST = "best_index best survivors seed ended evaluations shared_blocks seconds"
ABLATION = "source target path blocks ended evaluations seed best_index best beats_target configs"
EVIDENCE = "best probability indistinguishable compared_on instances"
FRAMES = {  # with the columns that count; "": with all
    "eliminations": ELIMINATION,
    "scores": "block instance seed candidate value status seconds",
    "blocks": "instance seed evaluated set_aside",
    "configurations": "race parent initial blocks mean",
    "races": RACES,
    "table": "",
    "tests": "",
}


def of(thing, names, *, clock=True):
    """Return attributes; without `clock` not the seconds, which are not repeatable."""
    return [getattr(thing, name) for name in names.split() if clock or name != "seconds"]


def of_event(event, *, clock):
    """Return what an event tells."""
    gone = [of(one, ELIMINATION) for one in getattr(event, "eliminated", ())]
    names = EVENTS[type(event)].replace("eliminated", "")
    return [type(event).__name__, gone, *of(event, names, clock=clock)]


def of_frame(frame, names="", *, clock=True):
    """Return columns of a frame, and its index."""
    shown = [name for name in names.split() or frame if name in frame]
    shown = [name for name in shown if clock or name != "seconds"]
    return [list(frame.index), *([name, frame[name].tolist()] for name in shown)]


def of_contest(result, *, clock=True, chances=True):
    """Return the parts of the result of a race or a tuning."""
    parts = {
        name: of_frame(frame, names, clock=clock)
        for name, names in FRAMES.items()
        if (frame := getattr(result, name, None)) is not None
    }
    if result.rules.runtime is not None:
        parts["run_times"] = of_frame(result.run_times)
    parts["chances"] = result.probability_best if chances else None
    parts["configs"] = [result.configs, getattr(result, "test_means", None)]
    return parts | {"answer": of(result, CONTEST, clock=clock)}


def of_ablation(found, *, clock):
    """Return the parts of the result of an ablation."""
    steps = [of(step, "before after parameters") for step in found.steps]
    parts = {"answer": of(found, ABLATION), "steps": steps, "frame": of_frame(found.frame)}
    return parts | {"seconds": found.seconds if clock else None}


def of_study(study, evidence):
    """Return what races leave in a study, and its evidence; not how they keep their own state."""
    trials = [
        [trial.state.name, *of(trial, "params value"), sorted(trial.intermediate_values.items())]
        for trial in study.trials
    ]
    shown = {"evidence": of(evidence, EVIDENCE), "frame": of_frame(evidence.trials)}
    return shown | {"trials": trials}


# -- plain data, and its digest


def plain(value):
    """Return nested data in what JSON has; a dict as its pairs, whose order counts."""
    if value is None or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str.__str__(value) if type(value) is str else value.value
    if isinstance(value, dict):
        return [[plain(key), plain(item)] for key, item in value.items()]
    if isinstance(value, list | tuple | range):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not plain: {value!r}")


def canonical(value):
    """Return the canonical JSON of plain data: floats by `repr`, which has all their bits."""
    return json.dumps(value, separators=(",", ":"), allow_nan=True)


def digest(value):
    """Return the SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def probe():
    """Return a digest of what NumPy, SciPy and the processor make of a few numbers."""
    from scipy import linalg, special, stats

    rng = np.random.default_rng(1)
    x, a = rng.normal(size=2000), rng.normal(size=(40, 60))
    spread = a @ a.T
    with threadpool_limits(1):
        found = [
            *(np.exp(x), np.log1p(np.abs(x)), np.sin(x), np.abs(x) ** 0.3, [x.sum(), x.std()]),
            *(spread, linalg.cholesky(spread), linalg.eigvalsh(spread)),
            *(special.ndtr(x), special.gammaln(np.abs(x))),
            *(stats.t.sf(x, 7), stats.chi2.sf(x**2, 3)),
            *(rng.gamma(0.7, size=100), rng.dirichlet([0.5, 2.0, 7.0], size=50)),
            [math.log1p(abs(v)) + math.exp(v) for v in x[:200].tolist()],
        ]
    return digest([np.asarray(one).tolist() for one in found])[:16]


def made_with():
    """Return what else the numbers depend on."""
    libraries = ("numpy", "scipy", "pandas", "optuna")
    return {"python": platform.python_version(), **{name: version(name) for name in libraries}}


# -- what is evaluated


class World:
    """What is evaluated: an outcome is a function of configuration, instance and seed alone.

    Attributes
    ----------
    key : int
        Of the case.
    shifts : tuple of float
        The expected values of the candidates of a race, which are whole numbers.
    timed : bool
        The cost is run time.
    noise : float
    digits : int or None
        Values are rounded to so many, so that there are ties.
    seeded : {"fresh", "ignored", "partly", "late"}
        Which evaluations depend on their seed: all, none, those of two thirds of the
        configurations, those on odd instances.
    failing : float
        The probability that an evaluation fails.
    lame : int
        Each configuration of so many always fails; 0: none does.
    dark : float
        The probability that all evaluations with the same instance and seed fail.
    rejecting : float
        The probability that an evaluation rejects its configuration.
    kind : {"", "equal", "failed", "rejected"}
        All values are equal, all evaluations fail, or all configurations are rejected.
    cut : bool
        What takes too long is told as capped at the bound, not with the time that it takes.
    """

    def __init__(self, key, shifts=(), *, timed=False, **luck):
        self.key, self.shifts, self.timed = key, shifts, timed
        vars(self).update({name: values[0] for name, values in LUCK.items()} | luck)

    def _mean(self, config):
        if isinstance(config, int):
            return self.shifts[config]
        total = 0.0
        for name, value in config.items():
            number = zlib.crc32(value.encode()) % 5 if isinstance(value, str) else value
            weight = 0.2 + zlib.crc32(name.encode()) % 7 / 5
            total += weight * abs(math.log1p(abs(number)) - 0.7)
        return total

    def found(self, config, instance, seed):
        """Return status, value and seconds, whatever the bound."""
        who = config if isinstance(config, int) else zlib.crc32(canonical(plain(config)).encode())
        ignored = {"ignored": True, "partly": who % 3 == 0, "late": (instance or 0) % 2 == 0}
        where = seed if instance is None or not ignored.get(self.seeded) else instance
        rng = np.random.default_rng([self.key, where, who])
        chances, noise, took = rng.random(3).tolist(), float(rng.normal()), rng.exponential(0.5)
        if self.kind == "rejected" or chances[0] < self.rejecting:
            return "rejected", None, took
        dark = self.dark and np.random.default_rng([self.key, 7, where]).random() < self.dark
        lame = self.lame and who % self.lame == 1
        if dark or lame or self.kind == "failed" or chances[1] < self.failing:
            others = ("invalid", "timeout", "memory", "killed")
            return ("failed" if chances[2] < 0.7 else others[who % 4]), None, took
        level = 0.0 if instance is None else (instance * 37 % 11) / 5
        value = 1.0 if self.kind == "equal" else self._mean(config) + level + self.noise * noise
        value = math.exp(0.5 * value) if self.timed else value
        value = value if self.digits is None else round(value, self.digits)
        return "ok", value, value if self.timed else took

    def outcome(self, cell):
        """Return the outcome of a cell, stopped at its bound."""
        status, value, took = self.found(cell.config, cell.instance, cell.seed)
        if cell.bound is not None and self.cut and status != "rejected" and took >= cell.bound:
            status, value, took = "capped", cell.bound, cell.bound
        message = "" if value is not None else "no"
        return racer.Outcome(status, value, seconds=took, message=message)

    def __call__(self, config, instance, seed, bound=math.inf):
        """Evaluate as a user's function does."""
        status, value, _ = self.found(config, instance, seed)
        if status == "invalid":
            return math.nan
        if value is None:
            raise ValueError(status)
        return min(value, bound)


# -- driving


class Watch:
    """What happens while a contest runs: events, warnings, and the calls of ask and ahead."""

    def __init__(self, *, clock=True):
        self.clock = clock
        self.seen = {name: [] for name in ("events", "asked", "ahead", "looks")}
        self.warnings = Counter()

    def __call__(self, event):
        """Note an event."""
        self.seen["events"].append(of_event(event, clock=self.clock))

    @contextmanager
    def of_warnings(self):
        """Note how many warnings there are, by category; their texts may be changed."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for one in caught:
            text = str(one.message)
            if not text.startswith(("evaluate ignores its seed", "evaluate returned")):
                several = re.search(r"the same happened on (\d+) blocks in all$", text)
                self.warnings[one.category.__name__] += int(several[1]) - 1 if several else 1

    def drive(self, contest, world, rng):
        """Ask and tell to the end, in random order; look at what is ahead, and at the state."""
        while cells := contest.ask():
            self.seen["asked"].append([of(cell, CELL) for cell in cells])
            look = int(rng.integers(len(cells))) if rng.random() < 0.2 else -1
            for step, i in enumerate(rng.permutation(len(cells)).tolist()):
                if step == look:
                    self.seen["looks"].append([of(cell, CELL) for cell in contest.ask()])
                    self.seen["looks"].append(of(contest.result(), STATE))
                    ahead = contest.ahead(int(rng.integers(1, 9)))
                    self.seen["ahead"].append([of(cell, CELL) for cell in ahead])
                contest.tell(cells[i], world.outcome(cells[i]))
        return contest.result()

    def parts(self):
        """Return what was noted."""
        return {**self.seen, "warnings": sorted(self.warnings.items())}


class Case(NamedTuple):
    """A case that was played: its parts, and the entry that is recorded of them."""

    parts: dict[str, Any]
    entry: dict[str, Any]


def case_of(decider, parts, result):
    """Return the case of a result, or of what has a few of its attributes."""
    made = {name: plain(part) for name, part in parts.items()}
    entry = {
        "decider": decider,
        "ended": plain(result.ended),
        "evaluations": result.evaluations,
        "best": plain(result.best_index),
        "digest": digest(sorted(made.items())),
        "parts": {name: digest(part)[:8] for name, part in made.items()},
    }
    return Case(made, entry)


# -- races and tunings


def settings_of(kind, number, *, driven=False):
    """Return the name of the decider, the world, candidates or space, instances and rules.

    Of a contest that is `driven` by racer itself no outcome is a rejection or has repeatable
    seconds.
    """
    is_race = kind == "race"
    rng = np.random.default_rng([is_race, number])
    names = [*DECIDERS] if is_race else TUNING
    name = names[number % len(names)]
    sizes, luck, rules = draw(rng, SIZES), draw(rng, LUCK), draw(rng, RULES | MORE[kind])
    m, size, n = sizes["m"], rules["block_size"], sizes["n_instances"]
    n = None if n is None else max(n // size, 1) * size
    timed = sizes["timed"] < (9 if name in CAPPED else 2) and not driven
    if timed:
        given = draw(rng, RUNTIME) | ({} if name in CAPPED else {"slack": math.inf})
        rules |= {"maximize": False, "runtime": racer.Runtime(**given)}
    blocks = min(sizes["blocks"], 15 if m > 11 else 45) + (rules["first_test"] or 5) * (size - 1)
    evaluations = blocks * m if is_race else (260 + 8 * sizes["blocks"]) * size
    if is_race:
        subject = list(range(m))
        shifts = tuple((sizes["spread"] * rng.normal(size=m)).tolist())
        rules["min_survivors"] = min(rules["min_survivors"] or 0, m - 1) or None
    else:
        subject, shifts = space_of(number), ()
        luck |= {"failing": min(luck["failing"], 0.2), "rejecting": luck["rejecting"] / 4}
        rules["initial"] = subject.sample(sizes["initial"], seed=number) or None
    if n is None and rules["deterministic"]:  # it would be settled by one evaluation
        rules["deterministic"] = None
    limit = "list" if number % 4 == 1 and not is_race else sizes["limit"]
    if driven:
        limit = "list" if limit == "list" else "evaluations"
    rules["budget"] = budget_of(limit, name, evaluations)
    rules |= {"seed": number, "decider": DECIDERS.get(name)}
    rules = {key: value for key, value in rules.items() if value is not None}
    if elites := rules.pop("elites", None):
        rules["search"] = racer.Search(elites=elites)
    world = World(2 * number + is_race, shifts, **luck, timed=timed)
    return name, world, subject, None if n is None else list(range(n)), rules


def budget_of(limit, name, evaluations):
    """Return a budget of evaluations, of seconds, of both, or several, that suits a decider."""
    if limit == "evaluations":
        return evaluations
    if limit == "list":
        return [evaluations, evaluations + 80, 3 * evaluations]
    is_both = limit == "both" or name in PLAN
    return Budget(evaluations=evaluations if is_both else None, seconds=0.4 * evaluations)


def play_contest(kind, number):
    """Play a race or a tuning by ask and tell; every fourth tuning is driven by racer."""
    driven = kind == "tuning" and number % 4 == 3
    name, world, subject, instances, rules = settings_of(kind, number, driven=driven)
    watch = Watch(clock=not driven)
    given = (subject, world, instances) if driven else (subject, instances)
    make = flat.tune if driven else racer.Race.of if kind == "race" else racer.Tuner.of
    with watch.of_warnings():
        result = make(*given, callbacks=[watch], **rules)
        if not driven:
            result = watch.drive(result, world, np.random.default_rng([2, number]))
        chances = kind == "tuning" or number % 4 == 0
        parts = of_contest(result, clock=not driven, chances=chances)
    return case_of(name, parts | watch.parts(), result)


# -- ablations

ABLATED = {
    "decider": ("bayesian-friedman", "f-race-sign", "fixed-confidence-rank"),
    "maximize": (False, False, True),
    "test_instances": (None, [*range(100, 106)]),
}
GIVEN = {"source": (None, None, 1), "blocks": (None, 3, 5), "budget": (None, None, None, 12, 60)}
GIVEN |= {"target": (None, None, True)}


def ablation_settings(number):
    """Return the result of a tuning, its world, and what an ablation of it is given."""
    rng = np.random.default_rng([5, number])
    space, is_timed = space_of(number), number % 4 == 1
    luck = draw(rng, {"noise": (0.1, 0.5), "digits": (None, 1), "failing": (0.0, 0.0, 0.1)})
    rules = draw(rng, ABLATED) | {"seed": number, "budget": int(rng.integers(260, 400))}
    rules |= {"decider": DECIDERS[rules["decider"]], "initial": space.sample(1, seed=9)}
    if is_timed:
        runtime = draw(rng, RUNTIME) | {"limit": 5.0, "utility": None}
        rules |= {"maximize": False, "runtime": racer.Runtime(**runtime)}
    world = World(2 * number, **luck, timed=is_timed)
    tuner = racer.Tuner.of(space, (None, range(4), range(8), range(15))[number // 8 % 4], **rules)
    result = Watch().drive(tuner, world, rng)
    given = {name: value for name, value in draw(rng, GIVEN).items() if value is not None}
    if "target" in given or result.best in (None, result.configs[given.get("source", 0)]):
        given["target"] = dict(result.configs[-1])
    return result, world, given | ({"blocks": 4} if is_timed else {})


def play_ablation(number):
    """Play an ablation of a small tuning."""
    watch = Watch(clock=False)
    with watch.of_warnings():
        result, world, given = ablation_settings(number)
        found = racer.ablation(result, world, callbacks=[watch], **given)
        parts = of_ablation(found, clock=world.timed and not world.failing)
    return case_of(None, parts | watch.parts(), found)


# -- races of a study's trials

STUDY = {
    "trials": range(1, 6),
    "elites": range(4),
    "first_test": (None, None, 2, 3, 5),
    "decider": (None, None, "f-race", "anytime", "bayesian-friedman", "t-race", "halving"),
}


def suggest(trial):
    """Suggest a configuration with a condition."""
    config = {"kind": trial.suggest_categorical("kind", ["a", "b"])}
    config["x"] = trial.suggest_float("x", 0.01, 10.0, log=True)
    if config["kind"] == "b":
        config["n"] = trial.suggest_int("n", 1, 9)
    return config


def play_study(number):
    """Race the trials of a study in memory, every third time with a larger budget afterwards."""
    import optuna

    from racer.integrations.optuna import race_study

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rng, watch = np.random.default_rng([6, number]), Watch()
    luck = {name: LUCK[name] for name in ("noise", "digits", "failing", "dark")}
    world = World(2 * number, **draw(rng, luck), kind="failed" if number == 11 else "")
    settings = {"suggest": suggest, "seed": number, **draw(rng, STUDY)}
    decider, budget = settings["decider"], int(rng.integers(60, 200))
    instances = [float(i) for i in range(6 + 2 * (number % 4))]
    direction = "maximize" if number % 5 < 2 else "minimize"
    sampler = optuna.samplers.RandomSampler(seed=number)
    study = optuna.create_study(sampler=sampler, direction=direction)
    with watch.of_warnings():
        for more in (0, 60) if number % 3 == 0 else (0,):
            evidence = race_study(study, world, instances, budget=budget + more, **settings)
        parts = of_study(study, evidence) | {"warnings": sorted(watch.warnings.items())}
    states = Counter(trial[0] for trial in parts["trials"])
    evaluations, ended = sum(evidence.instances.values()), dict(sorted(states.items()))
    result = SimpleNamespace(ended=ended, evaluations=evaluations, best_index=evidence.best)
    return case_of(decider, parts, result)


# -- stores, and two workers


@contextmanager
def quiet():
    """Send what is written to standard error, past its buffer too, nowhere."""
    hook, kept = sys.excepthook, os.dup(2)
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        sys.excepthook = hook


MOMENTS = {"race": (8, 30), "tuning": (20, 280), "ablation": (2, 12)}


def play_store(number):
    """Play a race, a tuning or an ablation with a store: interrupted, or with a larger budget.

    Then go on, and load: both bring the same.
    """
    way = ("race", "tuning", "ablation")[number % 3]
    is_ablation = way == "ablation"
    watch, begun = Watch(clock=False), "interrupted"
    with tempfile.TemporaryDirectory() as folder, quiet(), watch.of_warnings():
        if is_ablation:
            name, (given, world, rules) = None, ablation_settings(4 * number)  # not of run times
            run, among, show = racer.ablation, (), of_ablation
        else:
            name, world, given, *among, rules = settings_of(way, 9_000 + number, driven=True)
            world.kind = ""
            run, show = flat.race if way == "race" else flat.tune, of_contest
        stops = is_ablation or number % 2 == 0
        at = int(np.random.default_rng([7, number]).integers(*MOMENTS[way])) if stops else None
        path, evaluate = f"{folder}/store.db", Counting(world, at)
        try:
            begun = run(given, evaluate, *among, store=path, callbacks=[watch], **rules).ended
        except racer.RaceInterrupted as stop:
            if not is_ablation:
                watch.seen["looks"].append(of(stop.result, STATE, clock=False))
        if is_ablation:
            result = run(given, evaluate, store=path, callbacks=[watch], **rules)
        else:
            last = np.atleast_1d(rules["budget"])[-1]
            more = {} if stops else {"budget": int(last) + 150}
            result = racer.resume(path, evaluate, callbacks=[watch], **more)
        parts = show(result, clock=False)
        if canonical(plain(show(racer.load(path), clock=False))) != canonical(plain(parts)):
            raise AssertionError(f"{path}: going on and loading have different results")
    parts |= {"begun": begun, "calls": len(evaluate.calls), **watch.parts()}
    return case_of(name, parts, result)


def play_jobs(number):
    """Run a race, or every fourth time a tuning, with one worker and with two: all is the same."""
    kind = "tuning" if number % 4 == 3 else "race"
    name, world, subject, instances, rules = settings_of(kind, 8_000 + number, driven=True)
    world.kind = ""
    cases = []
    for n_jobs in (1, 2):
        watch = Watch(clock=False)
        more = {"n_jobs": n_jobs, "callbacks": [watch]}
        with watch.of_warnings():
            run = flat.race if kind == "race" else flat.tune
            result = run(subject, world, instances, **rules, **more)
        cases.append(of_contest(result, clock=False) | watch.parts())
    if canonical(plain(cases[0])) != canonical(plain(cases[1])):
        raise AssertionError("two workers bring another result than one")
    return case_of(name, cases[0], result)


# -- all cases

KINDS = {  # how many, and what plays one
    "races": (2600, lambda number: play_contest("race", number)),
    "tunings": (96, lambda number: play_contest("tuning", number)),
    "ablations": (32, play_ablation),
    "studies": (24, play_study),
    "stores": (18, play_store),
    "jobs": (16, play_jobs),
}


def play(name):
    """Play the case of a name such as "races/17"."""
    kind, _, number = name.partition("/")
    how_many, play_one = KINDS[kind]
    if not number.isdecimal() or int(number) >= how_many:
        raise LookupError(f"no case {name!r}: {kind} are numbered from 0 to {how_many - 1}")
    try:
        with threadpool_limits(1):
            return play_one(int(number))
    except racer.RacerError as error:  # settings that are refused
        ended = f"refused: {type(error).__name__}"
        result = SimpleNamespace(ended=ended, evaluations=0, best_index=None)
        return case_of(None, {"refused": ended}, result)


def found(name):
    """Return what would be recorded of a case; an error is a difference, too."""
    try:
        return play(name).entry
    except Exception as error:  # noqa: BLE001  (the others are compared all the same)
        said = f"raised {type(error).__name__}: {error}"
        return {"ended": said, "digest": "", "parts": {}}


def names_of(kinds=None, first=None):
    """Return the names of the cases of some kinds, the first so many of each."""
    return [
        f"{kind}/{number}"
        for kind in (kinds or KINDS)
        for number in range(min(KINDS[kind][0], first or KINDS[kind][0]))
    ]


def found_all(names, jobs=1):
    """Yield name and entry of each case."""
    if jobs == 1:
        yield from ((name, found(name)) for name in names)
        return
    with ProcessPoolExecutor(jobs, initializer=_end_loky_at_exit) as pool:
        yield from zip(names, pool.map(found, names, chunksize=4), strict=True)


def _end_loky_at_exit():
    """End idle workers of joblib with this process, which would wait for five minutes otherwise."""

    def end():
        if (executor := reusable_executor._executor) is not None:
            executor.shutdown(kill_workers=True)

    Finalize(None, end, exitpriority=100)


def load():
    """Return what is recorded: `cases` by name, `probe`, `made_with`."""
    return json.loads(gzip.decompress(FILE.read_bytes()))


def record(jobs=1):
    """Record all cases anew; raise if one of them raises."""
    cases = {}
    for name, entry in found_all(names_of(), jobs):
        if not entry["digest"]:
            raise RuntimeError(f"nothing is recorded: {name} {entry['ended']}")
        cases[name] = entry
    document = {"made_with": made_with(), "probe": probe(), "cases": cases}
    text = json.dumps(document, separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return document


def differences(names, jobs=1):
    """Return what differs from what is recorded, in a few lines for each case that does.

    Such a case is played once more: a signal from outside, say, can have interrupted it.
    """
    recorded = load()["cases"]
    said = {}
    for name, entry in found_all(names, jobs):
        before = recorded[name]
        if before == entry:
            continue
        parts = sorted({*before["parts"], *entry["parts"]})
        differ = [p for p in parts if before["parts"].get(p) != entry["parts"].get(p)]
        again = "; played again, it is as recorded" if found(name) == before else ""
        clear = [[*one.values()][:4] for one in (before, entry)]
        said[name] = (
            f"{name}: {', '.join(differ) or 'fields in clear'} differ{again}\n"
            f"    recorded: {clear[0]}\n    found:    {clear[1]}"
        )
    return said


def main(arguments=None):
    """Record, compare or dump, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["record", "compare", "dump"])
    parser.add_argument("case", nargs="?", help="of dump: races/17, say")
    parser.add_argument("--kinds", help=f"some of {','.join(KINDS)}, with commas between")
    parser.add_argument("--first", type=int, help="compare only the first so many of each kind")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args(arguments)
    kinds = given.kinds.split(",") if given.kinds else None
    if given.command == "dump":
        sys.stdout.write(json.dumps(play(given.case).parts, indent=1, sort_keys=True) + "\n")
        return 0
    if given.command == "record":
        document = record(given.jobs)
        sys.stdout.write(f"{racer.__file__}: {len(document['cases'])} cases\n")
        return 0
    if load()["probe"] != probe():
        recorded, now = load()["made_with"], made_with()
        sys.stdout.write(f"arithmetic differs: recorded with {recorded}, now {now}\n")
    names = names_of(kinds, given.first)
    said = differences(names, given.jobs)
    for lines in said.values():
        sys.stdout.write(lines + "\n")
    sys.stdout.write(f"{racer.__file__}: {len(names)} cases compared, {len(said)} differ\n")
    return 1 if said or not names else 0


if __name__ == "__main__":
    sys.exit(main())
