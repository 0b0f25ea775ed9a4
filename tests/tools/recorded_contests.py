"""Races, tunings and the like, recorded: a change that must change nothing is compared with them.

    python tests/tools/recorded_contests.py record  [--kinds races,tunings] [--jobs 2]
    python tests/tools/recorded_contests.py compare [--kinds races] [--first 100] [--jobs 2]
    python tests/tools/recorded_contests.py dump races/17

A case is determined by its kind and number alone. Of all that can be observed of it a digest is
recorded, bit for bit, one per part besides, and a few fields in clear. Where a case differs, the
dumps of both versions of the code, compared with `diff`, say in what.

Floats are compared by all their bits, so other versions of NumPy or SciPy, or another processor,
may bring other digests: `probe` says whether arithmetic is as it was when this was recorded.
"""

from __future__ import annotations

import argparse
import dataclasses
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
from dataclasses import dataclass, field
from importlib.metadata import version
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib.externals.loky import reusable_executor
from threadpoolctl import threadpool_limits

import racer
import racer.tuner
from racer.deciders import DECIDERS

FILE = Path(__file__).parents[1] / "data" / "recorded_contests.json.gz"

# -- what is used of racer: if a name changes, it is adapted here and nowhere else

NAMES = (  # in this order, so that the decider of a case remains the same; None: it has left
    "bayesian-friedman",
    "bayesian-friedman-2015",
    "best-for-budget",
    "bayesian-best",
    "f-race",
    "f-race-sign",
    "f-race-mean-rank",
    "t-race",
    "correlated-t",
    "halving",
    "anytime",
    "bradley-terry",
    None,
    "signed-rank",
)
TAKE_CAPPED = {
    "bayesian-friedman",
    "bayesian-friedman-2015",
    "bayesian-best",
    "f-race-sign",
    "f-race-mean-rank",
    "bradley-terry",
}
FIRST = {"races": 0, "stores": 9_000, "jobs": 8_000}  # number of the race of case 0
PLAN = {"best-for-budget", "bayesian-best", "halving"}  # with a number of evaluations
BY_CLASS = {
    "bayesian-best": racer.deciders.BayesianBest(),
    "bradley-terry": racer.deciders.BradleyTerryRace(),
    "correlated-t": racer.deciders.CorrelatedTRace(),
    "signed-rank": racer.deciders.SignedRankRace(),
}
if missing := [name for name in NAMES if name and name not in {*DECIDERS, *BY_CLASS}]:
    raise LookupError(f"no deciders of these names: {missing}")

Race, Tuner, Space, Param = racer.Race, racer.Tuner, racer.Space, racer.Param
Real, Integer, Categorical, Ordinal = racer.Real, racer.Integer, racer.Categorical, racer.Ordinal
Refused, Interrupted = racer.RacerError, racer.RaceInterrupted

EVENTS = {
    racer.BlockCompleted: (
        "block",
        ("block", "alive", "best", "best_mean", "eliminated", "evaluations", "seconds", "failed"),
    ),
    racer.RaceEnded: ("end", ("ended", "eliminated")),
    racer.tuner.CandidatesAdded: ("added", ("race", "first", "configs", "parents")),
    racer.tuner.RaceCompleted: (
        "race",
        (
            *("race", "kind", "candidates", "alive", "blocks", "best", "best_mean", "elites"),
            *("evaluations", "seconds", "left", "ended"),
        ),
    ),
}
ELIMINATION = ("block", "candidate", "reason", "against", "probability", "measure")
SCORES = ("block", "instance", "seed", "candidate", "value", "status")
BLOCKS = ("instance", "seed", "evaluated", "set_aside")
RACES = EVENTS[racer.tuner.RaceCompleted][1]


def as_outcome(status, value, seconds):
    """Return an outcome."""
    return racer.Outcome(status, value, seconds=seconds, message="" if value is not None else "no")


def as_budget(given):
    """Return the budget of a number, of (evaluations, seconds), or a list of these."""
    if isinstance(given, list):
        return [as_budget(one) for one in given]
    return (
        racer.Budget(evaluations=given[0], seconds=given[1]) if isinstance(given, tuple) else given
    )


def as_runtime(given):
    """Return the runtime of a dict of settings, if there is one."""
    return None if given is None else racer.Runtime(**given)


def as_rules(rules):
    """Return the rules of a race or a tuning, of plain ones."""
    made = {**rules, "budget": as_budget(rules["budget"])}
    if "decider" in made:
        made["decider"] = BY_CLASS.get(made["decider"], made["decider"])
    return made | {"runtime": as_runtime(rules["runtime"])} if "runtime" in rules else made


def of_cell(cell):
    """Return what identifies a cell."""
    where = (cell.held_out, cell.block, cell.candidate, cell.instance_index, cell.instance)
    return [*where, cell.seed, cell.bound]


def of_event(event):
    """Return what an event tells, as plain data."""
    name, fields = EVENTS[type(event)]
    told = {
        field: [[getattr(gone, f) for f in ELIMINATION] for gone in event.eliminated]
        if field == "eliminated"
        else getattr(event, field)
        for field in fields
    }
    return [name, told]


def of_state(result):
    """Return the few values of a result that is not final."""
    return [
        *(result.ended, result.evaluations, result.seconds, result.best_index, result.survivors),
        len(result.eliminations),
    ]


def of_result(result, *, clock=True, chances=True):
    """Return the parts of the result of a race or a tuning; `clock`: its seconds are repeatable."""
    table = result.table
    parts = {
        "answer": {
            **{name: getattr(result, name) for name in ("best_index", "best", "survivors", "seed")},
            **{name: getattr(result, name) for name in ("ended", "evaluations", "shared_blocks")},
            "seconds": result.seconds if clock else None,
        },
        "eliminations": columns(result.eliminations, ELIMINATION),
        "scores": columns(result.scores, (*SCORES, "seconds") if clock else SCORES),
        "table": [list(table.index), list(table.columns), table.to_numpy().tolist()],
        "blocks": [list(result.blocks.index), *columns(result.blocks, BLOCKS)],
    }
    if chances:
        parts["chances"] = result.probability_best
    if result.rules.runtime is not None:
        names = list(result.run_times.columns)
        parts["run_times"] = [
            names,
            list(result.run_times.index),
            *columns(result.run_times, names),
        ]
    return parts


def of_tuning(result, *, clock=True, chances=True):
    """Return the parts of the result of a tuning."""
    races = [name for name in RACES if clock or name != "seconds"]
    origins = ("race", "parent", "initial", "blocks", "mean")
    tests = result.tests
    return {
        **of_result(result, clock=clock, chances=chances),
        "configs": result.configs,
        "origins": columns(result.configurations, origins),
        "races": columns(result.races, races) if len(result.races) else [],
        "tests": [list(tests.index), list(tests.columns), tests.to_numpy().tolist()],
        "test_means": result.test_means,
    }


ABLATION = ("source", "target", "path", "blocks", "ended", "evaluations", "seed")


def race_study(study, evaluate, instances, **settings):
    """Race the trials of a study; Optuna is imported only for this."""
    from racer.integrations import optuna

    return optuna.race_study(study, evaluate, instances, **settings)


def new_study(seed, *, maximize):
    """Return a study in memory, which proposes at random."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.RandomSampler(seed=seed)
    return optuna.create_study(sampler=sampler, direction="maximize" if maximize else "minimize")


def of_study(study, evidence):
    """Return what races leave in a study, and its evidence; not how they keep their own state."""
    shown = ("best", "probability", "indistinguishable", "compared_on", "instances")
    trials = evidence.trials
    return {
        "trials": [
            [
                *(trial.state.name, trial.params, trial.value),
                sorted(trial.intermediate_values.items()),
                evidence.instances.get(trial.number, 0),
            ]
            for trial in study.trials
        ],
        "evidence": {name: getattr(evidence, name) for name in shown},
        "frame": [list(trials.index), *columns(trials, list(trials.columns))],
    }


# -- plain data, and its digest


def columns(frame, names):
    """Return columns of a frame as lists."""
    return [frame[name].tolist() for name in names]


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


def are_same(one, other):
    """Return whether all parts of both are the same, bit for bit."""
    return digest(plain(one)) == digest(plain(other))


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
            *(
                special.ndtr(x),
                special.gammaln(np.abs(x)),
                stats.t.sf(x, 7),
                stats.chi2.sf(x**2, 3),
            ),
            *(rng.gamma(0.7, size=100), rng.dirichlet([0.5, 2.0, 7.0], size=50)),
            [math.log1p(abs(v)) + math.exp(v) for v in x[:200].tolist()],
        ]
    return digest([np.asarray(one).tolist() for one in found])[:16]


def made_with():
    """Return what else the numbers depend on."""
    libraries = ("numpy", "scipy", "pandas", "optuna")
    return {"python": platform.python_version(), **{name: version(name) for name in libraries}}


# -- what is evaluated


@dataclass(frozen=True)
class World:
    """What is evaluated: an outcome is a function of configuration, instance and seed alone.

    Attributes
    ----------
    key : tuple of int
        Of the case.
    shifts : tuple of float
        The expected values of the candidates of a race, which are whole numbers.
    noise : float
    digits : int or None
        Values are rounded to so many, so that there are ties.
    seeded : {"fresh", "ignored", "partly", "late"}
        Which evaluations depend on their seed: all, none, those of two thirds of the
        configurations, those on odd instances.
    failing : float
        The probability that an evaluation fails.
    lame : tuple of int
        Candidates that always fail; in a tuning, a configuration fails by its own hash.
    dark : float
        The probability that all evaluations with the same instance and seed fail.
    rejecting : float
        The probability that an evaluation rejects its configuration.
    limit : float or None
        The cost is run time; None: it is not.
    kind : {"", "equal", "failed", "rejected"}
        All values are equal, all evaluations fail, or all configurations are rejected.
    cut : bool
        What takes too long is told as capped at the bound, not with the time that it takes.
    """

    key: tuple[int, ...]
    shifts: tuple[float, ...] = ()
    noise: float = 1.0
    digits: int | None = None
    seeded: str = "fresh"
    failing: float = 0.0
    lame: tuple[int, ...] = ()
    dark: float = 0.0
    rejecting: float = 0.0
    limit: float | None = None
    kind: str = ""
    cut: bool = True
    calls: list[int] = field(default_factory=list, compare=False)

    def _who(self, config):
        return config if isinstance(config, int) else zlib.crc32(canonical(plain(config)).encode())

    def _mean(self, config):
        if isinstance(config, int):
            return self.shifts[config]
        total = 0.0
        for name, value in config.items():
            weight = 0.2 + zlib.crc32(name.encode()) % 7 / 5
            if isinstance(value, bool | str):
                total += weight * (zlib.crc32(str(value).encode()) % 5) / 2
            else:
                total += weight * abs(math.log1p(abs(value)) - 0.7)
        return total

    def _where(self, who, instance, seed):
        ignored = (
            self.seeded == "ignored"
            or (self.seeded == "partly" and who % 3 == 0)
            or (self.seeded == "late" and instance is not None and instance % 2 == 0)
        )
        return instance if ignored and instance is not None else seed

    def found(self, config, instance, seed):
        """Return status, value and seconds, whatever the bound."""
        who = self._who(config)
        where = self._where(who, instance, seed)
        rng = np.random.default_rng([*self.key, where, who])
        chances, noise, took = rng.random(3).tolist(), rng.normal(), rng.exponential(0.5)
        if self.kind == "rejected" or chances[0] < self.rejecting:
            return "rejected", None, took
        dark = self.dark and np.random.default_rng([*self.key, 7, where]).random() < self.dark
        lame = who in self.lame if isinstance(config, int) else bool(self.lame) and who % 9 == 0
        if dark or lame or self.kind == "failed" or chances[1] < self.failing:
            others = ("invalid", "timeout", "memory", "killed")
            return ("failed" if chances[2] < 0.7 else others[who % 4]), None, took
        level = 0.0 if instance is None else (instance * 37 % 11) / 5
        value = self._mean(config) + level + self.noise * float(noise)
        if self.limit is not None:
            value = math.exp(0.5 * value)
        if self.kind == "equal":
            value = 1.0
        if self.digits is not None:
            value = round(value, self.digits)
        return "ok", value, took if self.limit is None else value

    def outcome(self, cell):
        """Return the outcome of a cell, stopped at its bound."""
        status, value, took = self.found(cell.config, cell.instance, cell.seed)
        if cell.bound is not None and self.cut and status != "rejected" and took >= cell.bound:
            status, value, took = "capped", cell.bound, cell.bound
        return as_outcome(status, value, took)

    def __call__(self, config, instance, seed, bound=math.inf):
        """Evaluate as a user's function does."""
        status, value, _ = self.found(config, instance, seed)
        if status == "invalid":
            return math.nan
        if value is None:
            raise ValueError(status)
        return min(value, bound)


def pick(rng, *choices):
    """Return one of some values, as Python has it."""
    return choices[int(rng.integers(len(choices)))]


def misfortunes(rng, m):
    """Return what goes wrong in a world, if anything."""
    fate = rng.random()
    return {
        "digits": pick(rng, None, None, 1, 1, 0),
        "seeded": pick(rng, "fresh", "fresh", "fresh", "ignored", "ignored", "partly", "late"),
        "failing": pick(rng, 0.0, 0.0, 0.0, 0.04, 0.2, 0.5),
        "lame": tuple(np.flatnonzero(rng.random(m) < 0.2).tolist()) if rng.random() < 0.15 else (),
        "dark": pick(rng, 0.0, 0.0, 0.0, 0.0, 0.15),
        "rejecting": pick(rng, 0.0, 0.0, 0.0, 0.0, 0.004, 0.03),
        "kind": "equal"
        if fate < 0.025
        else "failed"
        if fate < 0.045
        else "rejected"
        if fate < 0.055
        else "",
    }


def some_budget(rng, name, evaluations, seconds):
    """Return a budget of evaluations, of seconds, or of both, that suits a decider."""
    way = rng.random()
    if way < 0.6:
        return evaluations
    return (None, seconds) if way < 0.75 and name not in PLAN else (evaluations, seconds)


def some_runtime(rng, name):
    """Return settings of run times that a decider takes."""
    slack = pick(rng, 1.0, 1.2, 1.5, 2.0) if name in TAKE_CAPPED else math.inf
    return {
        "limit": pick(rng, 2.0, 5.0, 20.0),
        "slack": slack,
        "par": pick(rng, 10.0, 10.0, 1.0, None),
        "utility": pick(rng, None, None, None, "log", "linear"),
    }


# -- driving


class Watch:
    """What happens while a contest runs: events, warnings, and the calls of ask and ahead."""

    def __init__(self):
        self.events, self.asked, self.ahead, self.looks = [], [], [], []
        self.warnings = Counter()
        self.said_repeats = False

    def __call__(self, event):
        """Note an event."""
        self.events.append(of_event(event))

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
        self.said_repeats |= any("ignore its seed" in str(one.message) for one in caught)

    def drive(self, contest, world, rng):
        """Ask and tell to the end, in random order; look at what is ahead, and at the state."""
        while cells := contest.ask():
            self.asked.append([of_cell(cell) for cell in cells])
            if rng.random() < 0.15:
                self._look_ahead(contest, rng)
            look = int(rng.integers(len(cells))) if rng.random() < 0.1 else -1
            for step, i in enumerate(rng.permutation(len(cells)).tolist()):
                if step == look:
                    self.looks.append([of_cell(cell)[:3] for cell in contest.ask()])
                    self.looks.append(of_state(contest.result()))
                    self._look_ahead(contest, rng)
                contest.tell(cells[i], world.outcome(cells[i]))
        return contest.result()

    def _look_ahead(self, contest, rng):
        self.ahead.append([of_cell(cell) for cell in contest.ahead(int(rng.integers(1, 9)))])

    def parts(self):
        """Return what was noted."""
        noted = {name: getattr(self, name) for name in ("events", "asked", "ahead", "looks")}
        return {**noted, "warnings": dict(sorted(self.warnings.items()))}


@dataclass
class Case:
    """What was observed of a case: parts, and a few fields in clear."""

    parts: dict[str, Any]
    clear: dict[str, Any]
    facts: Counter = field(default_factory=Counter)

    def entry(self):
        """Return what is recorded of it."""
        made = {name: plain(part) for name, part in self.parts.items()}
        some = {name: digest(part)[:8] for name, part in made.items()}
        return {**plain_dict(self.clear), "digest": digest(sorted(made.items())), "parts": some}


def plain_dict(given):
    """Return a dict with plain values."""
    return {name: plain(value) for name, value in given.items()}


def clear_of(decider, result):
    """Return the fields in clear of a result."""
    return {
        "decider": decider,
        "ended": result.ended,
        "evaluations": result.evaluations,
        "best": result.best_index,
    }


def refused(decider, error):
    """Return the case of settings that are refused."""
    name = type(error).__name__
    clear = {"decider": decider, "ended": f"refused: {name}", "evaluations": 0, "best": None}
    return Case({"refused": name}, clear, Counter({f"ended {clear['ended']}": 1}))


def facts_of(parts, watch, result):
    """Count what a race has met: its end, its decider, and what few races meet."""
    statuses = set(parts["scores"][SCORES.index("status")])
    reasons = parts["eliminations"][ELIMINATION.index("reason")]
    found = {
        f"ended {plain(result.ended)}": True,
        "failures": statuses - {"ok", "capped", "rejected"},
        "rejections": "rejected" in reasons,
        "eliminations as capped": "capped" in reasons,
        "repeats found": watch.said_repeats,
    }
    return Counter(name for name, is_so in found.items() if is_so)


# -- races


def race_settings(number, *, driven=False):
    """Return the world, the number of candidates, instances and rules of a race.

    Of one that is `driven` by racer itself no outcome is a rejection or has repeatable seconds.
    """
    rng = np.random.default_rng([1, number])
    name = NAMES[number % len(NAMES)]
    crowd = rng.random()
    m = 1 if crowd < 0.015 else int(rng.integers(15, 26) if crowd > 0.93 else rng.integers(2, 12))
    few = rng.random()
    k = None if few < 0.15 else int(rng.integers(1, 6) if few < 0.4 else rng.integers(5, 31))
    size = pick(rng, 1, 1, 1, 1, 1, 2, 3)
    k = None if k is None else max(k // size, 1) * size
    is_timed = rng.random() < (0.45 if name in TAKE_CAPPED else 0.1) and not driven
    runtime = some_runtime(rng, name) if is_timed else None
    spread = pick(rng, *((0.3, 1.0, 3.0, 5.0) if is_timed else (0.0, 0.3, 1.0, 2.0)))
    world = World(
        key=(number,),
        shifts=tuple((spread * rng.normal(size=m)).tolist()),
        **misfortunes(rng, m),
        limit=None if runtime is None else runtime["limit"],
        cut=bool(rng.random() < 0.5),
    )
    first = int(rng.integers(1, 8)) if rng.random() < 0.5 else None
    blocks = int(rng.integers(6, 16 if m > 11 else 46)) + (first or 5) * (size - 1)
    unknown = None if k is None else True  # it would be settled by one evaluation
    rules = {
        "decider": name,
        "seed": number,
        "maximize": bool(rng.random() < 0.4) and runtime is None,
        "deterministic": pick(rng, None, None, unknown, False),
        "each_test": pick(rng, None, None, None, 1, 2, 3, 5, "growing", "growing"),
        "block_size": size,
        "budget": some_budget(rng, name, blocks * m, float(blocks * m * rng.uniform(0.2, 1.2))),
    }
    if driven and not isinstance(rules["budget"], int):
        rules["budget"] = blocks * m
    if runtime is not None:
        rules["runtime"] = runtime
    if first is not None:
        rules["first_test"] = first
    if m > 1 and rng.random() < 0.3:
        rules["min_survivors"] = int(rng.integers(1, m))
    return world, m, None if k is None else list(range(k)), rules


def play_race(number):
    """Play a race by ask and tell."""
    world, m, instances, rules = race_settings(number)
    rng, watch = np.random.default_rng([2, number]), Watch()
    try:
        with watch.of_warnings():
            race = Race(list(range(m)), instances, callbacks=[watch], **as_rules(rules))
            result = watch.drive(race, world, rng)
            parts = of_result(result, chances=number % 4 == 0)
    except Refused as error:
        return refused(rules["decider"], error)
    facts = facts_of(parts, watch, result) + Counter([f"decider {rules['decider']}"])
    return Case(parts | watch.parts(), clear_of(rules["decider"], result), facts)


# -- tunings


def two_numbers():
    """Return a space of a real and a whole number."""
    return Space({"x": Real(-5, 5), "n": Integer(0, 9)}, default={"x": 4.0, "n": 8})


def a_family():
    """Return a space in which an algorithm has parameters of its own."""
    return Space(
        {
            "algorithm": Categorical(["as", "acs", "mmas"]),
            "ants": Integer(5, 100, log=True),
            "q0": Real(0, 1, digits=2),
            "rate": Real(1e-4, 1.0, log=True),
            "limit": Ordinal(["low", "medium", "high"]),
        },
        conditions={"q0": {"algorithm": "acs"}, "limit": Param("algorithm") != "as"},
        default={"algorithm": "as", "ants": 50, "q0": 0.5, "rate": 0.5, "limit": "low"},
    )


def ordered():
    """Return a space of levels, steps and flags."""
    return Space(
        {
            "level": Ordinal([1, 2, 5, 10, 50]),
            "step": Real(0, 2, step=0.25),
            "flag": Categorical([True, False]),
            "size": Integer(1, 4096, log=True),
        },
        default={"level": 50, "step": 2.0, "flag": True, "size": 4096},
    )


def small():
    """Return a space of eight configurations."""
    parameters = {"n": Integer(0, 3), "s": Categorical(["a", "b"])}
    return Space(parameters, default={"n": 3, "s": "b"})


def one_number():
    """Return a space of one real number."""
    return Space({"x": Real(0, 8)}, default={"x": 8.0})


def wide():
    """Return a space of twelve parameters, some under conditions of conditions."""
    parameters = {f"x{i}": Real(-2, 6) for i in range(4)}
    parameters |= {f"n{i}": Integer(0, 20) for i in range(3)}
    parameters |= {"use": Categorical([True, False]), "how": Categorical(["a", "b", "c", "d"])}
    parameters |= {"deep": Real(1e-3, 10.0, log=True), "deeper": Ordinal([1, 2, 3])}
    parameters |= {"fixed": Categorical(["only"])}
    return Space(
        parameters,
        conditions={
            "how": {"use": True},
            "deep": {"how": ["a", "b"]},
            "deeper": Param("deep") > 0.1,
        },
        default={
            **dict.fromkeys(("x0", "x1", "x2", "x3"), 5.0),
            **dict.fromkeys(("n0", "n1", "n2"), 20),
            "use": True,
            "how": "a",
            "deep": 9.0,
            "deeper": 3,
            "fixed": "only",
        },
    )


def bounded_by_others():
    """Return a space in which bounds depend on parameters, and some combinations are forbidden."""
    return Space(
        {
            "a": Integer(1, 30),
            "b": Integer(0, Param("a")),
            "c": Real(0.0, Param("a") / 2 + 1.0),
            "d": Categorical(["x", "y", "z"]),
        },
        forbidden=[(Param("d") == "x") & (Param("a") > 20)],
        default={"a": 30, "b": 25, "c": 10.0, "d": "y"},
    )


def many_reals():
    """Return a space of fourteen real numbers."""
    names = [f"r{i}" for i in range(14)]
    return Space(dict.fromkeys(names, Real(-3, 3)), default=dict.fromkeys(names, 2.5))


SPACES = (two_numbers, a_family, ordered, small, wide, bounded_by_others, one_number, many_reals)
TUNING_DECIDERS = (
    *(None, None, "bayesian-friedman", "f-race", "anytime", "halving", None, "t-race"),
    *("bradley-terry", "f-race-sign", "signed-rank", "bayesian-best"),
)


def some_settings(rng, space, number):
    """Return what a tuning may be given besides."""
    rules = {}
    if rng.random() < 0.3:
        rules["each_test"] = pick(rng, 1, 2, "growing")
    if rng.random() < 0.3:
        rules["first_test"] = int(rng.integers(2, 7))
    if rng.random() < 0.3:
        rules["elites"] = int(rng.integers(1, 6))
    if rng.random() < 0.3:
        rules["instance_order"] = "given"
    if rng.random() < 0.4:
        rules["test_instances"] = list(range(100, 100 + int(rng.integers(1, 8))))
    initial = rng.random()
    if initial < 0.2:
        rules["initial"] = [space.default]
    elif initial < 0.4:
        others = [config for config in space.sample(3, seed=number) if config != space.default]
        rules["initial"] = [space.default, *others]
    return rules


def tuning_settings(number, *, driven=False):
    """Return the world, space, instances, rules and other settings of a tuning.

    Of one that is `driven` by racer itself no outcome is a rejection or has repeatable seconds.
    """
    rng = np.random.default_rng([3, number])
    space = SPACES[number % len(SPACES)]()
    name = TUNING_DECIDERS[number % len(TUNING_DECIDERS)]
    k = pick(rng, None, 3, 6, 12, 40)
    size = 2 if k in {6, 12} and rng.random() < 0.3 else 1
    is_timed = rng.random() < 0.35 and not driven and (name is None or name in TAKE_CAPPED)
    runtime = some_runtime(rng, name or "bayesian-friedman") if is_timed else None
    luck = misfortunes(rng, 5)
    world = World(
        key=(100_000 + number,),
        noise=pick(rng, 0.1, 0.5, 1.0),
        **{**luck, "rejecting": luck["rejecting"] / 4, "failing": min(luck["failing"], 0.2)},
        limit=None if runtime is None else runtime["limit"],
        cut=bool(rng.random() < 0.5),
    )
    evaluations = int(rng.integers(300, 600)) * size
    budget = some_budget(rng, name or "halving", evaluations, evaluations * 0.5)
    if driven and not isinstance(budget, int):
        budget = evaluations
    if rng.random() < 0.2:
        budget = [evaluations, evaluations + 80, evaluations + 200]
    unknown = None if k is None else True
    rules = {
        "seed": number,
        "budget": budget,
        "maximize": bool(rng.random() < 0.3) and runtime is None,
        "deterministic": pick(rng, None, None, unknown, False),
        "block_size": size,
    }
    if name is not None:
        rules["decider"] = name
    if runtime is not None:
        rules["runtime"] = runtime
    rules |= some_settings(rng, space, number)
    space = Space.from_json(space._without_default(), repair=space.repair)  # as it was recorded
    return world, space, None if k is None else list(range(k)), rules


def tuned(number):
    """Return the result of a tuning by ask and tell, and what was watched; it may be refused."""
    world, space, instances, rules = tuning_settings(number)
    watch = Watch()
    with watch.of_warnings():
        tuner = Tuner(space, instances, callbacks=[watch], **as_rules(rules))
        result = watch.drive(tuner, world, np.random.default_rng([4, number]))
    return result, watch


def play_tuning(number):
    """Play a tuning: every fourth by `racer.tune`, the others by ask and tell."""
    driven = number % 4 == 3
    world, space, instances, rules = tuning_settings(number, driven=driven)
    decider = rules.get("decider", "default")
    try:
        if driven:
            watch = Watch()
            with watch.of_warnings():
                result = racer.tune(space, world, instances, callbacks=[watch], **as_rules(rules))
        else:
            result, watch = tuned(number)
        with watch.of_warnings():
            parts = of_tuning(result, clock=not driven)
    except Refused as error:
        return refused(decider, error)
    if driven:
        watch.events = without_clock(watch.events)
    return Case(parts | watch.parts(), clear_of(decider, result))


def without_clock(events):
    """Return events without the seconds that an evaluation took."""
    return [[name, {k: v for k, v in told.items() if k != "seconds"}] for name, told in events]


# -- ablations


def of_ablation(found, *, clock):
    """Return the parts of the result of an ablation."""
    names = list(found.frame.columns)
    best = ("best_index", "best", "beats_target")
    return {
        "answer": {name: getattr(found, name) for name in (*ABLATION, *best)},
        "seconds": found.seconds if clock else None,
        "configs": found.configs,
        "steps": [[step.before, step.after, step.parameters] for step in found.steps],
        "frame": [names, *columns(found.frame, names)],
    }


def ablation_settings(number):
    """Return the result of a tuning, its world, and what an ablation of it is given."""
    rng = np.random.default_rng([5, number])
    space = SPACES[number % len(SPACES)]()
    is_timed = number % 4 == 1
    k = pick(rng, None, 4, 8, 15)
    world = World(
        key=(200_000 + number,),
        noise=pick(rng, 0.1, 0.5),
        digits=pick(rng, None, 1),
        failing=pick(rng, 0.0, 0.0, 0.1),
        limit=5.0 if is_timed else None,
    )
    rules = {
        "seed": number,
        "budget": int(rng.integers(260, 400)),
        "decider": pick(rng, "bayesian-friedman", "f-race-sign", "bradley-terry"),
        "maximize": bool(rng.random() < 0.3) and not is_timed,
        "deterministic": pick(rng, None, False) if k is None else pick(rng, None, True),
        "initial": [space.default],
        "elites": 2,
        "test_instances": list(range(100, 106)) if rng.random() < 0.4 else None,
    }
    if is_timed:
        rules["runtime"] = {"limit": 5.0, "slack": pick(rng, 1.2, 2.0), "par": pick(rng, 10.0, 1.0)}
    space = Space.from_json(space._without_default(), repair=space.repair)  # as it was recorded
    tuner = Tuner(space, None if k is None else list(range(k)), **as_rules(rules))
    result = Watch().drive(tuner, world, rng)
    given = {}
    if rng.random() < 0.3:
        given["source"] = int(rng.integers(len(result.configs)))
    is_source = result.best == result.configs[given.get("source", 0)]
    if rng.random() < 0.3 or result.best is None or is_source:
        given["target"] = dict(result.configs[-1])
    if is_timed or rng.random() < 0.5:
        given["blocks"] = int(rng.integers(3, 6 if is_timed else 9))
    if rng.random() < 0.25:
        given["budget"] = int(rng.integers(5, 60))
    return result, world, given


def play_ablation(number):
    """Play an ablation of a small tuning."""
    watch = Watch()
    try:
        with watch.of_warnings():
            result, world, given = ablation_settings(number)
            found = racer.ablation(result, world, callbacks=[watch], **given)
            clock = result.rules.runtime is not None and not world.failing
            parts = of_ablation(found, clock=clock)
    except Refused as error:
        return refused(None, error)
    noted = {"events": without_clock(watch.events), "warnings": watch.parts()["warnings"]}
    return Case(parts | noted, clear_of(None, found))


# -- races of a study's trials


def suggest_family(trial):
    """Suggest a configuration with a condition."""
    config = {"kind": trial.suggest_categorical("kind", ["a", "b"])}
    config["x"] = trial.suggest_float("x", 0.01, 10.0, log=True)
    if config["kind"] == "b":
        config["n"] = trial.suggest_int("n", 1, 9)
    return config


def suggest_number(trial):
    """Suggest a number."""
    return {"x": trial.suggest_float("x", -4.0, 4.0)}


def play_study(number):
    """Race the trials of a study in memory, every third time with a larger budget afterwards."""
    rng = np.random.default_rng([6, number])
    k = pick(rng, 6, 8, 12)
    decider = pick(rng, None, None, "f-race", "anytime", "bayesian-friedman", "t-race", "halving")
    world = World(
        key=(300_000 + number,),
        noise=pick(rng, 0.2, 1.0),
        digits=pick(rng, None, 1),
        failing=pick(rng, 0.0, 0.0, 0.1, 0.25),
        dark=pick(rng, 0.0, 0.0, 0.2),
        kind="failed" if number == 11 else "",
    )
    maximize = bool(rng.random() < 0.4)
    settings = {
        "suggest": pick(rng, suggest_family, suggest_number),
        "trials": int(rng.integers(1, 6)),
        "elites": int(rng.integers(0, 4)),
        "seed": number,
        "decider": decider,
    }
    if rng.random() < 0.4:
        settings["first_test"] = int(rng.integers(2, 6))
    budget = int(rng.integers(60, 200))
    watch = Watch()
    try:
        with watch.of_warnings():
            study = new_study(number, maximize=maximize)
            instances = [float(i) for i in range(k)]
            evidence = race_study(study, world, instances, budget=budget, **settings)
            if number % 3 == 0:
                evidence = race_study(study, world, instances, budget=budget + 60, **settings)
            parts = of_study(study, evidence)
    except Refused as error:
        return refused(decider, error)
    states = Counter(trial[0] for trial in parts["trials"])
    clear = {"decider": decider, "ended": dict(sorted(states.items())), "best": evidence.best}
    clear["evaluations"] = sum(trial[4] for trial in parts["trials"])
    return Case({**parts, "warnings": watch.parts()["warnings"]}, clear)


# -- stores


class StopAt:
    """A world in which the evaluation of some number is interrupted, once."""

    def __init__(self, world, at):
        self.world, self.at, self.calls = world, at, 0

    def __call__(self, config, instance, seed, bound=math.inf):
        """Evaluate, unless it is the moment."""
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return self.world(config, instance, seed, bound)


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


_MOMENTS = {"race": (8, 30), "tuning": (20, 280), "ablation": (2, 12)}


def play_store(number):
    """Play a race, a tuning or an ablation with a store: interrupted, or with a larger budget."""
    rng = np.random.default_rng([7, number])
    way = ("race", "tuning", "ablation")[number % 3]
    is_interrupted = number % 2 == 0 or way == "ablation"
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder, quiet(), watch.of_warnings():
        at = int(rng.integers(*_MOMENTS[way])) if is_interrupted else None
        if way == "ablation":
            begun, parts, result = ablation_in_store(number, f"{folder}/store.db", at, watch)
        else:
            begun, parts, result = contest_in_store(number, way, f"{folder}/store.db", at, watch)
    noted = {"events": without_clock(watch.events), "warnings": watch.parts()["warnings"]}
    clear = {"way": way, "begun": begun} | clear_of(None, result)
    return Case({**parts, **noted, "begun": begun}, clear)


def contest_in_store(number, way, path, at, watch):
    """Race or tune, go on with `racer.resume`, and load: how the first ended, parts, result."""
    if way == "race":
        world, m, instances, rules = race_settings(FIRST["stores"] + number, driven=True)
        run, subject, of = racer.race, list(range(m)), of_result
    else:
        world, subject, instances, rules = tuning_settings(FIRST["stores"] + number, driven=True)
        run, of = racer.tune, of_tuning
    settings = {**as_rules(rules), "store": path, "callbacks": [watch]}
    budget = settings.pop("budget")
    last = budget[-1] if isinstance(budget, list) else budget
    evaluate = StopAt(dataclasses.replace(world, kind=""), at)
    try:
        begun = run(subject, evaluate, instances, budget=budget, **settings).ended
    except Interrupted as stop:
        begun = "interrupted"
        watch.looks.append(of_state(stop.result)[:2])
    more = {} if at is not None else {"budget": last + 150}
    result = racer.resume(path, evaluate, callbacks=[watch], **more)
    parts = of(result, clock=False)
    if not are_same(of(racer.load(path), clock=False), parts):
        raise AssertionError(f"{path}: load and resume have different results")
    return begun, parts | {"calls": evaluate.calls}, result


def ablation_in_store(number, path, at, watch):
    """Make an ablation with a store, which is interrupted, and call it again."""
    result, world, given = ablation_settings(4 * number)  # not of run times
    evaluate = StopAt(world, at)
    settings = {**given, "store": path, "callbacks": [watch]}
    try:
        begun = racer.ablation(result, evaluate, **settings).ended
    except Interrupted:
        begun = "interrupted"
    found = racer.ablation(result, evaluate, **settings)
    return begun, of_ablation(found, clock=False) | {"calls": evaluate.calls}, found


# -- with two workers


def play_jobs(number):
    """Run a race, or every fourth time a tuning, with one worker and with two: all is the same."""
    if number % 4 == 3:
        world, subject, instances, rules = tuning_settings(FIRST["jobs"] + number, driven=True)
        run, of = racer.tune, of_tuning
    else:
        world, m, instances, rules = race_settings(FIRST["jobs"] + number, driven=True)
        subject, run, of = list(range(m)), racer.race, of_result
    world = dataclasses.replace(world, kind="")
    cases = []
    for n_jobs in (1, 2):
        watch = Watch()
        with watch.of_warnings():
            settings = {**as_rules(rules), "n_jobs": n_jobs, "callbacks": [watch]}
            result = run(subject, world, instances, **settings)
        noted = {"events": without_clock(watch.events), "warnings": watch.parts()["warnings"]}
        cases.append(of(result, clock=False) | noted)
    if not are_same(*cases):
        raise AssertionError("two workers bring another result than one")
    decider = rules.get("decider", "default")
    return Case(cases[0], clear_of(decider, result))


# -- all cases


KINDS = {  # how many, and what plays one
    "races": (2800, play_race),
    "tunings": (96, play_tuning),
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
    if has_left(name):
        raise LookupError(f"no case {name!r}: its decider has left")
    with threadpool_limits(1):
        return play_one(int(number))


def has_left(name):
    """Return whether a case is a race by a decider that has left."""
    kind, _, number = name.partition("/")
    is_race = {"races": True, "stores": int(number) % 3 == 0, "jobs": int(number) % 4 != 3}
    return is_race.get(kind, False) and NAMES[(FIRST[kind] + int(number)) % len(NAMES)] is None


def found(name):
    """Return what would be recorded of a case, and its facts; an error is a difference, too."""
    try:
        case = play(name)
        return case.entry(), case.facts
    except Exception as error:  # noqa: BLE001  (the others are compared all the same)
        said = f"raised {type(error).__name__}: {error}"
        return {"ended": said, "digest": "", "parts": {}}, Counter(raised=1)


def names_of(kinds=None, first=None):
    """Return the names of the cases of some kinds, the first so many of each."""
    counts = {kind: how_many for kind, (how_many, _) in KINDS.items()}
    return [
        f"{kind}/{number}"
        for kind in (kinds or counts)
        for number in range(min(counts[kind], first or counts[kind]))
        if not has_left(f"{kind}/{number}")
    ]


def found_all(names, jobs=1):
    """Yield name, entry and facts of each case."""
    if jobs == 1:
        yield from ((name, *found(name)) for name in names)
        return
    with ProcessPoolExecutor(jobs, initializer=_end_loky_at_exit) as pool:
        for name, both in zip(names, pool.map(found, names, chunksize=4), strict=True):
            yield name, *both


def _end_loky_at_exit():
    """End idle workers of joblib with this process, which would wait for five minutes otherwise."""

    def end():
        if (executor := reusable_executor._executor) is not None:
            executor.shutdown(kill_workers=True)

    Finalize(None, end, exitpriority=100)


def load():
    """Return what is recorded: `cases` by name, `coverage`, `probe`, `made_with`."""
    return json.loads(gzip.decompress(FILE.read_bytes()))


def record(kinds=None, jobs=1):
    """Record all cases of some kinds anew; raise if one of them raises."""
    kinds = list(kinds or KINDS)
    held = load() if FILE.exists() else {"cases": {}, "coverage": {}}
    cases = {n: entry for n, entry in held["cases"].items() if n.partition("/")[0] not in kinds}
    coverage = {kind: counts for kind, counts in held["coverage"].items() if kind not in kinds}
    totals = {kind: Counter() for kind in kinds}
    raised = []
    for name, entry, facts in found_all(names_of(kinds), jobs):
        if not entry["digest"]:
            raised.append(f"{name} {entry['ended']}")
        cases[name] = entry
        totals[name.partition("/")[0]].update(facts)
    if raised:
        raise RuntimeError("\n".join(["nothing is recorded:", *raised]))
    coverage |= {kind: dict(sorted(total.items())) for kind, total in totals.items()}
    document = {
        "made_with": made_with(),
        "probe": probe(),
        "coverage": {kind: coverage[kind] for kind in KINDS if kind in coverage},
        "cases": {name: cases[name] for name in names_of() if name in cases},
    }
    text = json.dumps(document, separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return document


def differences(names, jobs=1):
    """Return what differs from what is recorded, in a few lines for each case that does.

    Such a case is played once more: a signal from outside, say, can have interrupted it.
    """
    recorded = load()["cases"]
    said = {}
    for name, entry, _ in found_all(names, jobs):
        before = recorded.get(name)
        if before == entry:
            continue
        if before is None:
            said[name] = f"{name}: not recorded"
            continue
        parts = sorted({*before["parts"], *entry["parts"]})
        differ = [p for p in parts if before["parts"].get(p) != entry["parts"].get(p)]
        again = "; played again, it is as recorded" if found(name)[0] == before else ""
        clear = [
            ", ".join(f"{k} {v}" for k, v in one.items() if k not in {"digest", "parts"})
            for one in (before, entry)
        ]
        said[name] = (
            f"{name}: {', '.join(differ) or 'fields in clear'} differ{again}\n"
            f"    recorded: {clear[0]}\n"
            f"    found:    {clear[1]}"
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
        parts = {name: plain(part) for name, part in sorted(play(given.case).parts.items())}
        sys.stdout.write(json.dumps(parts, indent=1) + "\n")
        return 0
    if given.command == "record":
        document = record(kinds, given.jobs)
        sys.stdout.write(json.dumps(document["coverage"], indent=1) + "\n")
        sys.stdout.write(
            f"{racer.__file__}: {len(document['cases'])} cases, {FILE.stat().st_size} bytes\n"
        )
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
