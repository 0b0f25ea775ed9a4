"""Every setting of a scenario as an option, and irace's long flags beside them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer.errors import SettingError
from racer.scenario.irace_options import OPTIONS, THE_OPTIONS, from_irace
from racer.scenario.scenario import STORE, USUAL, Scenario, read_scenario
from racer.scenario.settings import SETTINGS, checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.scenario.settings import Setting


def _distance(text: str) -> int | str:
    return text if text == "growing" else int(text)


_TYPES: dict[str, Any] = {
    "whole": int,
    "distance": _distance,
    "number": float,
    "flag": click.BOOL,
    "runtime": float,
}
_IRACE = "irace_"
_SHORT = 5  # choices that are shown as they are


class WithCommand(click.Command):
    """A command whose arguments after -- are a program and its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what follows --."""
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


def flag_of(name: str) -> str:
    """Return the option of a setting."""
    return f"--{name.replace('_', '-')}"


def _option(name: str, setting: Setting) -> Any:
    more: dict[str, Any] = {"type": _TYPES.get(setting.kind, str)}
    says = setting.says
    if setting.kind in {"path", "paths", "instances"}:
        more["metavar"] = "PATH"
    if setting.choices:
        more = {"type": click.Choice(setting.choices)}
    if len(setting.choices) > _SHORT:
        more["metavar"] = "NAME"
        says = f"{says.rstrip('.')}: {', '.join(setting.choices)}."
    if setting.kind == "flag":  # irace's have a value, ours need none
        more |= {"is_flag": False, "flag_value": "true"}
    if setting.kind == "paths":
        more["multiple"] = True
    return click.option(flag_of(name), name, help=says, **more)


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add all settings as options, and irace's flags that have other names, unlisted."""
    ours = {flag_of(name) for name in SETTINGS}
    for name, option in reversed(list(OPTIONS.items())):
        flag = f"--{option.flag}"
        if option.flag and flag not in ours and name != "quiet":
            command = click.option(flag, f"{_IRACE}{name}", hidden=True)(command)
    for name, setting in reversed(list(SETTINGS.items())):
        command = _option(name, setting)(command)
    return click.argument("scenario", type=click.Path(dir_okay=False), required=False)(command)


def scenario_of(ctx: click.Context, path: str | None, options: dict[str, Any]) -> Scenario:
    """Return the scenario of a file, if there is one, with what the options say instead."""
    given: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None and value != ()
    }
    theirs = {
        name.removeprefix(_IRACE): (value, 0)
        for name, value in given.items()
        if name.startswith(_IRACE)
    }
    ours = {name: value for name, value in given.items() if not name.startswith(_IRACE)}
    path = theirs.pop("scenarioFile", (path, 0))[0] or path
    if isinstance(ours.get("command"), str):
        ours["command"] = shlex.split(ours["command"])
    if "command" in ctx.meta:
        ours["command"] = ctx.meta["command"]
    if path is None and "space" not in ours and "parameterFile" not in theirs:
        path = next((name for name in USUAL if Path(name).is_file()), None)
        if path is None:
            raise SettingError(
                f"there is no {' or '.join(USUAL)} here: name a scenario, or give --space, a parameter "
                "file; racer init writes a scenario to begin with"
            )
    if path is None:
        settings, notes = from_irace(theirs, THE_OPTIONS, complete=False)
        ours, base = {**settings, **ours}, Scenario({"store": STORE}, tuple(notes))
    else:
        base = read_scenario(path, theirs)
    return base.updated(checked(ours, THE_OPTIONS, Path.cwd()))
