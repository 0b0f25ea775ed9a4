"""How often P(best) is right: stated probabilities of candidates in many worlds, beside the truth.

Candidates of all tables whose stated probability is between two edges are counted together. Where several are equally best, each is so with an equal part. Two constants of the model
were chosen in worlds of these kinds, with other seeds.
"""

from __future__ import annotations

import math
import warnings
import zlib
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option
from experiments.reliability.answers import claims, contradictions
from experiments.reliability.worlds import KINDS, portfolio
from experiments.report import markdown
from racer.stats import BestPosterior, best_posterior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from experiments.reliability.worlds import Floats

__all__ = ["by_world", "draw", "lines", "main", "places", "said"]

HERE = Path(__file__).parent
FIRST_SEED = 20_000
EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
WIDE = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)  # of a world, which has fewer tables
ALL = "all"  # kinds, or worlds of a kind, together
MANY = 100  # candidates of a bin that is shown, or may be the worst of a world
EQUALS = (3, 5, 10)
PORTFOLIOS = range(3, 16)  # numbers of solvers
SMALLEST = 1e-3  # probability whose logarithm is taken


class Said(NamedTuple):
    """The stated P(best) of the candidates of a table, race, search or tuning, beside the truth."""

    kind: str
    world: str
    m: int
    probability: Floats
    best: Floats
    covered: float  # whether the set of 95 % holds the best
    contradicts: bool  # a line of a result another


def said(kind: str, world: str, m: int, seed: int) -> Said:
    """Draw a table, race, search or tuning of a world, and return its stated P(best)."""
    rng = np.random.default_rng([seed, m, zlib.crc32(world.encode())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)  # races may set blocks aside
        seen, best = KINDS[kind][2][world](rng, m)
    contradicts = False
    if isinstance(seen, np.ndarray):
        seen = best_posterior(seen)
    elif not isinstance(seen, BestPosterior):
        contradicts = seen.rules.runtime is None and bool(contradictions(seen))
        seen = seen.posterior
    covered = float(best[list(seen.credible_set())].sum())
    known = ~np.isnan(best)
    return Said(kind, world, m, seen.probability_best[known], best[known], covered, contradicts)


def bins(rows: Sequence[Said], edges: Sequence[float] = EDGES) -> pd.DataFrame:
    """Return the mean stated probability, the share of the best and the candidates of each bin."""
    chances = np.concatenate([row.probability for row in rows])
    counted = pd.DataFrame({"said": chances, "true": np.concatenate([row.best for row in rows])})
    how = {"said": "mean", "true": "mean", "candidates": "sum"}
    return counted.assign(candidates=1).groupby(np.digitize(chances, edges[1:-1])).agg(how)


def summary(rows: Sequence[Said]) -> dict[str, float]:
    """Return what the tables of a world, or of one size of it, come to."""
    found = bins(rows, WIDE).query("candidates >= @MANY")
    errors = found["said"] - found["true"]
    logs = [row.best @ np.log(np.maximum(row.probability, SMALLEST)) for row in rows]
    return {
        "tables": len(rows),
        "contradictions": sum(row.contradicts for row in rows),
        "set": float(np.mean([row.covered for row in rows])),
        "log": float(np.mean(logs)),
        "said": float(np.mean([row.probability.max() for row in rows])),
        "true": float(np.mean([row.best[row.probability.argmax()] for row in rows])),
        "worst": max(errors, key=abs, default=math.nan),
    }


def places(m: int, seed: int) -> dict[str, float]:
    """Return the worst place by PAR10 of who is called the best of m solvers, and how codings differ.

    A run that is not finished is a failure or ten times the limit, with or without the instances
    that nobody solved: largest difference of a probability.
    """
    order, chances = [], []
    for solved, coded in product((False, True), repeat=2):
        times = portfolio(np.random.default_rng([seed, m]), m, solved=solved)
        par10 = np.where(np.isinf(times), 10.0, times)
        ranking = racer.compare(
            pd.DataFrame(par10 if coded else times), "friedman", goal="min"
        ).ranking
        by_name = ranking.set_index("algorithm")["probability_best"]
        chances.append(by_name[[str(j) for j in range(m)]].to_numpy())
        means = par10.mean(axis=0)
        order.append(int((means < means[chances[-1].argmax()]).sum()) + 1)
    return {"solvers": m, "place": max(order), "differ": float(np.ptp(chances, axis=0).max())}


def together(counted: pd.DataFrame) -> pd.DataFrame:
    """Return the bins of all kinds as one."""
    shares = ["said", "true"]
    sums = (
        counted[shares].mul(counted["candidates"], axis=0).assign(candidates=counted["candidates"])
    )
    found = sums.groupby(np.digitize(counted["said"], EDGES[1:-1])).sum()
    return found.assign(**found[shares].div(found["candidates"], axis=0))


@click.command("reliability")
@number_option("--repetitions", 150, help="Tables of each world and size; of others a share.")
@click.option("--kind", type=click.Choice([*KINDS]), help="Count this kind alone anew.")
@jobs_option
def main(repetitions: int, kind: str | None, jobs: int) -> None:
    """Count how often P(best) is right; write bins.csv and worlds.csv of experiments/reliability."""
    anew = {name: KINDS[name] for name in (KINDS if kind is None else [kind])}
    calls = [
        (name, world, m, FIRST_SEED + k)
        for name, (sizes, share, worlds) in anew.items()
        for world, m, k in product(worlds, sizes, range(math.ceil(share * repetitions)))
    ]
    parallel = joblib.Parallel(n_jobs=jobs)
    rows = parallel(joblib.delayed(said)(*call) for call in calls)
    counted, found = [], []
    for name, (sizes, _, worlds) in anew.items():
        of_kind = [row for row in rows if row.kind == name]
        counted.append(bins(of_kind).assign(kind=name))
        for world, m in product((*worlds, ALL), (0, *sizes)):
            some = [row for row in of_kind if world in (ALL, row.world) and m in (0, row.m)]
            found.append({"kind": name, "world": world, "m": m, **summary(some)})
    tables = {"bins": pd.concat(counted), "worlds": pd.DataFrame(found)}
    if kind is not None:
        for name, new in tables.items():
            before = pd.read_csv(HERE / f"{name}.csv").query("kind != @ALL and kind != @kind")
            tables[name] = pd.concat([before, new])
    order = [*KINDS].index
    for name, new in tables.items():
        tables[name] = new.sort_values("kind", kind="stable", key=lambda names: names.map(order))
    tables["bins"] = pd.concat([together(tables["bins"]).assign(kind=ALL), tables["bins"]])
    equals = product(EQUALS, range(math.ceil(0.3 * repetitions)))
    claimed = parallel(joblib.delayed(claims)(*call) for call in equals)
    tables["claims"] = (
        pd.concat(claimed).groupby(["table", "method"], sort=False).mean().reset_index()
    )
    drawn = product(PORTFOLIOS, range(math.ceil(0.1 * repetitions)))
    tables["portfolios"] = pd.DataFrame([places(m, FIRST_SEED + k) for m, k in drawn])
    for name, new in tables.items():
        new.to_csv(HERE / f"{name}.csv", index=False, float_format="%.5g")
        click.echo(new.to_string(index=False))


def lines(found: pd.DataFrame) -> str:
    """Return bins.csv as a table: a row for each bin, a column for all and for each kind."""
    where = np.digitize(found["said"], EDGES[1:-1])
    rows = []
    for k, (low, high) in enumerate(pairwise(EDGES)):
        cells = [f"{low:g} to {high:g}"]
        for kind in (ALL, *KINDS):
            some = found[(where == k) & (found["kind"] == kind) & (found["candidates"] >= MANY)]
            cells += [f"{row.said:.2f} → {row.true:.2f}" for row in some.itertuples()] or ["-"]
        rows.append(cells)
    return markdown(("said", ALL, *KINDS), rows)


def by_world(found: pd.DataFrame, kind: str = "") -> str:
    """Return worlds.csv as a table, a row for each world of a kind, or for each kind."""
    some = found[found["kind"] == kind] if kind else found[found["world"] == ALL]
    sizes, rows = sorted({*some["m"]} - {0}), []
    for name, of_sizes in some.groupby("world" if kind else "kind", sort=False):
        by_size = of_sizes.set_index("m")
        whole, sets = by_size.loc[0], by_size["set"].reindex(sizes)
        first = f"{whole['said']:.2f} → {whole['true']:.2f}"
        shown = ["-" if math.isnan(share) else f"{share:.2f}" for share in sets]
        rows.append((str(name), first, f"{whole['worst']:+.2f}", f"{whole['log']:.2f}", *shown))
    head = ("of the likeliest: said → true", "worst bin", "log P")
    return markdown(("" if kind else "kind", *head, *(f"set, {m}" for m in sizes)), rows)


def draw(found: pd.DataFrame) -> Figure:
    """Draw the share of the best beside the stated probability, a line for each kind."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--")
    for kind in KINDS:
        some = found[(found["kind"] == kind) & (found["candidates"] >= MANY)]
        ax.plot(some["said"], some["true"], marker="o", markersize=4, linewidth=1, label=kind)
    ax.set(xlabel="P(best), as said", ylabel="share of candidates that are best", aspect="equal")
    ax.legend(frameon=False)
    return figure
