"""What results say: whether any line contradicts another, and what is claimed among equals.

Races and tunings of candidates that differ, some of which fail, and of candidates that are equal.
Among equals every claim of a difference is false: an elite or a survivor outside the set that holds
the best, or a pair of a comparison called better or worse.
"""

from __future__ import annotations

import re
import warnings
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option
from racer._numerics import shown_probability

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.comparison.data import Method

__all__ = ["contradictions", "main"]

HERE = Path(__file__).parent
DECIDERS = ("bayesian-friedman", "f-race", "best-for-budget", "anytime", "halving")
METHODS: tuple[Method, ...] = (
    "bayesian-friedman",
    "friedman",
    "bradley-terry",
    "plackett-luce",
    "signed-rank",
)
EQUALS = (3, 5, 10)
BLOCKS = (10, 30)
SPACE = racer.Space({"x": racer.Real(0, 1), "k": racer.Categorical(["a", "b"])})
WORDS = re.compile(r"\b(worse|shown|better|inferior|indistinguishable)\b")
_EQUAL = 1e-6  # relative: means that are printed and means that are computed


def contradictions(result: Any) -> list[str]:
    """Return what contradicts itself in what a race or a tuning prints, and in its plain data."""
    text, data, best = " ".join(str(result).split()), result.to_dict(), result.best_index
    if best is None:
        is_alike = text.startswith("No candidate can be called the best")
        return [] if is_alike and data["best_index"] is None else ["best of nothing"]
    chances, leaders = result.probability_best, result.leaders
    rows = re.findall(r"#(\d+)(?:, eliminated)? +([<>]?[01]\.\d\d) +(\S+)", str(result))
    named = re.search(r"P\(best\) (?:= )?([<>]? ?[01]\.\d\d)", text)
    rivals = re.search(r"With probability [> .\d]+ it is that or (?:one of )?([#\d, ]+)", text)
    others = [c for c in result.credible_set if c != best]
    known = result.table.loc[result.known.common(leaders), [*leaders]].dropna(how="all")
    worst = known.min(axis=1) if result.rules.maximize else known.max(axis=1)
    means, failed = known.T.fillna(worst).T.mean(), known.isna().any()
    sign = -1.0 if result.rules.maximize else 1.0
    listed = {row["candidate"]: row["probability_best"] for row in data["survivors"]}
    told = list(map(int, re.findall(r"#(\d+)", rivals[1]))) if rivals else []
    checks = {
        "chances do not sum to 1": abs(sum(chances.values()) - 1.0) < 1e-6,
        "another is more probable": chances[best] >= max(chances.values()) - 1e-6,
        "the set begins with another": result.credible_set[0] == leaders[0] == best,
        "the text names another": text.startswith(
            f"The {'best' if chances[best] >= 0.5 else 'likeliest best'} is #{best} of "
        ),
        "the text has another chance": named is not None
        and named[1].replace(" ", "") == shown_probability(chances[best], 2),
        "the data name another": data["best_index"] == best == next(iter(listed)),
        "the data have other chances": all(abs(listed[c] - chances[c]) < 1e-9 for c in listed),
        "rivals are not of the set": told == others[: len(told)]
        and bool(told) == (0 < len(others) < len(result.compared) - 1),
        "rows are not in order": [c for c, _, _ in rows]
        == [str(c) for c in leaders if str(c) in {row[0] for row in rows}],
        "rows have other chances": all(
            shown == shown_probability(chances[int(c)], 2) for c, shown, _ in rows
        ),
        "means are of other blocks": all(
            np.isclose(float(mean), means[int(c)], rtol=10 * _EQUAL, atol=_EQUAL)
            or (failed[int(c)] and sign * float(mean) > sign * means[int(c)])  # worse than each
            for c, _, mean in rows
            if mean != "-"
        ),
        "the blocks are not counted": not rows or f"mean on {len(known)} " in text,
    }
    return [name for name, holds in checks.items() if not holds]


def differs(config: Any, instance: int, seed: int) -> float:
    """Return a cost; k = "b" is better, but fails on an instance."""
    if config["k"] == "b" and instance == 3:
        raise ValueError("b fails on 3")
    noise = 0.05 * np.random.default_rng(seed).normal()
    return float((config["x"] - 0.3) ** 2 + 0.1 * (config["k"] == "a") + noise)


def is_noise(config: Any, instance: int, seed: int) -> float:  # noqa: ARG001
    """Return a cost that has nothing to do with the configuration but that it is another."""
    key = config if isinstance(config, int) else int(1e9 * config["x"])
    return float(np.random.default_rng([seed, key]).normal())


def races(seed: int) -> list[tuple[str, bool]]:
    """Return by kind whether a race of candidates that differ contradicts itself."""
    rng = np.random.default_rng(seed)
    pool = [{"k": "ab"[i % 2], "x": x} for i, x in enumerate(rng.random(9).tolist())]
    decider = DECIDERS[seed % len(DECIDERS)]
    result = racer.race(pool, differs, range(1, 7), budget=150, seed=seed, decider=decider)
    return [("races: contradictions", bool(contradictions(result)))]


def tunings(seed: int) -> list[tuple[str, bool]]:
    """Return by kind whether a tuning contradicts itself; every fourth has races in series."""
    settings: dict[str, Any] = {
        "budget": 200 if seed % 4 else 700,
        "decider": DECIDERS[seed % len(DECIDERS)],
    }
    result = racer.tune(SPACE, differs, range(1, 7), test_instances=[7, 8], seed=seed, **settings)
    return [("tunings: contradictions", bool(contradictions(result)))]


def noise(seed: int) -> list[tuple[str, bool]]:
    """Return by kind what is claimed of a tuning of pure noise."""
    elites = EQUALS[seed % len(EQUALS)]
    result = racer.tune(SPACE, is_noise, range(30), budget=700, seed=seed, elites=elites)
    left_out = set(result.elites) - set(result.indistinguishable)
    return [
        ("tunings of noise: contradictions", bool(contradictions(result))),
        ("tunings of noise: a word of difference", bool(WORDS.search(str(result)))),
        ("tunings of noise: an elite left out", bool(left_out)),
        ("tunings of noise: P(best) of 0.95", max(result.probability_best.values()) >= 0.95),
    ]


def equals(m: int, seed: int) -> list[tuple[str, bool]]:
    """Return by kind what is claimed of m equal candidates: of races, and of tables."""
    rows = []
    result = racer.race(range(m), is_noise, budget=30 * m, seed=seed)
    word = bool(WORDS.search(str(result).partition("(by the decider's test:")[0]))
    rows.append((f"{m} equals: race, a word of difference", word))
    n = BLOCKS[seed % len(BLOCKS)]
    costs = np.random.default_rng([seed, m, n]).normal(size=(n, m))
    scores = pd.DataFrame(costs, columns=[f"a{j}" for j in range(m)])
    tables = {
        f"{m} equals": (scores, scores.columns),
        f"1 better, {m - 1} equals": (scores.assign(a0=scores["a0"] - 1.0), scores.columns[1:]),
    }
    for (name, (table, equal)), method in product(tables.items(), METHODS):
        rows.append((f"{name}: {method}", _claims(table, method, equal)))
    return rows


def _claims(scores: pd.DataFrame, method: Method, equal: pd.Index[str]) -> bool:
    """Return whether a method calls one of equal algorithms better than another."""
    pairs = racer.compare(scores, method=method, maximize=False).pairs
    both = pairs["better"].isin(equal) & pairs["worse"].isin(equal)
    return bool((both & (pairs["decision"] == "better")).any())


def counted(kind: Callable[..., Any], *arguments: int) -> list[tuple[str, bool]]:
    """Return by kind whether something was found; races may set blocks aside in silence."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    return list(kind(*arguments))


@click.command("answers")
@number_option("--repetitions", 200, help="Races, and tunings; half as many of noise.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count contradictions and claims among equals; write experiments/reliability/answers.csv."""
    half = range(-(-repetitions // 2))
    calls: list[tuple[Any, ...]] = [
        (kind, seed) for kind in (races, tunings) for seed in range(repetitions)
    ]
    calls += [(noise, seed) for seed in half] + [(equals, m, seed) for m in EQUALS for seed in half]
    rows = joblib.Parallel(n_jobs=jobs)(joblib.delayed(counted)(*call) for call in calls)
    found = pd.DataFrame([row for some in rows for row in some], columns=["kind", "found"])
    told = found.groupby("kind", sort=False)["found"].agg(found="sum", of="size")
    told.to_csv(HERE / "answers.csv")
    click.echo(told.to_string())
