"""Caps and the Friedman test: how often equal candidates are told apart, and what is saved."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.report import markdown, write
from racer import Runtime
from racer.deciders import BayesianFriedman
from racer.seeding import seed_for
from racer.simulate import RuntimeWorld
from racer.simulate.play import run_race
from racer.stats import friedman_test, rank_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Times = NDArray[np.float64]

HERE = Path(__file__).parent
ELITES, CHALLENGERS, PAST, BLOCKS = 5, 5, 5, 20
LIMIT = 30.0
FASTER = math.log(0.7)
SLACKS = (1.0, 2.0, 4.0)
Q = ELITES + CHALLENGERS
TESTS = (
    *("", "equals rejected (nominal 5 %)", "challengers behind, mean ranks"),
    *("time saved", "the 30 % faster one first"),
)
RACES = (
    *("", "the best by PAR10 wins", "PAR10 above the best"),
    *("seconds of a race", "races in which an equal one left as capped"),
)
EQUAL = RuntimeWorld(Q, 0.7, 1.0, LIMIT, tail=5.0, qualities=(0.0,) * Q)


def drawn(seed: int, faster: float) -> Times:
    """Return times, (past and new blocks, elites then challengers); the last may be faster."""
    draw = EQUAL.draw(seed)
    times = np.array([draw.costs(block) for block in range(PAST + BLOCKS)])
    times[:, -1] = np.where(times[:, -1] < LIMIT, times[:, -1] * math.exp(faster), LIMIT)
    return times


def uncapped(times: Times) -> tuple[Times, Times]:
    """Return costs and the time used, of new blocks."""
    return times[PAST:], times[PAST:]


def as_irace(times: Times) -> tuple[Times, Times]:
    """Stop each challenger at what elites took on average so far; who is stopped costs the limit.

    The bound of a candidate is the number of blocks times the median of the elites' means, less what
    it has used (Pérez Cáceres et al., LION 2017); elites are known up to the limit.
    """
    new = times[PAST:]
    costs, used = new.copy(), new.copy()
    spent = np.zeros(CHALLENGERS)
    for b in range(BLOCKS):
        reference = float(np.median(new[: b + 1, :ELITES].mean(axis=0)))
        bound = np.clip((b + 1) * reference - spent, 0.0, LIMIT)
        took = new[b, ELITES:]
        used[b, ELITES:] = np.minimum(took, bound)
        costs[b, ELITES:] = np.where(took >= bound, LIMIT, took)
        spent += used[b, ELITES:]
    return costs, used


def as_racer(times: Times, slack: float) -> tuple[Times, Times]:
    """Stop all at one cap per block, a function of the elites' capped times on earlier blocks."""
    runtime = Runtime(LIMIT, slack=slack)
    capped = times.copy()
    for b in range(PAST, PAST + BLOCKS):
        capped[b] = np.minimum(capped[b], runtime.cap(capped[:b, :ELITES]))
    return capped[PAST:], capped[PAST:]


CODINGS: dict[str, Callable[[Times], tuple[Times, Times]]] = {
    "no cap": uncapped,
    "irace's coding": as_irace,
    **{f"slack {slack:g}": lambda t, slack=slack: as_racer(t, slack) for slack in SLACKS},  # type: ignore[misc]
}


def measured(coding: Callable[[Times], tuple[Times, Times]], runs: int) -> dict[str, float]:
    """Return the rate of rejections of equals, the gap in mean ranks, what is saved, who is first."""
    rejected, gaps, saved, first = [], [], [], []
    for run in range(runs):
        times = drawn(seed_for(1, "equal", run), 0.0)
        costs, used = coding(times)
        rejected.append(friedman_test(costs).f_p_value < 0.05)
        ranks = rank_blocks(costs).mean(axis=0)
        gaps.append(ranks[ELITES:].mean() - ranks[:ELITES].mean())
        saved.append(1.0 - used[:, ELITES:].sum() / times[PAST:, ELITES:].sum())
        costs, _ = coding(drawn(seed_for(1, "faster", run), FASTER))
        ranks = rank_blocks(costs).mean(axis=0)
        first.append(float(ranks[-1] == ranks.min()) / np.sum(ranks == ranks.min()))
    found = {}
    for name, values in (("rejected", rejected), ("gap", gaps), ("saved", saved), ("first", first)):
        array = np.array(values, dtype=np.float64)
        found[name] = float(array.mean())
        found[f"{name}_error"] = float(array.std(ddof=1) / math.sqrt(runs))
    return found


# of equal medians: the wider are as often ahead, but have the slower tail
SPREADS = (1.2, 1.2, 0.9, 0.9, 0.6, 0.6, 0.3, 0.3)
MEDIANS = (0.0, 0.4, 0.01, 0.41, 0.02, 0.42, 0.03, 0.43)
CROSSING = RuntimeWorld(8, 0.7, 1.0, LIMIT, qualities=MEDIANS, spreads=SPREADS)


def true_par10(seed: int) -> NDArray[np.float64]:
    """Return the PAR10 of each candidate of a draw on 20 000 held-out blocks."""
    dealt = CROSSING.draw(seed).quality
    fixed = CROSSING.draw(0)
    times = CROSSING._runtimes(fixed.quality, 0, np.random.default_rng(9), 20_000)  # noqa: SLF001
    par = np.where(times >= LIMIT, 10.0 * LIMIT, times).mean(axis=0)
    return np.array([par[np.flatnonzero(fixed.quality == value)[0]] for value in dealt])


def races(slack: float, runs: int, blocks: int = 60) -> dict[str, float]:
    """Race crossing distributions: how often the truly best by PAR10 wins, and the time used."""
    settings = {
        "decider": BayesianFriedman(),
        "budget": 8 * blocks + 8 * blocks,
        "runtime": Runtime(LIMIT, slack=slack),
    }
    right, regret, seconds = [], [], []
    for run in range(runs):
        seed = seed_for(2, "crossing", run)
        result = run_race(CROSSING.draw(seed), seed, blocks, settings)
        par = true_par10(seed)
        if result.best_index is None:
            right.append(0.0)
            continue
        right.append(float(par[result.best_index] == par.min()))
        regret.append(par[result.best_index] / par.min() - 1.0)
        seconds.append(result.seconds)
    error = math.sqrt(np.mean(right) * (1.0 - np.mean(right)) / runs)
    return {
        "right": float(np.mean(right)),
        "right_error": error,
        "regret": float(np.mean(regret)),
        "seconds": float(np.mean(seconds)),
    }


def capped_equals(slack: float, runs: int, blocks: int = 30) -> float:
    """Return in what fraction of whole races any of ten equal candidates left as "capped"."""
    settings = {
        "decider": BayesianFriedman(),
        "budget": 2 * Q * blocks,
        "runtime": Runtime(LIMIT, slack=slack),
    }
    found = 0
    for run in range(runs):
        seed = seed_for(3, "equal", run)
        result = run_race(EQUAL.draw(seed), seed, blocks, settings)
        found += bool((result.eliminations["reason"] == "capped").any())
    return found / runs


def _rows(runs: int, race_runs: int) -> Iterator[dict[str, object]]:
    for name, coding in CODINGS.items():
        yield {"what": "test", "cap": name, "runs": runs, **measured(coding, runs)}
    for slack in (math.inf, *SLACKS):
        name = "no cap" if math.isinf(slack) else f"slack {slack:g}"
        lost = capped_equals(slack, race_runs)
        yield {
            "what": "race",
            "cap": name,
            "runs": race_runs,
            **races(slack, race_runs),
            "lost": lost,
        }


@click.command()
@click.option("--runs", default=4000, show_default=True, help="Tests per coding.")
@click.option("--races", "race_runs", default=400, show_default=True, help="Races per slack.")
def main(runs: int, race_runs: int) -> None:
    """Measure, print the tables, and write caps.csv."""
    rows = list(_rows(runs, race_runs))
    print(tables(rows))
    write(HERE / "caps.csv", rows)


def tables(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return both tables in Markdown."""

    def percent(row: Mapping[str, Any], name: str) -> str:
        error = f" ± {100 * float(row[f'{name}_error']):.1f}" if f"{name}_error" in row else ""
        return f"{100 * float(row[name]):.1f}{error} %"

    tests = [
        (
            *(row["cap"], percent(row, "rejected")),
            f"{float(row['gap']):+.3f} ± {float(row['gap_error']):.3f}",
            *(f"{100 * float(row['saved']):.0f} %", percent(row, "first")),
        )
        for row in rows
        if row["what"] == "test"
    ]
    raced = [
        (
            *(row["cap"], percent(row, "right"), percent(row, "regret")),
            *(f"{float(row['seconds']):.0f}", percent(row, "lost")),
        )
        for row in rows
        if row["what"] == "race"
    ]
    return f"{markdown(TESTS, tests)}\n\n{markdown(RACES, raced)}"
