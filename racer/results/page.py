"""The page of a result: everything, section by section."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from racer._checks import counted
from racer.evaluate.command.template import Template
from racer.plots._canvas import shortened
from racer.render.html import as_page
from racer.render.sections import Code, Drawing, Grid, Section, number, value_shown
from racer.results.means import has_means, means_section
from racer.results.summary import (
    configuration,
    configurations,
    cost,
    eliminations,
    failure_counts,
    survivors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from racer.core.events import RaceCompleted
    from racer.render.sections import Piece
    from racer.results.ablation import AblationResult
    from racer.results.base import Result
    from racer.results.importance import Importance

_MOST = 200  # rows of a table
_LIBRARIES = ("numpy", "scipy", "pandas", "joblib")
_LONG = 25  # parameters, which would hide what follows


def command_line(provenance: Mapping[str, Any]) -> Callable[[Any], str] | None:
    """Return the writer of a configuration's command line; None without a program."""
    command = provenance.get("command")
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


def drawing(result: Result, kind: str, words: str) -> Drawing:
    """Return a picture of a result."""
    return Drawing(partial(result._pictures[kind], None), words)


def _best_section(result: Result) -> Section:
    """Return the best as a table, a dict and a command line."""
    if result.best_index is None:
        return Section("The best", ("There is none.",))
    shown = configuration(result.best)
    pieces: list[Piece] = [shown]
    if isinstance(shown, Grid):
        pieces += ["In Python:", Code(repr(result.best))]
    if line := command_line(result.provenance):
        pieces += ["On the command line:", Code(line(result.best))]
    if isinstance(shown, Grid) and len(shown.rows) > _LONG:
        pieces = [*pieces[1:], Section(f"All {len(shown.rows)} parameters", (shown,))]
    return Section("The best", tuple(pieces))


def _survivor_section(result: Result) -> Section:
    """Return the survivors: on common blocks, held out, and side by side."""
    pieces: list[Piece] = [survivors(result, _MOST)]
    if has_means(result):
        pieces.append(means_section(result, _MOST))
    if "front" in result._pictures:
        words = "All candidates by the metrics of the front; shaded: where each is with probability .95."
        pieces.append(drawing(result, "front", words))
    if len(result.leaders) > 1 and result._has_evidence and not result.rules.is_front:
        words = "The posterior probability of each that it is the best of those compared."
        pieces.append(drawing(result, "posterior", words))
    if len(result.configs) > 1 and result.survivors and result.known.n_usable:
        words = "Values; of few survivors, those eliminated last are shown beside them."
        pieces.append(drawing(result, "costs", words))
    if "test" in result._pictures and result.test_means:
        pieces.append(drawing(result, "test", "Values on held-out instances."))
    return Section(result._survivor_label.capitalize(), (*pieces, *configurations(result, 8)))


def _eliminations(result: Result) -> list[Section]:
    """Return all eliminations in a folded table, if there are any."""
    found = eliminations(result, _MOST)._replace(is_folded=True)
    return [found] if result._eliminations else []


def _instance_name(result: Result, block: int) -> str:
    """Return the instance of a block, as it is written."""
    index = result.stream.place(block).instance
    if index is None or result.instances is None:
        return "-"
    return shortened(value_shown(result.instances[index]), 100)


def _failure_section(result: Result) -> Section:
    """Return the failures; messages of a program have its command line."""
    failures = result.known.failures
    if not failures:
        return Section("Failures", ("No evaluation failed.",))
    rows = [
        (
            one.block + 1,
            f"#{one.candidate}",
            _instance_name(result, one.block),
            one.status,
            one.message,
        )
        for one in failures[:_MOST]
    ]
    head = ("run", "candidate", "instance", "status", "message")
    more = f" The first {_MOST}:" if len(failures) > _MOST else ""
    total = f"{len(failures)} of {result.evaluations} evaluations failed: {failure_counts(result)}.{more}"
    return Section("Failures", (total, Grid.of(head, rows, left=head[2:])))


def _settings_section(result: Result) -> Section:
    """Return settings, versions, seed, cost and utilisation."""
    how = dict(result.provenance)
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
        pieces.append(f"{number(wall)} s on the wall with {workers or 'some'} worker(s){share}.")
    python = ("python", sys.version.split()[0])
    libraries = [python, *((name, version(name)) for name in _LIBRARIES)]
    pieces += [
        Grid.of(("setting", "value"), rows, left=("setting", "value")),
        Grid.of(
            ("library", "version"), libraries, left=("library", "version"), title="Of this page"
        ),
    ]
    return Section("Settings and cost", tuple(pieces))


def subtitle(result: Result) -> str:
    """Return the subject of the race in a line."""
    n = len(result.configs)
    unit = result._words.instance
    where = "" if result.instances is None else f", {counted(len(result.instances), unit)}"
    of = result.provenance.get("evaluate")
    what = f" of {of}" if of else ""
    return f"{counted(n, 'candidate')}{what}{where}; seed {result.seed}"


def race_sections(result: Result) -> list[Section]:
    """Return the sections that only a race has."""
    words = (
        "The mean rank of each candidate so far (dark: among the best of those still in), and the "
        "run after which it was eliminated. The best and the survivors stand at the top."
    )
    race = Section("The race", (drawing(result, "race", words), *_eliminations(result)))
    return [race, _survivor_section(result)]


def tuning_sections(
    result: Result, races: Section, importance: Importance, ablation: AblationResult | None
) -> list[Section]:
    """Return the sections that only a tuning has; `races`: the table of its races."""
    words = (
        "How far the leader of each race was behind the best in the end, on the runs that "
        "both have seen, so that races can be compared; grey: all other candidates, where "
        "they entered."
    )
    sampled = (
        drawing(result, "sampling", "Sampled values of each parameter, race by race."),
        drawing(
            result,
            "parallel",
            "The elites in parallel coordinates; grey: other candidates. A line is broken where a "
            "parameter does not exist.",
        ),
    )
    mattered = [*importance._pieces()]
    if not importance.is_poor:
        words_total = "Total Sobol index of each parameter, by the surrogate."
        mattered.append(drawing(result, "importance", words_total))
    return [
        Section("The races", (drawing(result, "quality", words), races, *_eliminations(result))),
        _survivor_section(result),
        Section("Sampled values", sampled),
        Section("Importance of the parameters", tuple(mattered)),
        *([] if ablation is None else [ablation._section()]),
    ]


def page(title: str, result: Result, own_sections: Callable[[], list[Section]]) -> str:
    """Return the page of a result, with the answer as plain data in it."""
    has_course = len(result.configs) > 1 and len(result.known)
    sections = [
        _best_section(result),
        *(own_sections() if has_course else []),
        _failure_section(result),
        _settings_section(result),
    ]
    data = {
        **result.to_dict(command_line(result.provenance)),
        "common_means": {str(c): result._common_means[1].get(c) for c in result.leaders},
        "settings": {name: repr(value) for name, value in result.rules.settings().items()},
        "provenance": dict(result.provenance),
    }
    return as_page(title, subtitle(result), result.verdict, sections, data)


def race_table(result: Result, races: Sequence[RaceCompleted]) -> Section:
    """Return the races of a tuning in a table."""
    is_over = races and result.ended not in {"deadline", "interrupted"}
    after = result.evaluations - races[-1].evaluations if is_over else 0
    head = ("race", "kind", "candidates", "left", f"{result._words.run}s", "best", "mean", "ended")
    rows = [
        (
            *(race.race + 1, race.kind, race.candidates, race.alive, race.blocks),
            *("-" if race.best is None else f"#{race.best}", number(race.best_mean), race.ended),
        )
        for race in races
    ]
    note = (
        "Means of different races are of different runs. Eliminations count the runs of all races."
    )
    if after:
        many = counted(after, "evaluation")
        note += f" After the last race {many} went to the elites, in the order of the model."
    return Section("Races", (Grid.of(head, rows, left=("kind", "ended")), note))
