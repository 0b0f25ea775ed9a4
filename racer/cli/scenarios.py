"""The commands that take a scenario: its settings are options, and so are irace's long flags."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer._checks import instead, read_json
from racer.cli.output import (
    FOLDER,
    NAME,
    Growing,
    Whole,
    forms,
    give,
    given_if_interrupted,
    in_options,
    reported,
    say,
    write_new,
)
from racer.errors import SettingError, StoreError
from racer.scenario.irace_options import OPTIONS, THE_OPTIONS, from_irace, typed
from racer.scenario.r_file import read_assignments
from racer.scenario.scenario import STORE, USUAL, Scenario, read_scenario
from racer.scenario.settings import SETTINGS, checked, takes
from racer.scenario.skeleton import SKELETON, as_toml

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.scenario.settings import Setting


def _goal(text: str) -> Any:
    """Return "min" or "max", metrics of `name=min,name=max`, or an object of JSON."""
    if text.lstrip().startswith("{"):
        try:
            return read_json(text)
        except ValueError as error:
            raise click.BadParameter(f"{text}: {error}") from None
    if "=" not in text:
        return text
    found: dict[str, str] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        name, is_there, direction = part.partition("=")
        if not is_there or name in found:
            what = f"{name!r} is there twice" if is_there else f"{part!r} has no direction"
            raise click.BadParameter(f"{text}: {what}; give error=min,accuracy=max")
        found[name] = direction
    return found


def _names(text: str) -> list[str]:
    """Return names of a list with commas."""
    return [name.strip() for name in text.split(",")]


def _limits(text: str) -> dict[str, Any]:
    """Return limits of `name=0.01,other=2`, or `name<=0.2,other>=3`."""
    found: dict[str, Any] = {}
    for part in _names(text):
        limit = re.fullmatch(r"(.+?)\s*(<=|>=|=)\s*(\S+)", part)
        try:
            number = float(limit[3]) if limit else None
        except ValueError:
            number = None
        if limit is None or number is None:
            raise click.BadParameter(f"{part!r}: give error=0.01, or error<=0.2 as a constraint")
        found[limit[1]] = number if limit[2] == "=" else [limit[2], number]
    return found


def _runtime(text: str) -> Any:
    """Return a limit in seconds, or the table of `limit=60,par=10`."""
    try:
        return float(text)
    except ValueError:
        table = f"runtime = {{{text.strip(' {}')}}}"
    try:
        return tomllib.loads(table)["runtime"]
    except tomllib.TOMLDecodeError:
        raise click.BadParameter(f"{text}: give seconds, 60, or limit=60,par=10") from None


def _codes(text: str) -> list[int]:
    """Return exit codes of a list with commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r}: give exit codes, 10,20") from None


_TYPES: dict[str, Any] = {
    "command": shlex.split,
    "codes": _codes,
    "whole": Whole(),
    "jobs": Whole(),
    "distance": Growing(),
    "number": float,
    "flag": click.BOOL,
    "runtime": _runtime,
    "goal": _goal,
    "names": _names,
    "table": _limits,
}
_IRACE = "irace_"


_GROUPS = {
    "Candidates": "candidates space forbidden digits default initial",
    "On what": "instances instances_folder held_out held_out_folder order block_size deterministic generalize score "
    "algorithm data_set fold",
    "Program": "command protocol reads cost cwd success_codes evaluate",
    "Budget": "budget seconds wall spend n_jobs seed",
    "Goal": "goal maximize pareto within constrained runtime",
    "Races": "decider first_test each_test elites test_elites",
    "Limits of an evaluation": "timeout memory retries",
}
_DEFAULTS = {
    *("digits=4", "order=shuffled", "protocol=command", "reads=stdout", "cost=quality"),
    *("n_jobs=1", "first_test=5", "block_size=1", "retries=0", "success_codes=0"),
}
_DEFAULTS_OF = {
    "tune": {
        *("each_test=1", f"store={STORE}"),
        "decider=best-for-budget; with --runtime bayesian-friedman; of metrics goal-for-budget, front",
    },
    "race": {"seed=0", "decider=bayesian-friedman; of scores from 0 to 1 mean; of metrics by goal"},
}


class WithCommand(click.Command):
    """A command whose arguments after -- are a program and its arguments."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups, if these are the settings of a scenario."""
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        records = {p.name: r for p in options if (r := p.get_help_record(ctx))}
        groups = _GROUPS if "decider" in records else {}
        for title, names in groups.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(n) for n in names.split() if n in records])
        with formatter.section("Output" if groups else "Options"):
            formatter.write_dl(list(records.values()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words after --."""
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = args[at + 1 :]
            args = args[:at]
        ctx.meta["typed"] = shlex.join(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name, names = error.option_name.lstrip("-"), [p.name or "" for p in self.params]
            if hint := instead(name.replace("-", "_"), names, "give --"):
                told = f"No such option: {error.option_name}{hint.replace('_', '-')}"
                raise click.NoSuchOption(error.option_name, told, ctx=ctx) from None
            raise


def flag_of(name: str) -> str:
    """Return the option of a setting."""
    return f"--{name.replace('_', '-')}"


def _option(name: str, setting: Setting, command: str) -> Any:
    flag = [flag_of(name)]
    more: dict[str, Any] = {"type": _TYPES.get(setting.kind, str)}
    says = setting.says
    if name == "store":
        more["type"] = NAME
        flag.append("-o")
    if setting.kind in {"path", "paths", "instances"}:
        more["metavar"] = "PATH"
    if setting.kind == "command":
        more["metavar"] = "TEXT"
    if setting.choices:
        more = {"type": click.Choice(setting.choices)}
    # a few choices are shown as they are
    if len(setting.choices) > 5:
        more["metavar"] = "NAME"
        says = f"{says.rstrip('.')}: {', '.join(setting.choices)}."
    if setting.kind in {"codes", "goal", "names", "runtime", "table"}:
        more["metavar"] = setting.kind.upper()
    if setting.kind == "flag":  # irace's have a value, ours need none
        more |= {"is_flag": False, "flag_value": "true"} if command == "tune" else {"default": None}
        flag = flag if command == "tune" else [f"{flag[0]}/--no-{name}"]
    if setting.kind == "paths":
        more["multiple"] = True
    default = dict(text.split("=") for text in _DEFAULTS | _DEFAULTS_OF[command]).get(name)
    if default is not None:
        says = f"{says.rstrip('.')} [{default}]"
    return click.option(*flag, name, help=says, **more)


def setting_options(command: Callable[..., Any], *, name: str) -> Any:
    """Add the settings that `racer NAME` takes as options."""
    for key, setting in reversed(list(SETTINGS.items())):
        if takes(name, key):
            command = _option(key, setting, name)(command)
    says = "The same as --goal max, or --goal min."
    return click.option("--maximize/--minimize", default=None, help=says)(command)


def _scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add all settings as options, and irace's flags that have other names, unlisted."""
    ours = {flag_of(name) for name in SETTINGS}
    for name, option in reversed(list(OPTIONS.items())):
        flag = f"--{option.flag}"
        if option.flag and flag not in ours and name != "quiet":
            command = click.option(flag, f"{_IRACE}{name}", hidden=True)(command)
    command = setting_options(command, name="tune")
    return click.argument("scenario", type=click.Path(exists=True, dir_okay=False), required=False)(
        command
    )


def given_settings(ctx: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, with the program at the end as command."""
    given: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None and value != ()
    }
    if "maximize" in given:
        if "goal" in given:
            raise SettingError("--goal beside --maximize or --minimize: give one of them")
        given["goal"] = "max" if given.pop("maximize") else "min"
    return given | ({"command": ctx.meta["command"]} if "command" in ctx.meta else {})


def _scenario_of(ctx: click.Context, path: str | None, options: dict[str, Any]) -> Scenario:
    """Return the scenario of a file, if there is one, overridden by the options."""
    given = given_settings(ctx, options)
    theirs = {
        name: (typed(name, value), 0)
        for flag, value in given.items()
        if (name := flag.removeprefix(_IRACE)) != flag
    }
    ours = {name: value for name, value in given.items() if not name.startswith(_IRACE)}
    path = theirs.pop("scenarioFile", (path, 0))[0] or path
    if path is None and "space" not in ours and "parameterFile" not in theirs:
        path = next((name for name in USUAL if Path(name).is_file()), None)
        if path is None:
            raise SettingError(
                f"there is no {' or '.join(USUAL)} here: name a scenario, or give --space, a parameter "
                "file; racer init writes a scenario to begin with"
            )
    if path is None:
        settings, notes = from_irace(theirs, THE_OPTIONS, complete=False)
        checked(settings, THE_OPTIONS, Path.cwd())  # also where another option replaces them
        ours, base = {**settings, **ours}, Scenario({"store": STORE}, tuple(notes))
    else:
        base = read_scenario(path, theirs)
    found = base.updated(checked(ours, THE_OPTIONS, Path.cwd()))
    is_of_irace = path is not None and Path(path).suffix.lower() != ".toml"
    if is_of_irace and "test_elites" not in ours and not found.settings.get("held_out"):
        found = found.without_test_elites()
    space = found.settings.get("space")
    if path is not None and not {"space", "parameterFile"} & {*ours, *theirs}:
        _check_is_there(path, space)
    return found


def _check_is_there(scenario: str, space: str | None) -> None:
    """Raise SettingError for a parameter file that a scenario lacks, maybe as its default."""
    if space and not Path(space).exists():
        raise SettingError(
            f"{scenario}: its parameter file {space!r} is not there: name it in the scenario "
            "(parameterFile, or space in a scenario.toml), or by --space"
        )


@click.command(cls=WithCommand, short_help="Find the best configuration of a program.")
@_scenario_options
@forms
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="List all settings.")
@click.pass_context
def tune(
    ctx: click.Context, /, scenario: str | None, *, quiet: bool, verbose: bool, **options: Any
) -> None:
    """Find the best configuration of a program, or go on where that was interrupted.

    SCENARIO is a scenario.toml, or a scenario.txt of irace; without one, files of that name in this
    folder, or the options. The program may stand at the end: -- ./solver {parameters} {instance}
    {seed}. Each setting is an option, and so are irace's long flags.

    The answer is on standard output, all else on standard error. Exit code 0: there is a best
    configuration; 1: another error; 2: wrong usage or setting; 3: no best; 130, 143, 129:
    interrupted by Ctrl-C, SIGTERM, SIGHUP, and all that was evaluated is in the store.
    """
    from racer.run.calls import tune as run  # noqa: PLC0415  (a second)

    form = {name: options.pop(name) for name in ("as_json", "csv", "configurations")}
    with reported():
        found = _scenario_of(ctx, scenario, options)
        for note in found.notes:
            say(f"racer: {note}", err=True)
        if verbose:
            for name, value in found.settings.items():
                say(f"{name:<22}{value}", err=True)
        answered(run, found.arguments(), progress=not quiet, **form)


def answered(
    run: Callable[..., Any], arguments: dict[str, Any], *, progress: bool, **form: Any
) -> None:
    """Run a scenario, print the answer, and say where it is recorded."""
    from racer.evaluate.command.command import Command  # noqa: PLC0415  (a second)
    from racer.store.reader import OtherStoreError  # noqa: PLC0415

    settings: dict[str, Any] = {}
    if "space" in arguments:
        settings["space"] = arguments["space"].to_json()
    if isinstance(evaluate := arguments["evaluate"], Command):
        settings["command"] = evaluate.settings
    try:
        with given_if_interrupted(settings, **form):
            result = run(**arguments, progress=progress)
    except OtherStoreError as error:
        names = '--store new.db, or store = "new.db" in the scenario'
        raise StoreError(f"{error}: {names}") from error
    if (store := arguments.get("store")) is not None:
        path = shlex.quote(str(store))
        say(f"racer: recorded in {path}; racer show {path} shows it again", err=True)
    give(result, settings, **form)


@click.command(
    "check-scenario", cls=WithCommand, short_help="Read all files of a scenario, and try it."
)
@_scenario_options
@click.pass_context
def check_scenario(ctx: click.Context, /, scenario: str | None, **options: Any) -> None:
    """Read all files of SCENARIO, and try it: two random and all initial configurations.

    Each is run once, on the first instance; its command line, cost and time are printed. The exit
    code is 1 if any of that fails.
    """
    from racer.scenario.trial import tried  # noqa: PLC0415  (a second)

    with reported():
        found = _scenario_of(ctx, scenario, options)
        for note in found.notes:
            say(f"note: {note}")
        failed = 0
        for line, failure in tried(found):
            say(in_options(line) if line.startswith(("note", " ")) else line)
            failed += failure
        if failed:
            say(f"{failed} of the evaluations failed.", err=True)
            sys.exit(1)
        say("The scenario can be used.")


@click.command(short_help="Write a scenario to begin with.")
@click.argument("folder", type=FOLDER, default=".")
def init(folder: Path) -> None:
    """Write a scenario to begin with into FOLDER: it can be run as it is.

    Nothing that is there is overwritten.
    """
    there = [name for name in SKELETON if (folder / name).exists()]
    if there:
        raise click.ClickException(f"{folder / there[0]} is there already: nothing was written")
    for name, text in SKELETON.items():
        write_new(folder / name, text)
        if text.startswith("#!"):
            (folder / name).chmod(0o755)
        say(folder / name)
    say("Now: racer check-scenario, and racer tune, in that folder.", err=True)


@click.command("import-irace", short_help="Convert a scenario of irace to scenario.toml.")
@click.argument("scenario", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_irace(scenario: Path) -> None:
    """Write a scenario.toml beside SCENARIO, a scenario.txt of irace.

    Its comments list ignored and changed options.
    """
    with reported():
        settings, notes = from_irace(read_assignments(scenario), scenario.name)
        target = scenario.with_name("scenario.toml")
        write_new(target, as_toml(settings, notes, scenario.name))
        say(target)
