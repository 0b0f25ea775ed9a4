"""`racer race`: the best of given candidates, on recorded scores or by a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from racer._checks import read_json
from racer._files import read_bytes
from racer.cli.answer import (
    FILE,
    Whole,
    answer_width,
    forms,
    give,
    given_if_interrupted,
    is_watched,
    reported,
    say,
    tell,
)
from racer.cli.scenarios import _WithCommand
from racer.deciders.named import OF_ONE_COST
from racer.direction import LARGER_IS_BETTER, Direction
from racer.errors import CandidateError, ScoresError, SettingError
from racer.render.sections import Grid, Section, number
from racer.render.text import as_text

if TYPE_CHECKING:
    from racer.core.blocks import InstanceOrder
    from racer.results.race import RaceResult

_OF_A_PROGRAM = ("instances", "jobs", "deadline", "deterministic")


@click.command(cls=_WithCommand, short_help="Find the best of given candidates.")
@click.argument("path", metavar="FILE", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--maximize/--minimize",
    default=None,
    help="Larger is better, or smaller: of scores, if neither their name nor the format says so.",
)
@click.option(
    "--decider",
    type=click.Choice(OF_ONE_COST),
    metavar="NAME",
    help=f"Of scores from 0 to 1, by default mean: {', '.join(OF_ONE_COST)}.",
)
@click.option("--budget", type=Whole(1), help="Evaluations; of scores, by default all.")
@click.option("--deadline", type=float, help="For a program: seconds of wall time in all.")
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option("--in-order", is_flag=True, help="Do not shuffle the instances.")
@click.option("--score", metavar="NAME", help="Which of several scores, as in racer compare.")
@click.option("--instances", metavar="PATH", help="For a program: a folder, or a file of lines.")
@click.option("--jobs", type=int, default=1, help="For a program: evaluations at a time.")
@click.option(
    "--deterministic", is_flag=True, default=None, help="For a program that ignores its seed."
)
@click.option(
    "-o", "--store", type=FILE, help="Record the race in this file, or continue the one in it."
)
@forms
@click.pass_context
def race(
    ctx: click.Context, /, path: Path, *, score: str | None, instances: str | None, **options: Any
) -> None:
    """Find the best of given candidates, dropping on the way those that are out of the running.

    FILE is a table of scores (CSV, wide or long; what promptfoo eval -o wrote; the folder of
    lm_eval --log_samples): the race looks at them instance by instance, and reports how few were
    needed. Or, with a program at the end, -- ./solver {parameters} {instance} {seed}, FILE has the
    candidates: a JSON list of objects, or CSV with a column for each parameter.

    Exit code 0: there is a best; 1: another error; 2: wrong usage or setting; 3: no best; 130
    after Ctrl-C, which prints the result so far, or keeps it in the store.
    """
    from racer.run.calls import race as run  # noqa: PLC0415  (a second)

    form = {name: options.pop(name) for name in ("as_json", "csv", "configurations")}
    jobs, settings = options.pop("jobs"), {}
    order: InstanceOrder = "given" if options.pop("in_order") else "shuffled"
    command = ctx.meta.get("command")
    with reported():
        if command is None:
            _check_options(ctx)
            given, direction = _recorded(path, score, options.pop("maximize"))
            options["budget"] = options["budget"] or len(given["candidates"]) * len(
                given["instances"]
            )
        else:
            if score is not None:
                raise SettingError("--score is for recorded scores, and here is a program")
            if options["budget"] is None and options["deadline"] is None:
                raise SettingError(
                    "give --budget (evaluations) or --deadline (seconds of wall time)"
                )
            given = _by_program(path, command, instances)
            settings, options["n_jobs"] = {"command": given["evaluate"].settings}, jobs
            options["progress"] = is_watched()
        given |= {name: value for name, value in options.items() if value is not None}
        with given_if_interrupted(settings, **form):
            result = run(instance_order=order, **given)
        if command is None and not form["as_json"]:
            say(_found(result, direction))
        give(result, settings, **form)


def _check_options(ctx: click.Context) -> None:
    """Raise SettingError for an option that recorded scores have no use for."""
    for name in _OF_A_PROGRAM:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise SettingError(f"--{name} is for a program, such as -- ./solver {{instance}}")
    if ctx.get_parameter_source("configurations") is ParameterSource.COMMANDLINE:
        raise SettingError("--configurations is for a program: scores have names only")


def _recorded(
    path: Path, score: str | None, maximize: bool | None
) -> tuple[dict[str, Any], Direction]:
    """Return the arguments of a race on recorded scores, of instances with all of them."""
    from racer.evaluate.recorded import RecordedScores  # noqa: PLC0415  (a second)
    from racer.scenario.score_files import read_scores, score_table  # noqa: PLC0415

    scores = read_scores(path, score=score)
    direction = Direction.of(["score"], maximize, by_format=scores.attrs.get(LARGER_IS_BETTER))
    table = score_table(scores)
    complete = table.dropna()
    if complete.empty:
        raise ScoresError(
            f"{path}: no instance has a score of each of {', '.join(map(str, table))}"
        )
    if len(complete) < len(table):
        left = len(table) - len(complete)
        tell(f"racer: {left} of {len(table)} instances have no score of some candidate: left out")
    given = {
        "candidates": list(complete),
        "evaluate": RecordedScores(complete),
        "instances": list(complete.index),
        "deterministic": True,
        "maximize": direction.maximize,
        "decider": "mean" if ((complete >= 0) & (complete <= 1)).all(axis=None) else None,
    }
    return given, direction


def _by_program(path: Path, command: list[str], instances: str | None) -> dict[str, Any]:
    """Return the arguments of a race of a program's configurations."""
    from racer.evaluate.command.command import Command  # noqa: PLC0415  (a second)
    from racer.scenario.scenario import check_command_line, instances_in  # noqa: PLC0415
    from racer.scenario.score_files import csv_lines  # noqa: PLC0415

    if path.suffix == ".json":
        try:
            configs = read_json(read_bytes(path))
        except (OSError, ValueError, RecursionError) as error:
            raise CandidateError(f"{path} cannot be read: {error}") from None
    else:
        names, *rows = csv_lines(path)
        if names[0] == "":  # as a table is written with its index
            tell(f"racer: {path}: the first column has no name and is no parameter: left out")
            names, *rows = (line[1:] for line in (names, *rows))
        if again := [name for name in names if names.count(name) > 1]:
            raise CandidateError(f"{path}: the column {again[0]!r} is there twice")
        configs = [
            {name: text.strip() for name, text in zip(names, row, strict=True) if text.strip()}
            for row in rows
        ]
        if any("" in config for config in configs):
            raise CandidateError(f"{path}: a column with values has no name: give it one")
    if not isinstance(configs, list) or not all(isinstance(config, dict) for config in configs):
        raise CandidateError(f"{path} is not a list of objects, one for each candidate")
    found = None if instances is None else instances_in(instances, None, "instances", is_line=False)
    evaluate = Command(command)
    known = {name for config in configs for name in config}
    check_command_line(evaluate, found, known or None)
    return {"candidates": configs, "evaluate": evaluate, "instances": found}


def _found(result: RaceResult, direction: Direction) -> str:
    """Return which scores are better, which candidate has which number, and how many were looked at."""
    means = result.table.mean()
    rows = [
        (f"#{i}", name, result.table[i].count(), number(means[i], 4))
        for i, name in enumerate(result.configs)
    ]
    of = len(result.configs) * len(result.instances or ())
    used = f"{result.evaluations} of {of} scores were looked at: {1 - result.evaluations / of:.0%} saved."
    grid = Grid.of(("candidate", "name", "instances", "mean on these"), rows, left="name")
    said = f"Of scores, {direction.words}."
    return as_text([said, Section("Candidates", (grid,)), used], answer_width())
