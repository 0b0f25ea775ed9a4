"""What a page says of a race or a tuning: everything, section by section."""

from __future__ import annotations

import math
import shlex
import sys
from collections import Counter
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from racer.evaluate.command.template import Template
from racer.plots._canvas import shortened
from racer.racing.pictures import agreement, final_order
from racer.racing.said import (
    Result,
    configuration,
    configurations,
    cost,
    eliminations,
    mean_on,
    survivors,
)
from racer.report.sections import Code, Drawing, Grid, Section, number, value_shown
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from racer.racing.pictures import Draw
    from racer.report.sections import Piece

_MOST = 200  # rows of a table
_LIBRARIES = ("numpy", "scipy", "pandas", "joblib")
_LONG = 25  # parameters, which would hide what follows
_AGREE, _DISAGREE = 0.6, 0.3  # Kendall's W


class Told(Result, Protocol):
    """What a page asks of a result, beside what a summary does."""

    @property
    def pictures(self) -> dict[str, Draw]: ...  # noqa: D102
    @property
    def how(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def instances(self) -> tuple[Any, ...] | None: ...  # noqa: D102
    @property
    def history(self) -> tuple[Section, ...]: ...  # noqa: D102


def command_line(how: Mapping[str, Any]) -> Callable[[Any], str] | None:
    """Return what writes the command line of a configuration; None without a program."""
    command = how.get("command")
    if command is None:
        return None
    template = Template(command["argv"], command["switches"], command["protocol"])
    marks = {name: f"{{{name}}}" for name in ("seed", "candidate", "instance_id", "bound")}

    def line(config: Any) -> str:
        words = template.fill(config, "{instance}", **marks)
        return " ".join(
            w if w in {"{instance}", *marks.values()} else shlex.quote(w) for w in words
        )

    return line


def drawing(result: Told, kind: str, words: str) -> Drawing:
    """Return a picture of a result."""
    return Drawing(partial(result.pictures[kind], None), words)


def of_best(result: Told) -> Section:
    """Return the best as a table, a dict and a command line."""
    if result.best_index is None:
        return Section("The best", ("There is none.",))
    shown = configuration(result.best)
    pieces: list[Piece] = [shown]
    if isinstance(shown, Grid):
        pieces += ["In Python:", Code(repr(result.best))]
    if line := command_line(result.how):
        pieces += ["On the command line:", Code(line(result.best))]
    if isinstance(shown, Grid) and len(shown.rows) > _LONG:
        pieces = [*pieces[1:], Section(f"All {len(shown.rows)} parameters", (shown,))]
    return Section("The best", tuple(pieces))


def of_survivors(result: Told) -> Section:
    """Return the survivors: on common blocks, held out, and side by side."""
    pieces: list[Piece] = [survivors(result, _MOST)]
    if result.caveat:
        pieces.append(result.caveat)
    if len(result.survivors) > 1 and result.best_index is not None:
        words = "The probability that each has the smallest expected rank among them."
        pieces.append(drawing(result, "posterior", words))
    if len(result.configs) > 1 and result.survivors and result.known.n_usable:
        words = "Values; of few survivors, those eliminated last are shown beside them."
        pieces.append(drawing(result, "costs", words))
    if "test" in result.pictures and result.test_means:
        pieces.append(drawing(result, "test", "Values on held-out instances."))
    return Section(result.survivors_are.capitalize(), (*pieces, *configurations(result, 8)))


def of_eliminations(result: Told) -> list[Section]:
    """Return who was eliminated, and why."""
    if not result.dropped:
        return []
    return [eliminations(result, _MOST)._replace(is_folded=True)]


def instance_name(result: Told, block: int) -> str:
    """Return the instance of a block, as it is written."""
    index = result.stream.place(block).instance
    if index is None or result.instances is None:
        return "-"
    return shortened(value_shown(result.instances[index]), 100)


def concordance(costs: np.ndarray[Any, Any]) -> float:
    """Return Kendall's W of blocks (n, m): 1 all rank alike, 0 as by chance; with ties."""
    n, m = costs.shape
    ranks = ranks_of(costs)
    sums = ranks.sum(axis=0)
    ties = 0.0
    for row in ranks:
        counts = np.unique(row, return_counts=True)[1].astype(float)
        ties += float((counts**3 - counts).sum())
    most = n * n * (m**3 - m) - n * ties
    return math.nan if most <= 0 else 12.0 * float(((sums - sums.mean()) ** 2).sum()) / most


def of_instances(result: Told, order: Sequence[int] | None = None) -> Section:
    """Return whether blocks rank the candidates alike, and which do not."""
    order = final_order(result) if order is None else list(order)
    found = agreement(result, order)
    if len(found) < 2:
        return Section("Instances", ("Too little is known to compare the instances.",))
    pieces: list[Piece] = [*_heterogeneity(result, order)]
    per: dict[str, list[float]] = {}
    for block, value in found.items():
        name = instance_name(result, block)
        per.setdefault(name if name != "-" else f"block {block + 1}", []).append(value)
    ranked = sorted(per, key=lambda name: float(np.mean(per[name])))
    rows = [(name, len(per[name]), f"{np.mean(per[name]):.2f}") for name in ranked]
    against = [name for name in ranked if np.mean(per[name]) < 0.0]
    said = (
        f"{len(against)} of {len(ranked)} rank the candidates rather the other way round: "
        f"{', '.join(against[:8])}{', ..' if len(against) > 8 else ''}. Look whether they are "
        "what you want the configuration to be good at."
        if against
        else "None ranks the candidates the other way round."
    )
    grid = Grid.of(("instance", "blocks", "agreement"), rows[:_MOST], left="instance")
    note = (
        "Agreement: the rank correlation of an instance's values with the final order of the "
        "candidates (1: the same order, 0: no relation), the mean over its blocks. The final order "
        "comes from these same values, so it is somewhat too high."
    )
    table = Section("Agreement of each instance", (grid, note), is_folded=True)
    return Section("Instances", (*pieces, said, table))


def _heterogeneity(result: Told, order: list[int]) -> list[Piece]:
    """Return Kendall's W where the most is known at once, and what it suggests."""
    best: tuple[int, np.ndarray[Any, Any]] | None = None
    for m in (len(order), max(len(order) // 2, 3), max(len(order) // 5, 3), 10, 5, 3):
        chosen = [c for c in order[:m] if result.known.of(c)]
        costs = result.known.costs(chosen) if len(chosen) >= 3 else np.empty((0, 0))
        if len(costs) >= 4 and (best is None or costs.size > best[1].size):
            best = len(chosen), costs
    if best is None:
        return []
    m, costs = best
    w = concordance(costs)
    if math.isnan(w):
        return []
    said = (
        f"Kendall's coefficient of concordance W = {w:.2f}, of {m} candidates on the {len(costs)} "
        "blocks that all of them have seen (1: every block ranks them alike; 0: no agreement)."
    )
    if w >= _AGREE:
        advice = "The instances agree about which candidates are good: few blocks are enough."
    elif w >= _DISAGREE:
        advice = "The instances agree in part, as is usual."
    else:
        advice = (
            "The instances disagree, or the noise is large, or these candidates are alike. A test "
            "before many instances have been seen may eliminate good candidates: raise "
            "first_test. If groups of instances differ, race each group on its own, or keep them "
            "together by block_size."
        )
    return [said, advice]


def of_failures(result: Told) -> Section:
    """Return what failed, with command lines where a program was run."""
    failures = result.known.failures
    if not failures:
        return Section("Failures", ("No evaluation failed.",))
    counts = Counter(failure.status for failure in failures)
    said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    line = command_line(result.how)
    rows = []
    for failure in failures[:_MOST]:
        row = [
            str(failure.block + 1),
            f"#{failure.candidate}",
            instance_name(result, failure.block),
        ]
        rows.append([*row, failure.status, failure.message])
        if line is not None:
            seed = result.stream.place(failure.block).seed
            text = line(result.config(failure.candidate)).replace("{seed}", str(seed))
            rows[-1].append(text.replace("{instance}", shlex.quote(row[2])))
    head = ["block", "candidate", "instance", "status", "message", *(["command"] if line else [])]
    left = "instance status message command"
    more = f" The first {_MOST}:" if len(failures) > _MOST else ""
    total = f"{len(failures)} of {result.evaluations} evaluations failed: {said}.{more}"
    return Section("Failures", (total, Grid.of(head, rows, left=left)))


def of_settings(result: Told) -> Section:
    """Return settings, versions, seed, cost and utilisation."""
    how = dict(result.how)
    rules = result.rules.settings()
    wall, busy, workers = how.pop("wall", None), how.pop("busy", None), how.get("workers")
    rows = [(name, value_shown(value)) for name, value in {**rules, **how}.items()]
    pieces: list[Piece] = [cost(result)]
    if wall is not None:
        share = (
            f"; workers were evaluating for {busy / (wall * workers):.0%} of the time"
            if workers and busy is not None and wall > 0
            else ""
        )
        pieces.append(f"{number(wall, 4)} s on the wall with {workers or 'some'} worker(s){share}.")
    elif workers:
        pieces.append(
            f"{workers} worker process(es) made the recorded evaluations; a store does not hold "
            "how long they took on the wall."
        )
    wasted = result.unused.seconds / max(result.seconds + result.unused.seconds, 1e-12)
    if result.unused.cells:
        pieces.append(f"{wasted:.1%} of the evaluation time went ahead, and was not needed.")
    libraries = [("python", sys.version.split()[0])]
    for name in _LIBRARIES:
        try:
            libraries.append((name, version(name)))
        except PackageNotFoundError:
            continue
    pieces += [
        Grid.of(("setting", "value"), rows, left="setting value"),
        Grid.of(("library", "version"), libraries, left="library version", title="Of this page"),
    ]
    return Section("Settings and cost", tuple(pieces))


def subtitle(result: Told) -> str:
    """Return in a line what was raced."""
    n = len(result.configs)
    where = "" if result.instances is None else f", {len(result.instances)} instances"
    of = result.how.get("evaluate")
    what = f" of {of}" if of else ""
    return (
        f"{n} candidate{'s' * (n != 1)}{what}{where}; decider "
        f"{type(result.rules.decider).__name__}; seed {result.seed}"
    )


def of_race(result: Told) -> list[Section]:
    """Return all sections of a race."""
    sections = [of_best(result)]
    if len(result.configs) > 1 and len(result.known):
        words = (
            "Who was where on each block (dark: among the best of those evaluated in it), and who "
            "was eliminated after which. Survivors stand at the top."
        )
        course = drawing(result, "ranks", "Mean rank so far, of those still in.")
        pieces: list[Piece] = [drawing(result, "race", words), *of_eliminations(result)]
        sections.append(Section("The race", (*pieces, course)))
        sections += [of_survivors(result), of_instances(result)]
    return [*sections, of_failures(result), of_settings(result)]


def data_of(result: Told, said: dict[str, Any]) -> dict[str, Any]:
    """Return the answer as plain data, for the page."""
    means = {
        str(c): mean_on(result.known, c, result.known.common(result.survivors))
        for c in result.survivors
    }
    settings = {name: repr(value) for name, value in result.rules.settings().items()}
    return {**said, "common_means": means, "settings": settings, "how": dict(result.how)}
