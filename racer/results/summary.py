"""A result in sentences and tables: its verdict, its survivors, its eliminations, its cost."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from racer._checks import counted, shortened
from racer._numerics import as_json, as_plain, shown_probability
from racer.core.events import Ended
from racer.core.objective import Constrained, Within
from racer.core.rules import LEAST_OF_OTHERS
from racer.deciders.bayesian_friedman import agrees_with_posterior
from racer.deciders.correlated_t import CorrelatedTRace
from racer.deciders.mean import MeanRace
from racer.deciders.named import name_of
from racer.deciders.signed_rank import SignedRankRace
from racer.evaluate.command.remedy import failing_code, on_common_code
from racer.render.sections import Code, Grid, Section, number, parameters, value_shown
from racer.render.text import as_text
from racer.results.front import front_first, front_grid, listed, shown_means, verdict_of_front
from racer.results.means import has_means, mean_scores, means_section
from racer.results.posterior import is_of_others

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.core.events import Elimination
    from racer.render.sections import Piece
    from racer.results.base import Result

_MOST = 12  # survivors in a summary
_SHORT = 24  # characters of a value that is no dict
_BRIEF = 1.0  # seconds of evaluation that are not worth a word


def summary(result: Result) -> list[Piece]:
    """Return the text of `print`: verdict, the best, the survivors, why it ended, the cost."""
    best: list[Piece] = [*result.verdict]
    if not has_successes(result):
        return [*best, cost(result)]
    if result.guess is not None:
        best.append(configuration(result.config(result.guess)))
    is_open = len(result.leaders) > 1 or result.best_index is None or result.rules.aim is not None
    is_told = has_means(result) or len(result.configs) == 1  # the mean of the best
    if result.leaders and (is_open or not is_told):
        best.append(Section(result._survivor_label.capitalize(), (survivors(result, _MOST),)))
    if result.rules.is_front:
        best += configurations(result, _MOST)
    if has_means(result) and len(result.configs) > 1:
        best.append(means_section(result))
    return [*best, cost(result)]


def has_successes(result: Result) -> bool:
    """Return False for a result of failures alone, whose tables of candidates are empty."""
    return not 0 < result.evaluations == len(result.known.failures)


def printed(result: Result) -> list[Piece]:
    """Return the pieces of `summary`, and the failures, with the place where they all are."""
    *pieces, last = summary(result)
    if result.known.failures:
        pieces.append(failures(result, "; result.failures has them all"))
    return [*pieces, last]


def verdict(result: Result) -> tuple[str, ...]:
    """Return the result in plain sentences."""
    n, best = len(result.configs), result.best_index
    if not has_successes(result):
        of = counted(result.evaluations, result._words.evaluation)
        return (f"Nothing succeeded in {of}: {failure_counts(result)}.",)
    if result.rules.is_front and n > 1:
        return verdict_of_front(result)
    if best is None:
        one = result.guess
        if one is None:
            return (f"No candidate can be called the best of {n}.",)
        chance = shown_probability(result.probability_best[one], 2)
        seen = f"probability {chance}, {counted(len(result.known.of(one)), 'evaluation')}"
        guess = f"Best guess, without a test: #{one} ({seen})."
        return (f"No candidate can be called the best of {n}. {guess}",)
    if n == 1:
        return ("The only candidate is #0.",)
    parts = (
        *(_standing(result), _gone_rivals(result), _eliminated_best(result)),
        _failing(result),
        *(() if result._metrics is None else result._metrics.notes),
        *(_unacceptable(result), _by_prior(result), _population(result)),
    )
    return tuple(filter(None, parts))


def _standing(result: Result) -> str:
    """Return in a sentence which candidate is the best, how surely, and which others may be."""
    best, n, compared = result.best_index, len(result.configs), len(result.compared)
    chance = shown_probability(result.probability_best[best or 0], 2).replace(">", "> ")
    of = f"{n}" if compared == n else f"the {compared} candidates evaluated most often"
    objective, runtime = result.rules.objective, result.rules.runtime
    what = f"the best of {of}{'' if runtime is None else f' by {runtime.criterion}'}"
    if isinstance(objective, Within | Constrained):
        what = f"what {objective!r} asks for, of {of}"
    rivals = [f"#{c}" for c in result.credible_set if c != best]
    if not rivals or _unacceptable(result):
        return f"#{best} is {what} (probability {chance})."
    others = f"{counted(len(rivals), 'other')} may be better (95 %): {shortened(rivals, _MOST)}."
    if 1 < len(rivals) == n - 1:
        others = "Any of the others may be better (95 %)."
    return f"Best so far: #{best}, but not surely: probability {chance}. {others}"


def details(result: Result) -> str:
    """Return the result in sentences, with the definition of P(best) and the tests of the decider."""
    compared, best = result.compared, result.best_index
    parts = [*result.verdict]
    if best is not None and len(compared) > 1:
        among = "all candidates, those eliminated included"
        if len(compared) < len(result.configs):
            among = f"{shortened([f'#{c}' for c in compared], _MOST)}, the candidates evaluated most often"
        parts.append(
            f"The probability, P(best), is the posterior probability that {_question(result)} among "
            f"{among}; with probability 0.95 the best is in the credible set: "
            f"{shortened([f'#{c}' for c in result.credible_set], _MOST)}."
        )
    return as_text([*parts, cost(result), _tests(result)])


def _population(result: Result) -> str:
    """Return in a sentence which instances, or groups, the result is about, unless all are new.

    They are given: each is used again with other seeds, or the mean over all of them counts.
    """
    stream, rules = result.stream, result.rules
    is_of_data = result.correlation or isinstance(rules.decider, CorrelatedTRace)
    if stream.n_instances is None or rules.goal is not None or is_of_data:
        return ""
    n, unit = stream.n_units or 0, "instance" if stream.groups is None else "group"
    blocks = {row.block for row in result.known.rows}
    of_others = is_of_others(rules, stream)
    is_once = len(blocks) == len({stream.instance(block) for block in blocks})
    if is_once and rules.generalize is None and stream.length is None:
        return ""
    setting = f"Instances(.., generalize={not of_others})"
    if isinstance(rules.decider, MeanRace) and not rules.generalize:
        of_others = rules.decider.population
        setting = f"racer.deciders.MeanRace(population={not of_others})"
    if of_others:
        return f"This is about {unit}s like these {n}. For these alone: {setting}."
    which = f"these {n} {unit}s" if n > 1 else f"this one {unit}"
    if 1 < n < LEAST_OF_OTHERS and {rules.generalize, stream.length} == {None}:
        which += f", as they are fewer than {LEAST_OF_OTHERS}"
    return f"This is about {which}. For others like {'them' if n > 1 else 'it'}: {setting}."


def _question(result: Result) -> str:
    """Return the criterion of the best."""
    objective, runtime = result.rules.objective, result.rules.runtime
    if isinstance(objective, Within | Constrained):
        return f"a candidate is what {objective!r} asks for"
    unit = "" if result._by_means else f", in units of the spread within a {result._words.run},"
    what = f"expected value{unit}" if runtime is None else runtime.criterion
    return f"the {what} of a candidate is the best"


def _gone_rivals(result: Result) -> str:
    """Return a sentence if others that may be the best were eliminated."""
    others = {*result.credible_set}.difference(result.survivors, [result.best_index])
    gone = [e for e in result._eliminations if e.candidate in others]
    if not gone or not result._is_race:
        return ""
    listed = shortened([f"#{e.candidate}" for e in gone], _MOST)
    listed += " was eliminated" if len(gone) == 1 else " were eliminated"
    if not agrees_with_posterior(result.rules.decider):
        rule = (
            f"{listed} by the rule of {name_of(result.rules.decider)}, on the outcomes until then"
        )
        return f"{rule}; P(best) weighs all outcomes of all candidates, so that the two may differ."
    if all(e.reason == "indistinguishable" for e in gone):
        return f"{listed} beside another that is as good."
    return f"{listed} earlier; given all outcomes, {'it is' if len(gone) == 1 else 'they are'} not ruled out."


def _eliminated_best(result: Result) -> str:
    """Return a sentence if the best was eliminated."""
    best = result.best_index
    gone = [e for e in result._eliminations if e.candidate == best]
    if best in result.survivors or not gone:
        return ""
    rule = ""
    if not agrees_with_posterior(result.rules.decider):  # by P(best), as it was then
        rule = f"by the rule of {name_of(result.rules.decider)}, which is not P(best): "
    return (
        f"#{best} was eliminated after {result._words.run} {gone[-1].block + 1} "
        f"({rule}{why(gone[-1])}); given all outcomes, none is likelier to be the best."
    )


def _by_prior(result: Result) -> str:
    """Return a sentence on why pairs of the last test are open, for a decider without a prior.

    That is its gate, before any pair is compared, or the prior.
    """
    _, test = result._evidence[-1] if result._evidence else (0, {})
    if not isinstance(result.rules.decider, SignedRankRace) or not test:
        return ""
    if "indeterminate" not in test:
        return 'At the last test no pair was compared: "all alike" was not rejected.'
    pairs = int(test["indeterminate"])
    return f"At the last test {counted(pairs, 'pair')} would be decided by the prior." * bool(pairs)


def _unacceptable(result: Result) -> str:
    """Return a sentence if perhaps no candidate satisfies the constraints, or all tolerances."""
    none, objective = 1.0 - sum(result.probability_best.values()), result.rules.objective
    if not isinstance(objective, Within | Constrained) or none < 0.05:
        return ""
    is_constrained = isinstance(objective, Constrained)
    fits = "satisfies the constraints" if is_constrained else "is within each tolerance"
    of_them = len(result.compared) < len(result.configs)
    who = "none of those evaluated most often" if of_them else "no candidate"
    return f"With probability {shown_probability(none, 2)} {who} {fits}."


def _failing(result: Result) -> str:
    """Return a sentence if evaluations of the best failed."""
    known = result.known.of(result.best_index or 0)
    failed = sum(outcome.value is None for outcome in known.unsuccessful())
    return f"{failed} of its {len(known)} evaluations failed." if failed else ""


def configuration(config: Any) -> Piece:
    """Return a configuration: a table of its parameters, or its text."""
    return (
        parameters(config) if isinstance(config, dict) and config else Code(repr(as_plain(config)))
    )


def _eliminated(result: Result) -> set[int]:
    """Return the eliminated candidates. A candidate that is not an elite need not be one of them."""
    return {e.candidate for e in result._eliminations}.difference(result.survivors)


def survivors(result: Result, most: int | None = None) -> Grid:
    """Return the survivors, likeliest best first: P(best), the mean on blocks that all have seen."""
    if result.rules.is_front:
        return front_grid(result, most)
    leaders, runtime, metrics = result._listed, result.rules.runtime, result._metrics
    chosen, gone = leaders[:most], _eliminated(result)
    n_common, means = result._listed_means
    times, tests = [result._run_times(c) for c in chosen], result.test_means
    tables = {} if metrics is None else metrics.tables
    tables_tested = {} if metrics is None else metrics.held_out(result.held_out)
    value, *others = [*tables] or ["mean" if runtime is None else runtime.score_name]
    runs = counted(n_common, f"{'common ' * (len(leaders) > 1)}{result._words.run}")
    has_failed = runtime is None and any(result._run_times(c).failed for c in leaders)
    columns: list[tuple[str, Sequence[object]]] = [
        ("candidate", [f"{result._label(c)}{', eliminated' * (c in gone)}" for c in chosen]),
        ("P(best)", [_chance_of(result, c) for c in chosen]),
        (
            f"{value} on {runs}{', failures imputed' * has_failed}",
            [number(means.get(c)) for c in chosen],
        ),
        *((name, shown_means(tables[name], result.leaders, chosen)) for name in others),
        (f"{result._words.run}s", [len(result.known.of(c)) for c in chosen]),
    ]
    if any(found.failed for found in times):
        columns.append(("failed", [found.failed for found in times]))
    if runtime is not None:
        columns.append(("timed out", [found.unsolved for found in times]))
        columns.append(("capped", [found.capped for found in times]))
    has_failed_tests = any(result.test_failures.values())
    if tests:
        imputed = ", failures imputed" if has_failed_tests and runtime is None else ""
        columns.append((f"held-out {value}{imputed}", [number(tests.get(c)) for c in chosen]))
    for name in others if tables_tested else ():
        tested = [number(tables_tested[name].mean(c)) for c in chosen]
        columns.append((f"held-out {name}", tested))
    if has_failed_tests:
        columns.append(("held-out failed", [result.test_failures.get(c, 0) for c in chosen]))
    rest = [f"#{c}" for c in chosen if c not in result.leaders]
    note = f"Not among the {result._survivor_label}, but perhaps the best: {', '.join(rest)}."
    n_more = len(leaders) - len(chosen)
    return Grid.of_columns(columns, ["candidate"], note * bool(rest), n_more=n_more)


def _chance_of(result: Result, candidate: int) -> str:
    """Return P(best) of a candidate as it is shown."""
    chance = result.probability_best.get(candidate)
    is_shown = result._has_evidence and candidate in result.compared
    return "-" if chance is None or not is_shown else shown_probability(chance, 2)


def configurations(result: Result, most: int = 6) -> list[Section]:
    """Return the configurations of the first leaders side by side: dicts, or short values.

    Of a front, all that are likely on it come first, eliminated or not.
    """
    leaders, gone = front_first(result) if result.rules.is_front else (result.leaders, ())
    found = {c: result.config(c) for c in leaders[:most]}
    chosen = [c for c, one in found.items() if isinstance(one, dict) or len(repr(one)) <= _SHORT]
    if len(chosen) < 2:
        return []
    configs = [one if isinstance(one := found[c], dict) else {"value": one} for c in chosen]
    names = list(dict.fromkeys(name for config in configs for name in config))
    rows = [
        (name, *(value_shown(config[name]) if name in config else "-" for config in configs))
        for name in names
    ]
    head = ("parameter", *(f"#{c}" for c in chosen))
    title = f"Configurations of the {'front and the ' * bool(gone)}{result._survivor_label}"
    left = len(leaders) - len(leaders[:most])
    rest = [f"And {left} more."] if left else []
    if gone:
        label = result._survivor_label
        rest.append(f"Likely on the front but not among the {label}: {listed(gone)}.")
    return [Section(title, (Grid.of(head, rows, left=["parameter"]), *rest))]


_ENDS = {
    "decided": "Decided after",
    "budget": "Budget used:",
    "instances": "All {}s used:",
    "all-failed": "Stopped after",
    "interrupted": "Interrupted after",
}


def cost(result: Result) -> str:
    """Return the end of a contest, its cost and the seed that repeats it, in a sentence or two."""
    budget, n, ended = result.rules.budgets[-1].evaluations, result.evaluations, result.ended
    words = result._words
    of = counted(n, words.evaluation)
    if budget is not None and n < budget:
        of = f"{n} of {counted(budget, words.evaluation)}"
    failed, unused = len(result.known.failures), result.unused
    capped = sum(o.status == "capped" for row in result.known.rows for o in row.others.values())
    parts = [
        f"{failed} of them failed" * (0 < failed < n),
        f"{capped} stopped at a cap or the limit" * bool(capped),
        _runs(result),
        f"{number(result.seconds, 2)} s" * (result.seconds >= _BRIEF),
        f"{unused.cells} more made ahead and not needed" * bool(unused.cells),
        _spent(result),
    ]
    first = end(ended, of, words.instance)
    # the seed of a search comes from its random_state, which repeats it
    again = "" if result.correlation else f" Repeat with seed={result.seed}."
    return f"{', '.join([first, *filter(None, parts)])}.{result._note}{again}"


def end(ended: str, of: str, instance: str) -> str:
    """Return the end of a contest, after `of`: its evaluations, rounds or votes."""
    known = _ENDS.get(ended.replace(" ", "-"))
    return f"{Ended(ended).message if known is None else known.format(instance)} {of}"


def _runs(result: Result) -> str:
    """Return on how many instances the longest runs were, and how often, if more than once."""
    blocks, stream = {row.block for row in result.known.rows}, result.stream
    if stream.n_instances is None:
        return f"at most {len(blocks)} of each candidate"
    n = len({stream.instance(block) for block in blocks})
    often = "" if n == len(blocks) else f"in {len(blocks)} runs "
    return f"{often}on {counted(n, result._words.instance)}"


def _spent(result: Result) -> str:
    """Return the spend, and the price of all candidates on the same blocks."""
    if result.spent is None:
        return ""
    limit = result.rules.budgets[-1].spend
    text = f"{number(result.spent)} spent" + ("" if limit is None else f" of {limit:g}")
    everyone = range(len(result.configs))
    if not result.known.common(everyone):  # they have not been in one race
        return text
    known = [[o.spend or 0.0 for o in result.known.of(c).values()] for c in everyone]
    full = len(result.known) * math.fsum(math.fsum(spend) / len(spend) for spend in known)
    return f"{text} (all candidates in all of these runs: about {number(full)})"


_RELATIONS = {
    "inferior": "inferior to",
    "indistinguishable": "indistinguishable from",
    "halved": "in the worse half behind",
    "outranked": "no room for it behind",
    "unlikely": "unlikely to be best beside",
    "capped": "capped on all blocks, behind",
    "failed": "failed on all blocks, behind",
    "dominated": "worse in every metric than",
    "not better": "not better by more than the margin than",
    "unacceptable": "not good enough beside",
}


def why(drop: Elimination) -> str:
    """Return the reason, opponent and evidence of an elimination."""
    if drop.reason == "rejected":
        return "rejected"
    chance = drop.probability
    relation = _RELATIONS.get(drop.reason, f"{drop.reason}, against")
    if drop.measure in {"posterior", "outcome"}:
        return f"{relation} #{drop.against}"
    evidence = f"{chance:.3g}" if drop.measure == "e-value" else f"{chance:.2g}"
    if drop.measure == "p-value" and 0.0 <= chance <= 1.0:
        evidence = _chance(drop)
    return f"{relation} #{drop.against} ({drop.measure} {evidence})"


def eliminations(result: Result, latest: int = 10) -> Section:
    """Return why candidates were eliminated, and the latest of them."""
    eliminated = result._eliminations
    counts = Counter(gone.reason for gone in eliminated)
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    shown = eliminated[-latest:]
    columns: dict[str, list[Any]] = {
        "candidate": [f"#{gone.candidate}" for gone in shown],
        result._words.run: [gone.block + 1 for gone in shown],
        "reason": [gone.reason for gone in shown],
        "against": [f"#{gone.against}" for gone in shown],
    }
    if result._shows_measures:
        columns |= {"probability": [*map(_chance, shown)], "measure": [g.measure for g in shown]}
    rows = [*zip(*columns.values(), strict=True)]
    grid = Grid.of(tuple(columns), rows, left=("candidate", "reason", "measure"))
    which = f"; the latest {latest}:" if len(eliminated) > latest else ":"
    return Section("Eliminations", (f"{reasons}{which}", grid, _tests(result)))


def _tests(result: Result) -> str:
    """Return the decider with its level, and the names of the tests that its verdicts went by."""
    gates = dict.fromkeys(str(test["gate"]) for _, test in result._evidence if "gate" in test)
    names = ", ".join(name for name in gates if name != "none")
    return f"By {result.rules.decider!r}{names and f'; tests: {names}'}."


def _chance(gone: Elimination) -> str:
    """Return a probability, or another value, which may exceed 1."""
    value = gone.probability
    if gone.measure == "p-value":
        return f"{value:.2g}" if value >= 0.0005 else "<0.001"
    return shown_probability(value) if gone.measure == "posterior" else number(value)


def failure_counts(result: Result) -> str:
    """Count the failed evaluations by status, of programs by exit code."""
    failures = ((f.status, failing_code(f.message)) for f in result.known.failures)
    counts = Counter(
        status.replace("timeout", "timed out") if code is None else f"ended with exit code {code}"
        for status, code in failures
    )
    return ", ".join(f"{count} {way}" for way, count in counts.most_common())


def failures(result: Result, where: str = "") -> Section:
    """Return how many evaluations failed in which way, why the first did, and where they are."""
    known = result.known.failures
    first = next((f for f in known if f.status != "rejected"), known[0])
    why, *more = first.message.splitlines()[:2] or [""]  # the second line is the command
    which = "the first, of" if len({f.candidate for f in known}) > 1 else "all of"
    text = f"{failure_counts(result)}, {which} #{first.candidate}: {why}{where}"
    advice = on_common_code((failure.message for failure in known), result.evaluations)
    return Section("Failures", (text, *map(Code, more), *filter(None, [advice])))


def as_dict(result: Result, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
    """Return the answer as plain data; with `line`, each survivor has its command line."""
    return {
        "best": as_plain(result.best),
        "best_index": result.best_index,
        "guess": result.guess,
        "probability_best": result.probability_best.get(
            -1 if result.best_index is None else result.best_index
        ),
        "credible_set": list(result.credible_set),
        "verdict": list(result.verdict),
        "survivors": [_row(result, c, line) for c in result.leaders],
        "perhaps_best": [_row(result, c, line) for c in result._listed if c not in result.leaders],
        "ended": result.ended.value,
        "evaluations": result.evaluations,
        "failures": len(result.known.failures),
        "seconds": result.seconds,
        **({} if result.spent is None else {"spent": result.spent}),
        "seed": result.seed,
        **_metric_payload(result),
        **({"mean_scores": mean_scores(result)} if has_means(result) else {}),
        "eliminations": [_gone(result, elimination) for elimination in result._eliminations],
    }


def _gone(result: Result, elimination: Elimination) -> dict[str, Any]:
    """Return an elimination as plain data, with no second probability beside P(best)."""
    own = () if result._shows_measures else ("probability", "measure")
    return {name: value for name, value in vars(elimination).items() if name not in own}


def _metric_payload(result: Result) -> dict[str, Any]:
    """Return the results of several metrics, as plain data."""
    metrics = result._metrics
    if metrics is None:
        return {}
    chances = metrics.probability_front if result.rules.is_front else {}
    is_known = result._has_evidence
    means = {
        str(c): {name: table.mean(c) for name, table in metrics.tables.items()}
        for c in metrics.eligible
    }
    found: dict[str, Any] = {
        "metrics": {name: metric.plain() for name, metric in metrics.aim.metrics.items()},
        "objective": repr(metrics.aim.objective),
        "means": means,
    }
    if chances:
        found["probability_front"] = {str(c): p if is_known else None for c, p in chances.items()}
        found["credible_front"] = list(metrics.credible_front) if is_known else []
    return found


def _row(result: Result, candidate: int, line: Callable[[Any], str] | None) -> dict[str, Any]:
    """Return the row of a candidate in the table of survivors, as plain data."""
    (n_common, means), is_known = result._listed_means, result._has_evidence
    payload = {
        "candidate": candidate,
        "eliminated": candidate in _eliminated(result),
        "config": as_plain(result.config(candidate)),
        "probability_best": result.probability_best.get(candidate) if is_known else None,
        "mean": result.mean(candidate),
        "blocks": len(result.known.of(candidate)),
        "failed": result._run_times(candidate).failed,
        "common_mean": means.get(candidate),
        "common_blocks": n_common,
    }
    if (runtime := result.rules.runtime) is not None:
        payload |= {"criterion": runtime.criterion, **result._run_times(candidate)._asdict()}
    if line is not None:
        payload["command"] = line(payload["config"])
    if held_out := len(result.held_out.of(candidate)):
        payload["held_out_mean"] = as_json(result.test_means.get(candidate))
        payload["held_out_blocks"] = held_out
    return payload
