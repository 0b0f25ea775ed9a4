"""What tuning finds with a budget, beside other ways to spend it, and what it costs.

The suite of suite.py, one half of its classes at a time. Quality is the mean over held-out
instances; regret is what it is above the reference: known for formulas, for algorithms the best
quality that any recorded run found with the same draw of instances. A regret of less than a
fiftieth of a problem's median counts as that. The costs are CPU time per evaluation without that
of the objective, of racer, Optuna's TPE and irace.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd

import racer
from experiments.options import csv_option, number_option, words_option
from experiments.report import markdown, with_progress
from experiments.tuner.contenders import CONTENDERS, available, peak
from experiments.tuner.problem import FAILED
from experiments.tuner.suite import HALVES, SUITE
from experiments.tuner.synthetic import many_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.tuner.problem import Draw

__all__ = ["main", "regrets", "tables"]

BUDGETS = (1_000, 3_000)
COSTS: dict[tuple[str, int], Draw] = {  # by problem and its parameters
    ("sphere", 5): SUITE["sphere"].draw,
    ("many-parameters", 20): partial(many_parameters, reals=16),
    ("many-parameters", 24): SUITE["many-parameters"].draw,
}
OWN = "racer"
COSTED = (OWN, "tpe", "irace")
_ID = ["problem", "budget", "contender", "seed"]
_SHARE = 0.02  # of a problem's median regret: less is as good


@click.command()
@click.option("--half", type=click.Choice([*HALVES]), default="reported")
@words_option("--problems", SUITE)
@words_option("--contenders", CONTENDERS)
@words_option("--budgets", BUDGETS, click.IntRange(20))
@number_option("--seeds", 6)
@click.option("--costs", is_flag=True, help="Measure CPU time and memory instead.")
@csv_option
def main(
    half: str,
    problems: tuple[str, ...],
    contenders: tuple[str, ...],
    budgets: tuple[int, ...],
    seeds: int,
    *,
    costs: bool,
    csv_path: Path | None,
) -> None:
    """Print regrets and verdicts. Runs that the file of --csv has are not repeated."""
    if costs:
        head = (
            *("problem", "parameters", "evaluations", "contender"),
            *("CPU, us per evaluation", "peak memory, MB"),
        )
        print(markdown(head, _costs(contenders)))
        return
    some = tuple(name for name in problems if SUITE[name].half == half)
    rows = recorded(some, contenders, budgets, seeds, csv_path)
    print(tables(rows))


def recorded(
    problems: Sequence[str],
    contenders: Sequence[str],
    budgets: Sequence[int],
    seeds: int,
    csv_path: Path | None,
) -> pd.DataFrame:
    """Return qualities, a row for each run: those that a file has, and the others, added to it."""
    rows = [] if csv_path is None or not csv_path.exists() else _rows(pd.read_csv(csv_path))
    done = {tuple(row[name] for name in _ID) for row in rows}
    jobs = [
        (name, budget, contender, seed)
        for seed in range(seeds)
        for budget in budgets
        for name in problems
        for contender in contenders
        if available(contender) and (name, budget, contender, seed) not in done
    ]
    for name, budget, contender, seed in with_progress(jobs):
        problem = SUITE[name].draw(seed)
        try:
            quality = problem.quality(CONTENDERS[contender](problem, budget, seed))
        except RuntimeError:  # irace gives up where all that it has left fail
            quality = FAILED
        values = (name, budget, contender, seed, quality, problem.reference)
        rows.append(dict(zip([*_ID, "quality", "reference"], values, strict=True)))
        if csv_path is not None:
            pd.DataFrame(rows).to_csv(csv_path, index=False, float_format="%.6g")
    return pd.DataFrame(rows)


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]


def regrets(rows: pd.DataFrame) -> pd.DataFrame:
    """Return regrets: a row for each problem, budget and seed, a column for each contender."""
    least = rows.groupby(["problem", "seed"]).quality.transform("min")
    regret = (rows.quality - rows.reference.astype(float).fillna(least)).clip(lower=0.0)
    table = rows.assign(regret=regret).pivot_table(
        index=["problem", "budget", "seed"], columns="contender", values="regret"
    )
    for name, part in table.groupby("problem"):
        table.loc[[name]] = part.clip(lower=_SHARE * float(np.nanmedian(part)))
    return table


def tables(rows: pd.DataFrame, contenders: Sequence[str] = tuple(CONTENDERS)) -> str:
    """Return mean regrets by problem, and the verdicts of the first on the others, as Markdown."""
    if {SUITE[name].half for name in rows.problem} == {"failing"}:
        return losses(rows)
    found = regrets(rows)
    own, *others = (name for name in contenders if name in found)
    means = found.groupby(["problem", "budget"], sort=False).mean().reset_index()
    columns, shown = ["mean regret", "evaluations", own, *others], means[[own, *others]].map(_shown)
    if len(others) > 1 and not all(name.startswith(OWN) for name in others):
        columns.append("of the best other")
        ratios = means[own] / means[others].min(axis=1)
        shown["ratio"] = ["-" if np.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios]
    lines = [
        (problem, f"{budget}", *row)
        for problem, budget, row in zip(
            means.problem, means.budget, shown.to_numpy().tolist(), strict=True
        )
    ]
    parts = [markdown(columns, lines)]
    verdicts = []
    kinds = {"algorithms": (True,), "formulas": (False,), "all": (True, False)}
    for kind, counted in kinds.items():
        if not set(counted) <= {SUITE[name].real for name in rows.problem}:
            continue
        for budget in sorted(set(rows.budget)):
            keep = [
                SUITE[name].real in counted and at == budget
                for name, at in zip(
                    found.index.get_level_values("problem"),
                    found.index.get_level_values("budget"),
                    strict=True,
                )
            ]
            for other in others:
                pair = found.loc[keep, [own, other]].dropna()
                if len(pair) > 1:
                    verdicts.append((kind, f"{budget}", other, *_verdict(pair)))
    head = ("class", "evaluations", "against", "ratio of regrets", "won/lost", "P(better)")
    return "\n\n".join([*parts, *([markdown(head, verdicts)] if verdicts else [])])


def losses(rows: pd.DataFrame) -> str:
    """Return mean losses by world, as Markdown: regrets up to 1; 1 for a configuration that fails."""
    loss = (rows.quality - rows.reference).clip(0.0, 1.0)
    some = rows.assign(loss=loss, fails=rows.quality >= FAILED)
    means = some.pivot_table(["loss", "fails"], ["problem", "budget"], "contender", sort=False)
    shown = means["loss"].map("{:.3f}".format) + means["fails"].map(" ({:.0%} fail)".format)
    columns = ("mean loss", "evaluations", *shown.columns)
    return markdown(columns, shown.reset_index().astype(str).to_numpy().tolist())


def _shown(regret: float) -> str:
    return "-" if np.isnan(regret) else f"{regret:.3g}"


def _verdict(pair: pd.DataFrame) -> tuple[str, str, str]:
    """Return the ratio of mean regrets (geometric mean over problems), wins, and a posterior."""
    means = pair.groupby("problem").mean()
    ratio = float(np.exp(np.log(means.iloc[:, 0] / means.iloc[:, 1]).mean()))
    won = int((pair.iloc[:, 0] < pair.iloc[:, 1]).sum())
    lost = int((pair.iloc[:, 0] > pair.iloc[:, 1]).sum())
    compared = racer.compare(
        np.log(pair.reset_index(drop=True)), "signed-rank", goal="min"
    ).pairs.iloc[0]
    better = float(compared["probability"])
    if compared["better"] != pair.columns[0]:
        better = 1.0 - better
    return f"{ratio:.2f}", f"{won}/{lost}", f"{min(max(better, 0.001), 0.999):.3f}"


def _costs(contenders: Sequence[str]) -> list[tuple[str, ...]]:
    """Return CPU time and peak memory of tunings, each in a process of its own: the least of some.

    Others than racer have one size only, and not the largest problem.
    """
    rows: list[tuple[str, ...]] = []
    context = get_context("spawn")
    cells = [
        (evaluations, problem, name)
        for evaluations in (2_000, 20_000)
        for problem in COSTS
        for name in COSTED
        if name in contenders and available(name)
        if name == OWN or (evaluations, problem[1] <= 20) == (2_000, True)
    ]
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for evaluations, problem, name in cells:
            draw, times = COSTS[problem], 5 if (evaluations, name) == (2_000, OWN) else 3
            runs = [pool.submit(peak, draw, evaluations, seed, name) for seed in range(times)]
            found = zip(*(run.result() for run in runs), strict=True)
            least = [f"{min(values):.0f}" for values in found]
            rows.append((problem[0], f"{problem[1]}", f"{evaluations}", name, *least))
    return rows
