"""A result in sentences and tables: its verdict, its survivors, its eliminations, its cost."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from racer._numerics import shown_probability
from racer.render.sections import Code, Grid, Section, number, parameters, value_shown
from racer.results.base import mean_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.core.events import Elimination, RaceCompleted
    from racer.render.sections import Piece
    from racer.results.base import Result

_MOST = 12  # survivors in a summary


def summary(result: Result) -> list[Piece]:
    """Return what `print` shows: verdict, the best, the survivors, why it ended, the cost."""
    best: list[Piece] = [*result.verdict]
    if result.best_index is not None:
        best.append(configuration(result.best))
    if len(result.survivors) > 1 or result.best_index is None:
        best.append(Section(result._survivor_label.capitalize(), (survivors(result, _MOST),)))
    return [*best, f"{result.ended.message} {cost(result)}"]


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
        alone = f"{of} It is the only {result._survivor_label[:-1]}, so P(best) says nothing."
        return tuple(filter(None, (alone, extra)))
    shown = shown_probability(result.probability_best.get(best, math.nan))
    chance = f"= {shown}" if shown[0].isdigit() else f"{shown[0]} {shown[1:]}"
    if not result.shared_blocks:
        chances = f"The {result._survivor_label} share no block: P(best) is not known."
    else:
        chances = (
            f"P(best) {chance}: the posterior probability that its {result._best_label} among the "
            f"{m} {result._survivor_label}, on the {result.shared_blocks} blocks "
            "that all of them have seen. It says nothing about eliminated candidates."
        )
    return tuple(filter(None, (f"{of} {chances}", extra, result.caveat)))


def configuration(config: Any) -> Piece:
    """Return a configuration: a table of its parameters, or what it is written as."""
    return parameters(config) if isinstance(config, dict) and config else Code(repr(config))


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
        for times in [result._run_times(c)]
    ]
    more = len(all_of_them) - len(chosen)
    if more:
        rows.append((f"and {more} more", *[""] * (len(rows[0]) - 1)))
    mean = "mean" if runtime is None else runtime.score_name
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
    title = f"Configurations of the {result._survivor_label}"
    return [Section(title, (Grid.of(head, rows, left="parameter"),))]


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
    eliminated = result._eliminations
    counts = Counter(gone.reason for gone in eliminated)
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    head = ("blocks", "candidate", "reason", "against", "probability", "measure")
    rows = [
        (
            *(gone.block + 1, f"#{gone.candidate}", gone.reason),
            *(f"#{gone.against}", _chance(gone), gone.measure),
        )
        for gone in eliminated[-latest:]
    ]
    grid = Grid.of(head, rows, left="reason measure")
    which = f"; the latest {latest}:" if len(eliminated) > latest else ":"
    return Section("Eliminations", (f"{reasons}{which}", grid))


def _chance(gone: Elimination) -> str:
    """Return a probability, or a value that is none and may exceed 1."""
    value = gone.probability
    if gone.measure == "p-value":
        return f"{value:.2g}" if value >= 0.0005 else "<0.001"
    return shown_probability(value) if gone.measure == "posterior" else number(value, 4)


def failure_counts(result: Result) -> str:
    """Return how many evaluations failed in which way."""
    counts = Counter(failure.status for failure in result.known.failures)
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def failures(result: Result) -> Section:
    """Return how many evaluations failed in which way, and why the first did."""
    known = result.known.failures
    first = next((f for f in known if f.status != "rejected"), known[0])
    why, *more = first.message.splitlines()[:2] or [""]  # the second line is the command
    text = f"{failure_counts(result)}; the first, of #{first.candidate}: {why}"
    return Section("Failures", (text, *map(Code, more)))


def race_table(result: Result, races: Sequence[RaceCompleted]) -> Section:
    """Return the races of a tuning in a table."""
    is_over = races and result.ended != "interrupted"
    after = result.evaluations - races[-1].evaluations if is_over else 0
    head = ("race", "kind", "candidates", "alive", "blocks", "best", "its mean", "ended")
    rows = [
        (
            *(race.race, race.kind, race.candidates, race.alive, race.blocks),
            *("-" if race.best is None else f"#{race.best}", number(race.best_mean, 4), race.ended),
        )
        for race in races
    ]
    note = (
        "Means of different races are not of the same blocks. Eliminations count the blocks of "
        "all races."
    )
    if after:
        note += f" After the last race {after} evaluations went to the elites, the best first."
    return Section("Races", (Grid.of(head, rows, left="kind ended"), note))


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
        "eliminations": [vars(gone) for gone in result._eliminations],
    }


def _survivor(result: Result, candidate: int, line: Callable[[Any], str] | None) -> dict[str, Any]:
    common = result.known.common(result.survivors)
    payload = {
        "candidate": candidate,
        "config": result.config(candidate),
        "probability_best": result.probability_best[candidate],
        "mean": result.mean(candidate),
        "blocks": len(result.known.of(candidate)),
        "common_mean": mean_on(result.known, candidate, common),
        "common_blocks": len(common),
    }
    if (runtime := result.rules.runtime) is not None:
        payload |= {"criterion": runtime.criterion, **result._run_times(candidate)._asdict()}
    if line is not None:
        payload["command"] = line(payload["config"])
    if held_out := len(result.held_out.of(candidate)):
        payload["held_out_mean"] = result.test_means.get(candidate)
        payload["held_out_blocks"] = held_out
    return payload
