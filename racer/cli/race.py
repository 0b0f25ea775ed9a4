"""`racer race`: the best of given candidates, on recorded scores or by a program."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer.cli.output import answer_width, forms, give, given_if_interrupted, reported, say, tell
from racer.cli.scenarios import WithCommand, answered, flag_of, given_settings, setting_options
from racer.comparison.columns import Columns
from racer.core.arguments import Instances, goal_settings
from racer.deciders.named import OF_ONE_COST
from racer.direction import LARGER_IS_BETTER, Direction
from racer.errors import ScoresError, SettingError
from racer.render.sections import Grid, Section, number
from racer.render.text import as_text
from racer.run.signals import at_terminal
from racer.scenario.irace_options import THE_OPTIONS
from racer.scenario.scenario import Scenario, read_scenario
from racer.scenario.settings import TESTS, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.results.race import RaceResult

_OF_SCORES = {
    *("decider", "budget", "seed", "order", "first_test", "each_test", "store", "goal"),
    "generalize",
}


@click.command(cls=WithCommand, short_help="Find the best of given candidates.")
@click.argument("path", metavar="FILE", type=click.Path(exists=True, path_type=Path))
@click.option("--score", metavar="NAME", help="Which of several scores, as in racer compare.")
@click.option("--algorithm", metavar="COLUMN", help="Column of algorithms, as in racer compare.")
@click.option("--data-set", metavar="COLUMN", help="Column of data sets, as in racer compare.")
@click.option("--fold", metavar="COLUMN", help="Column of folds or runs, as in racer compare.")
@partial(setting_options, name="race")
@forms
@click.pass_context
def race(ctx: click.Context, /, path: Path, **options: Any) -> None:
    """Find the best of given candidates, and drop on the way any that are out of the running.

    FILE is a table of scores (CSV, wide or long; JSON records; what promptfoo eval -o wrote; the
    folder of lm_eval --log_samples, or of logs of inspect_ai): the race looks at them instance by
    instance, and reports how few were needed; from 0 to 1 they are compared by decider mean. Whether
    larger scores are better the file or the score's name says; where neither does, give --maximize
    or --minimize.

    Or, with a program at the end, -- ./solver {parameters} {instance} {seed}, FILE has the
    candidates: a JSON list of objects, or CSV with a column for each parameter. Or it is a
    scenario.toml, as of racer tune, with candidates = "configs.csv".

    Exit code 0: there is a best; 1: another error; 2: wrong usage or setting; 3: no best; 130
    after Ctrl-C, which prints the result so far, or keeps it in the store.
    """
    from racer.run.calls import race as run  # noqa: PLC0415  (a second)

    form = {name: options.pop(name) for name in ("as_json", "csv", "configurations")}
    columns = {name: options.pop(name) for name in Columns._fields}
    is_scenario = path.suffix.lower() == ".toml"
    with reported():
        given = given_settings(ctx, options)
        is_program = is_scenario or {"command", "evaluate"} & given.keys()
        if not is_scenario and "candidates" in given:
            raise SettingError("--candidates is for a scenario.toml: here FILE has them")
        if is_program and not is_scenario:
            given["candidates"] = str(path)
        base = read_scenario(str(path)) if is_scenario else Scenario()
        found = base.updated(checked(given, THE_OPTIONS, Path.cwd()))
        if is_program and (named := [name for name in columns if columns[name] is not None]):
            raise SettingError(f"{flag_of(named[0])} is for recorded scores; here is a program")
        found = Scenario({"seed": 0, "order": "shuffled", **found.settings})
        if is_program:
            answered(run, found.race_arguments(), progress=at_terminal(), **form)
            return
        _check_options(found.settings, form)
        arguments, direction = _recorded(path, columns, found)
        with given_if_interrupted({}, **form):
            result = run(**arguments, progress=False)
        if not form["as_json"]:
            say(_found(result, direction))
        give(result, {}, **form)


def _check_options(given: Mapping[str, Any], form: Mapping[str, Any]) -> None:
    """Raise SettingError for an option that recorded scores have no use for."""
    if more := [name for name in given if name not in _OF_SCORES]:
        raise SettingError(f"{flag_of(more[0])} is for a program, such as -- ./solver {{instance}}")
    if given.get("decider") not in {None, *OF_ONE_COST, *TESTS}:
        raise SettingError(f"--decider {given['decider']} is for several metrics of a program")
    if form["configurations"] is not None:
        raise SettingError("--configurations is for a program: scores have names only")


def _recorded(
    path: Path, columns: Mapping[str, str | None], found: Scenario
) -> tuple[dict[str, Any], Direction]:
    """Return the arguments of a race on recorded scores, of instances with all of them."""
    from racer.evaluate.recorded import RecordedScores  # noqa: PLC0415  (a second)
    from racer.scenario.score_files import read_scores, score_table  # noqa: PLC0415

    goal = found.settings.get("goal")
    maximize = None if goal is None else bool(goal_settings(goal)["maximize"])
    try:
        scores = read_scores(path, **columns)
        table, by_format = score_table(scores), scores.attrs.get(LARGER_IS_BETTER)
        direction = Direction.of(None, maximize, by_format=by_format, values=table.to_numpy())
    except ScoresError as error:
        where = "" if str(path) in str(error) else f"{path}: "
        raise SettingError(f"{where}{error}") from None
    complete = table.dropna()
    if complete.empty:
        raise ScoresError(
            f"{path}: no instance has a score of each of {', '.join(map(str, table))}"
        )
    if len(complete) < len(table):
        left = len(table) - len(complete)
        tell(f"racer: {left} of {len(table)} instances have no score of some candidate: left out")
    settings = dict(found.settings)
    if ((complete >= 0) & (complete <= 1)).all(axis=None):
        settings.setdefault("decider", "mean")
    of_instances = {name: settings[name] for name in ("order", "generalize") if name in settings}
    given: dict[str, Any] = {
        "candidates": list(complete),
        "evaluate": RecordedScores(complete),
        "instances": Instances(list(complete.index), deterministic=True, **of_instances),
        "goal": "max" if direction.maximize else "min",
        "decider": Scenario(settings).decider,
        "budget": settings.get("budget", complete.size),
        **{name: settings[name] for name in ("seed", "store") if name in settings},
    }
    return given, direction


def _found(result: RaceResult, direction: Direction) -> str:
    """Return which scores are better, which candidate has which number, and how many were looked at."""
    means = result.table.mean()
    rows = [
        (f"#{i}", name, result.table[i].count(), number(means[i]))
        for i, name in enumerate(result.configs)
    ]
    of = len(result.configs) * len(result.instances or ())
    used = f"{result.evaluations} of {of} scores were looked at: {1 - result.evaluations / of:.0%} saved."
    grid = Grid.of(("candidate", "name", "instances", "mean on these"), rows, left=["name"])
    said = f"Of scores, {direction.words}."
    return as_text([said, Section("Candidates", (grid,)), used], answer_width())
