"""Reliability of P(best): what is said, and what is true, in races, tables and tunings.

Seven worlds, 3, 10 and 30 candidates. Tables are complete, of 5 to 50 blocks; races are held by three
deciders, with a budget of 15 and of 50 evaluations per candidate; searches are tables and races over
folds; tunings are of formulas. Of all candidates of all of them (in tunings: of those that are
compared), those of which a probability between two edges was said are counted together. Where
several are equally best, each is so with an equal part. Seeds are other ones than those that the model was chosen on, which were 0 to 99; so are the
formulas, and the noise of most worlds.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
import zlib
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option
from experiments.report import markdown, plus_minus
from experiments.sklearn_folds.worlds import race_over_folds
from racer.deciders import CorrelatedTRace
from racer.results.base import posterior_of
from racer.results.likeness import likeness
from racer.simulate import (
    HeavyTailedWorld,
    InteractionWorld,
    NormalWorld,
    UnequalInstancesWorld,
)
from racer.stats import BestPosterior, best_posterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["main"]

HERE = Path(__file__).parent
EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
CANDIDATES = (3, 10, 30)
BLOCKS = (5, 10, 20, 50)
DECIDERS = ("bayesian-friedman", "f-race", "best-for-budget")
PER_CANDIDATE = (15, 50)
N_FOLDS = (5, 10, 20)
FOLDS = tuple(f"{n} folds" for n in N_FOLDS)
LEAST = 40  # candidates of a point that is drawn, or of a cell of the table
COLUMNS = {
    "tables and races": "tables and races",
    "best-for-budget": "of these, `best-for-budget`",
    "folds": "searches over folds",
    "tunings": "tunings",
}
TABLE = re.compile(r"\| said \|.*?\|(?=\n\n)", re.DOTALL)  # of the page
FIRST_SEED = 200  # the model was chosen on those before
BUDGETS = (400, 1200)  # of a tuning, in evaluations
MORE, OVER_FOLDS = 4, 12  # draws of tables and races, and of folds, for each repetition
# Widths of the uniform qualities of models, in standard deviations of a fold's noise. Real searches
# have means that vary by .35 to 5.6 of them.
WIDTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
NEAR = 1.0  # up to this width they hardly differ
MANY = 100  # candidates of a bin that may be a world's worst


class Said(NamedTuple):
    """What was said of the k candidates that are compared, and what is true."""

    source: str
    world: str
    candidates: int  # of the table, race or tuning
    probability: NDArray[np.float64]  # (k,)
    truth: NDArray[np.float64]  # (k,), sums to 1
    claimed: float  # probability of the credible set
    covered: float  # whether it holds the best
    regret: float  # of the best by the posterior
    leader_regret: float  # of the one that the decider puts first


def worlds(m: int) -> dict[str, Any]:
    """Return the worlds by name, with m candidates."""
    return {
        "normal": NormalWorld(m, 1.0),
        "near-equal": NormalWorld(m, 5.0),
        "one better": NormalWorld(m, 1.0, qualities=(0.0,) + (0.5,) * (m - 1)),
        "all equal": NormalWorld(m, 1.0, qualities=(0.0,) * m),
        "heavy tails": HeavyTailedWorld(m, 1.0),
        "interaction": InteractionWorld(m, 0.5),
        "unequal instances": UnequalInstancesWorld(m, 1.0),
    }


def said(
    source: str,
    world: str,
    quality: NDArray[np.float64],
    found: BestPosterior,
    leader: int | None = None,
    among: Sequence[int] | None = None,
) -> Said:
    """Return what a posterior says of candidates of known quality, and what is true.

    The best is sought `among` these, or all; regret is that of all.
    """
    some = np.arange(len(quality)) if among is None else np.array(among)
    truth = np.zeros(len(quality))
    truth[some] = quality[some] <= quality[some].min() + 1e-12
    truth /= truth.sum()
    gap, credible = quality - quality.min(), list(found.credible_set())
    return Said(
        *(source, world, len(quality), found.probability_best[some], truth[some]),
        claimed=float(found.probability_best[credible].sum()),
        covered=float(truth[credible].sum()),
        regret=float(gap[found.best]),
        leader_regret=math.nan if leader is None else float(gap[leader]),
    )


def in_worlds(m: int, seed: int) -> list[Said]:
    """Return what is said of tables and of races of m candidates in each world."""
    rows = []
    for name, world in worlds(m).items():
        drawn = world.draw(1000 * seed + m)
        for n in BLOCKS:
            table = np.array([drawn.costs(block) for block in range(n)])
            rows.append(said("tables", name, drawn.quality, best_posterior(table)))
        for decider in DECIDERS:
            for each in PER_CANDIDATE:
                race = racer.Race(range(m), decider=decider, budget=each * m, seed=seed)
                while cells := race.ask():
                    race.tell_block(drawn.costs(cells[0].block)[list(race.alive)])
                result = race.result()
                rows.append(said(decider, name, drawn.quality, result.posterior, result.leader))
    return rows


def formulas() -> dict[str, tuple[racer.Space, Any]]:
    """Return formulas to be tuned, by name."""
    unit = racer.Real(0, 1)
    offsets = {"p": 0.0, "q": 0.03, "r": 0.1, "s": 0.3}
    return {
        "sphere": (
            racer.Space({f"x{i}": unit for i in range(4)}),
            lambda config: sum((x - 0.3) ** 2 for x in config.values()),
        ),
        "interaction": (
            racer.Space(dict.fromkeys("abc", unit)),
            lambda c: (c["a"] - c["b"]) ** 2 + 0.5 * (c["b"] - 0.7) ** 2 + 0.3 * abs(c["c"] - 0.2),
        ),
        "choices": (
            racer.Space({"m": racer.Categorical(list(offsets)), "x": unit}),
            lambda config: offsets[config["m"]] + (config["x"] - 0.4) ** 2,
        ),
        "pure noise": (racer.Space({"x": unit, "y": unit}), lambda config: 0.0 * config["x"]),
    }


def in_tunings(seed: int) -> list[Said]:
    """Return what is said of the candidates of tunings, and what would be of all of them."""
    rows = []
    for name, (space, formula) in formulas().items():
        for noise, budget in product((0.05, 0.3), BUDGETS):
            evaluate = partial(noisy, formula, noise)
            result = racer.tune(space, evaluate, range(30), budget=budget, seed=seed)
            quality = np.array([formula(config) for config in result.configs])
            known, n = result.known, len(quality)
            everyone = (result.stream, result.rules, 0.0, likeness(space, result.configs))
            of_all = posterior_of(known, n, *everyone, by_means=result.rules.decider.by_means)
            rows += [
                said("tunings", name, quality, result.posterior, result.leader, result.compared),
                said("tunings, of all", name, quality, of_all, result.leader),
            ]
    return rows


def noisy(formula: Any, noise: float, config: Any, instance: int, seed: int) -> float:
    """Return what a formula says, with noise that depends on the configuration and the seed."""
    key = zlib.crc32(repr(sorted(config.items())).encode())
    drawn = np.random.default_rng([seed, key]).normal()
    return float(formula(config) + noise * drawn + 0.5 * math.sin(instance))


def folds(n_folds: int, seed: int) -> list[Said]:
    """Return what is said of ten models over folds that share data, correlation 1/`n_folds`.

    All folds, and a search that drops models on the way.
    """
    rng = np.random.default_rng([seed, n_folds])
    share = 1.0 / n_folds
    rows = []
    for width in WIDTHS:
        quality = width * rng.random(10)
        shared = math.sqrt(share) * rng.standard_normal(10)
        own = math.sqrt(1.0 - share) * rng.standard_normal((n_folds, 10))
        costs = quality + shared + own
        world = f"models, {'near' if width <= NEAR else 'apart'}"
        found = best_posterior(costs, by_block=False, correlation=share)
        rows.append(said(f"{n_folds} folds", world, quality, found))
        result = race_over_folds(CorrelatedTRace(share), costs, seed)
        rows.append(said(f"{n_folds} folds", world, quality, result.posterior, result.leader))
    return rows


def table(rows: Sequence[Said]) -> list[tuple[float, float, int]]:
    """Return by bin what was said on average, how often it was true, and of how many."""
    probability = np.concatenate([row.probability for row in rows])
    truth = np.concatenate([row.truth for row in rows])
    bins = np.digitize(probability, EDGES[1:-1])
    return [
        (float(probability[here].mean()), float(truth[here].mean()), int(here.sum()))
        for here in (bins == k for k in range(len(EDGES) - 1))
        if here.any()
    ]


class Summary(NamedTuple):
    """What a group of tables comes to.

    Attributes
    ----------
    tables : int
    claimed : float
        Probability of the credible sets on average: at least .95, and more of few candidates.
    covered : float
        Share of the credible sets that hold the best.
    worst : float
        What is said less what is true, where that is most: of the bins from .05 to .95 with at
        least a hundred candidates.
    regret, regret_se : float
        Of the best, less that of the candidate that the decider puts first; and its standard error.
    races : int
        That have a decider.
    """

    tables: int
    claimed: float
    covered: float
    worst: float
    regret: float
    regret_se: float
    races: int

    def __str__(self) -> str:
        """In a sentence."""
        said = (
            f"the credible set holds the best in {self.covered:.3f}, {self.claimed:.3f} by itself"
        )
        if not math.isnan(self.worst):
            said += f"; said less true, at worst {self.worst:+.2f}"
        if self.races:
            said += f"; regret less the leader's {self.regret:+.4f} ± {self.regret_se:.4f}"
        return said


def summary(rows: Sequence[Said]) -> Summary:
    """Return what a group of tables comes to."""
    gaps = np.array([row.regret - row.leader_regret for row in rows])
    gaps = gaps[~np.isnan(gaps)]
    errors = [
        one - other for one, other, n in table(rows) if n >= MANY and EDGES[1] <= one < EDGES[-2]
    ]
    worst = float(errors[np.abs(errors).argmax()]) if errors else math.nan
    return Summary(
        len(rows),
        round(float(np.mean([row.claimed for row in rows])), 4),
        round(float(np.mean([row.covered for row in rows])), 4),
        round(worst, 4),
        round(float(gaps.mean()), 5) if len(gaps) else math.nan,
        round(float(gaps.std() / math.sqrt(len(gaps))), 5) if len(gaps) else math.nan,
        len(gaps),
    )


def groups(rows: Sequence[Said]) -> Iterable[tuple[str, list[Said]]]:
    """Yield what is reported: by source, by world of races and tables, by candidates."""
    drawn = [row for row in rows if row.source in ("tables", *DECIDERS)]
    yield "tables and races", drawn
    yield "folds", [row for row in rows if row.source in FOLDS]
    for source in dict.fromkeys(row.source for row in rows):
        yield source, [row for row in rows if row.source == source]
    for world in dict.fromkeys(row.world for row in drawn):
        yield world, [row for row in drawn if row.world == world]
    for name in dict.fromkeys(row.world for row in rows if row.source == "tunings"):
        yield (
            f"tunings, {name}",
            [row for row in rows if (row.source, row.world) == ("tunings", name)],
        )
    for world in ("models, near", "models, apart"):
        yield world, [row for row in rows if row.world == world]
    for m in CANDIDATES:
        yield f"{m} candidates", [row for row in drawn if row.candidates == m]


@click.command("reliability")
@number_option(
    "--repetitions", 60, help="A quarter of the draws of each world, a twelfth of folds."
)
@jobs_option
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the diagram there.")
@click.option("--page", type=click.Path(path_type=Path), help="Replace the table of this page.")
def main(repetitions: int, jobs: int, picture: Path | None, page: Path | None) -> None:
    """Count how often P(best) is right, and write experiments/reliability/reliability.csv."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    more = range(FIRST_SEED, FIRST_SEED + MORE * repetitions)
    calls: list[Any] = [joblib.delayed(in_worlds)(m, seed) for m in CANDIDATES for seed in more]
    calls += [joblib.delayed(in_tunings)(seed) for seed in seeds]
    most = range(FIRST_SEED, FIRST_SEED + OVER_FOLDS * repetitions)
    calls += [joblib.delayed(folds)(n, seed) for n in N_FOLDS for seed in most]
    write([row for said_of in joblib.Parallel(n_jobs=jobs)(calls) for row in said_of])
    counted = pd.read_csv(HERE / "reliability.csv")
    if picture is not None:
        draw(counted).savefig(picture)
    if page is not None:
        text = page.read_text(encoding="utf-8")
        page.write_text(TABLE.sub("\n".join(lines(counted)), text, 1), encoding="utf-8")


def write(rows: Sequence[Said]) -> None:
    """Write what was counted, by groups, and print it."""
    summaries: list[tuple[str | float, ...]] = []
    with (HERE / "reliability.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("group", "said", "true", "candidates"))
        for name, some in groups(rows):
            writer.writerows(
                (name, f"{one:.4f}", f"{other:.4f}", n) for one, other, n in table(some)
            )
            found = summary(some)
            summaries.append((name, *found))
            click.echo(f"\n{name}: {found}")
            click.echo("said  " + " ".join(f"{one:.2f}" for one, _, _ in table(some)))
            click.echo("true  " + " ".join(f"{one:.2f}" for _, one, _ in table(some)))
    with (HERE / "groups.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("group", *Summary._fields))
        writer.writerows(summaries)


def lines(found: pd.DataFrame) -> list[str]:
    """Return the table of the page: a row for each bin, a column for each group."""
    bins = np.digitize(found["said"], EDGES[1:-1])
    rows = [
        f"| said | {' | '.join(COLUMNS.values())} |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for k, (low, high) in enumerate(pairwise(EDGES)):
        cells = [f"{low:g} to {high:g}"]
        for group in COLUMNS:
            some = found[(found["group"] == group) & (bins == k) & (found["candidates"] >= LEAST)]
            cells.append("-" if some.empty else "{:.2f} → {:.2f}".format(*some.iloc[0, 1:3]))
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def best_or_first(found: pd.DataFrame) -> str:
    """Return a table of the regret of the best less that of the decider's first, by world."""
    rows = found.set_index("group").loc[[*worlds(3), *FOLDS, "tunings"]]
    cells = [
        (str(name), str(int(row.races)), plus_minus(row.regret, row.regret_se, 4))
        for name, row in rows.iterrows()
    ]
    return markdown(("world", "races", "regret, best less first"), cells)


def draw(found: pd.DataFrame) -> Figure:
    """Draw what was said beside what was true, a line for each source."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--")
    for name, marker in zip(("tables", *DECIDERS, "folds", "tunings"), "osD^vX", strict=True):
        some = found[(found["group"] == name) & (found["candidates"] >= LEAST)]
        ax.plot(some["said"], some["true"], marker=marker, markersize=4, linewidth=1, label=name)
    ax.set(xlabel="P(best), as said", ylabel="share of candidates that are best", aspect="equal")
    ax.legend(frameon=False)
    return figure
