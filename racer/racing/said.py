"""What a result says of itself, in sentences and tables."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from racer._numerics import shown_probability
from racer.report.sections import Code, Grid, Section, number, parameters, value_shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.racing.events import Elimination, Ended
    from racer.racing.rules import Rules
    from racer.racing.stream import Stream
    from racer.racing.table import Table
    from racer.report.sections import Piece


_MOST = 12  # survivors in a summary


class Result(Protocol):
    """What is asked of a result, be it of a race or of a tuning."""

    survivors_are: ClassVar[str]
    best_has: ClassVar[str]

    @property
    def best(self) -> Any: ...  # noqa: D102
    @property
    def configs(self) -> tuple[Any, ...]: ...  # noqa: D102
    @property
    def best_index(self) -> int | None: ...  # noqa: D102
    @property
    def survivors(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def ended(self) -> Ended: ...  # noqa: D102
    @property
    def evaluations(self) -> int: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102
    @property
    def seed(self) -> int: ...  # noqa: D102
    @property
    def known(self) -> Table: ...  # noqa: D102
    @property
    def stream(self) -> Stream: ...  # noqa: D102
    @property
    def dropped(self) -> tuple[Elimination, ...]: ...  # noqa: D102
    @property
    def rules(self) -> Rules: ...  # noqa: D102
    @property
    def unused(self) -> Any: ...  # noqa: D102
    @property
    def probability_best(self) -> dict[int, float]: ...  # noqa: D102
    @property
    def shared_blocks(self) -> int: ...  # noqa: D102
    @property
    def caveat(self) -> str: ...  # noqa: D102
    @property
    def verdict(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def test_means(self) -> dict[int, float]: ...  # noqa: D102

    def config(self, candidate: int) -> Any: ...  # noqa: D102
    def mean(self, candidate: int) -> float | None: ...  # noqa: D102


def summary(result: Result) -> list[Piece]:
    """Return what `print` shows: verdict, the best, the survivors, why it ended, the cost."""
    best: list[Piece] = [*result.verdict]
    if result.best_index is not None:
        best.append(configuration(result.best))
    if len(result.survivors) > 1 or result.best_index is None:
        best.append(Section(result.survivors_are.capitalize(), (survivors(result, _MOST),)))
    return [*best, ended(result)]


def verdict(result: Result, extra: str = "") -> tuple[str, ...]:
    """Return the result in plain sentences."""
    n, best = len(result.configs), result.best_index
    if best is None:
        return (f"No candidate can be called the best of {n}.",)
    of = f"The best is #{best} of {n} candidates." if n > 1 else "The only candidate is #0."
    if n == 1:
        return (of,)
    m = len(result.survivors)
    if m == 1:
        return (
            f"{of} It is the only {result.survivors_are[:-1]}, so P(best) says nothing.",
            *_non_empty(extra),
        )
    shown = shown_probability(result.probability_best.get(best, math.nan))
    chance = f"= {shown}" if shown[0].isdigit() else f"{shown[0]} {shown[1:]}"
    if not result.shared_blocks:
        chances = f"The {result.survivors_are} share no block: P(best) is not known."
    else:
        chances = (
            f"P(best) {chance}: the posterior probability that its {result.best_has} among the "
            f"{m} {result.survivors_are}, on the {result.shared_blocks} blocks "
            "that all of them have seen. It says nothing about eliminated candidates."
        )
    return (f"{of} {chances}", *_non_empty(extra), *_non_empty(result.caveat))


def _non_empty(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def configuration(config: Any) -> Piece:
    """Return a configuration: a table of its parameters, or what it is written as."""
    return parameters(config) if isinstance(config, dict) and config else Code(repr(config))


def mean_on(known: Table, candidate: int, blocks: Sequence[int]) -> float | None:
    """Return the mean value on some blocks, over the successes; None without any.

    Of run times it is the mean score, failures included.
    """
    column = known.of(candidate)
    if known.runtime is not None:
        scores = [known.runtime.score(column[block]) for block in blocks if block in column]
        return math.fsum(scores) / len(scores) if scores else None
    values = [v for b in blocks if b in column and (v := column[b].value) is not None]
    return math.fsum(v / len(values) for v in values) if values else None


class RunTimes(NamedTuple):
    """The run times of a candidate: their mean score, and how many were not run to their end."""

    score: float | None
    unsolved: int
    failed: int
    capped: int
    blocks: int


def times_of(result: Result, candidate: int) -> RunTimes:
    """Return the run times of a candidate; `capped` are those below the limit."""
    told, runtime = list(result.known.of(candidate).values()), result.rules.runtime
    limit = math.inf if runtime is None else runtime.limit
    capped = [outcome.value or 0.0 for outcome in told if outcome.status == "capped"]
    unsolved = sum(value >= limit for value in capped)
    return RunTimes(
        result.mean(candidate),
        unsolved,
        sum(outcome.value is None for outcome in told),
        len(capped) - unsolved,
        len(told),
    )


def survivors(result: Result, most: int | None = None) -> Grid:
    """Return the survivors, best first: P(best), and the mean on the blocks that all have seen."""
    all_of_them = result.survivors
    chosen = all_of_them[:most]
    common = result.known.common(all_of_them) if all_of_them else []
    tests, runtime = result.test_means, result.rules.runtime
    rows = [
        (
            f"#{c}",
            "-" if result.best_index is None else shown_probability(result.probability_best[c]),
            number(mean_on(result.known, c, common)),
            len(result.known.of(c)),
            *((times.unsolved, times.capped) if runtime is not None else ()),
            *([number(tests.get(c))] if tests else []),
        )
        for c in chosen
        for times in [times_of(result, c)]
    ]
    more = len(all_of_them) - len(chosen)
    if more:
        rows.append((f"and {more} more", *[""] * (len(rows[0]) - 1)))
    mean = "mean" if runtime is None else runtime.score_is
    common_blocks = f"{len(common)} {'common ' if runtime is None else ''}blocks"
    head = (
        *("candidate", "P(best)", f"{mean} on {common_blocks}", "blocks"),
        *(() if runtime is None else ("unsolved", "capped")),
        *([f"held-out {mean}"] if tests else []),
    )
    return Grid.of(head, rows, left="candidate")


def configurations(result: Result, most: int = 6) -> list[Section]:
    """Return the configurations of the first survivors side by side, if they are dicts."""
    chosen = [c for c in result.survivors[:most] if isinstance(result.config(c), dict)]
    if len(result.survivors) < 2 or len(chosen) < 2:
        return []
    configs = [result.config(c) for c in chosen]
    names = list(dict.fromkeys(name for config in configs for name in config))
    rows = [
        (name, *(value_shown(config[name]) if name in config else "-" for config in configs))
        for name in names
    ]
    head = ("parameter", *(f"#{c}" for c in chosen))
    title = f"Configurations of the {result.survivors_are}"
    return [Section(title, (Grid.of(head, rows, left="parameter"),))]


def ended(result: Result) -> str:
    """Return why it ended, and what it cost."""
    return f"{result.ended.message} {cost(result)}"


def cost(result: Result) -> str:
    """Return what it cost, in a sentence."""
    failed = len(result.known.failures)
    failures = f", {failed} of them failed" if failed else ""
    capped = sum(o.status == "capped" for row in result.known.rows for o in row.others.values())
    failures += f", {capped} stopped at a cap or the limit" if capped else ""
    budget = result.rules.budgets[-1].evaluations
    of = "" if budget is None else f" of a budget of {budget}"
    if budget is not None and result.ended == "decided" and result.evaluations < budget:
        of += f" (the other {budget - result.evaluations} were not needed)"
    unused = result.unused
    ahead = (
        f", and {unused.cells} more ({number(unused.seconds, 4)} s) made ahead and not needed"
        if unused.cells
        else ""
    )
    return (
        f"{result.evaluations} evaluations{of}{failures}, on {len(result.known)} blocks; "
        f"{number(result.seconds, 4)} s of evaluation{ahead}; seed {result.seed}."
    )


_RELATIONS = {
    "inferior": "inferior to",
    "indistinguishable": "indistinguishable from",
    "halved": "in the worse half behind",
    "outranked": "no room for it behind",
    "unlikely": "unlikely to be best beside",
    "capped": "capped on all blocks, behind",
}


def why(drop: Elimination) -> str:
    """Return why, against whom and by which evidence a candidate was eliminated."""
    if drop.reason == "rejected":
        return "rejected"
    if drop.reason == "capped":
        return f"{_RELATIONS['capped']} #{drop.against}"
    chance = drop.probability
    evidence = f"{chance:.3g}"
    if drop.measure in {"posterior", "p-value"} and 0.0 <= chance <= 1.0:
        evidence = _chance(drop)
    elif drop.measure != "e-value":
        evidence = f"{chance:.2g}"
    relation = _RELATIONS.get(drop.reason, f"{drop.reason}, against")
    return f"{relation} #{drop.against} ({drop.measure} {evidence})"


def eliminations(result: Result, latest: int = 10) -> Section:
    """Return why candidates were eliminated, and the latest of them."""
    counts = Counter(gone.reason for gone in result.dropped)
    said = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    head = ("blocks", "candidate", "reason", "against", "probability", "measure")
    rows = [
        (
            *(gone.block + 1, f"#{gone.candidate}", gone.reason),
            *(f"#{gone.against}", _chance(gone), gone.measure),
        )
        for gone in result.dropped[-latest:]
    ]
    grid = Grid.of(head, rows, left="reason measure")
    which = f"; the latest {latest}:" if len(result.dropped) > latest else ":"
    return Section("Eliminations", (f"{said}{which}", grid))


def _chance(gone: Elimination) -> str:
    """Return a probability, or a value that is none and may exceed 1."""
    value = gone.probability
    if gone.measure == "p-value":
        return f"{value:.2g}" if value >= 0.0005 else "<0.001"
    return shown_probability(value) if gone.measure == "posterior" else number(value, 4)


def failures(result: Result) -> Section:
    """Return how many evaluations failed in which way, and why the first did."""
    known = result.known.failures
    counts = Counter(failure.status for failure in known)
    said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    first = next((f for f in known if f.status != "rejected"), known[0])
    why, *more = first.message.splitlines()[:2] or [""]  # the second line is the command
    pieces: list[Piece] = [f"{said}; the first, of #{first.candidate}: {why}", *map(Code, more)]
    return Section("Failures", tuple(pieces))


def as_dict(result: Result, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
    """Return the answer as plain data; with `line`, each survivor has its command line."""
    return {
        "best": result.best,
        "best_index": result.best_index,
        "verdict": list(result.verdict),
        "survivors": [_survivor(result, candidate, line) for candidate in result.survivors],
        "ended": result.ended.value,
        "evaluations": result.evaluations,
        "failures": len(result.known.failures),
        "seconds": result.seconds,
        "seed": result.seed,
        "eliminations": [vars(elimination) for elimination in result.dropped],
    }


def _survivor(result: Result, candidate: int, line: Callable[[Any], str] | None) -> dict[str, Any]:
    common = result.known.common(result.survivors)
    said = {
        "candidate": candidate,
        "config": result.config(candidate),
        "probability_best": result.probability_best[candidate],
        "mean": result.mean(candidate),
        "blocks": len(result.known.of(candidate)),
        "common_mean": mean_on(result.known, candidate, common),
        "common_blocks": len(common),
    }
    if (runtime := result.rules.runtime) is not None:
        said |= {"criterion": runtime.criterion, **times_of(result, candidate)._asdict()}
    if line is not None:
        said["command"] = line(said["config"])
    return said
