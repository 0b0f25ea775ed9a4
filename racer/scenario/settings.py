"""The settings of a scenario, in a file and as options of the command line."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from racer._checks import MOST_JOBS, did_you_mean, instead, is_one_of, is_real, is_whole
from racer.core.blocks import InstanceOrder
from racer.core.objective import Direction
from racer.deciders.f_race import FRace
from racer.deciders.named import DECIDERS
from racer.deciders.t_race import TRace
from racer.errors import SettingError
from racer.evaluate.command.command import Reads
from racer.evaluate.command.protocols import Cost, ProtocolName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from racer.deciders.decider import Decider

TESTS: dict[str, Decider] = {
    "t-race-bonferroni": TRace(correction="bonferroni"),
    "t-race-holm": TRace(correction="holm"),
    "f-race-last-sign": FRace(last_two="sign"),
}
"""Deciders that irace has names for, or with capping, beside `DECIDERS`."""


_MOST = 10**15  # the largest number that a setting may be
_RUNTIME = ("limit", "slack", "par", "utility")


@dataclass(frozen=True)
class Setting:
    """One setting: its kind, meaning and values.

    Numbers are at least `least`; one of the kind "number" is larger.
    """

    kind: str  # a name in `_KINDS`
    says: str
    choices: tuple[str, ...] = ()
    least: float | None = None  # of a number


_OF_TUNE = {
    *("space", "forbidden", "digits", "held_out", "held_out_folder", "default"),
    *("initial", "elites", "test_elites"),
}

SETTINGS: Mapping[str, Setting] = {
    "candidates": Setting("path", "Configurations to race: JSON list of objects, or CSV."),
    "space": Setting("path", "Parameter file: irace's, or ConfigSpace's, ending in .json."),
    "forbidden": Setting("path", "File of forbidden combinations, a line each (irace 3)."),
    "digits": Setting("whole", "Decimals of reals, if the parameter file has none.", least=0),
    "instances": Setting("instances", "Folder of instances, or file with a line for each."),
    "instances_folder": Setting("path", "Folder of the files that the lines of instances name."),
    "held_out": Setting("instances", "Held-out instances: folder, or file with a line for each."),
    "held_out_folder": Setting("path", "Folder of the files that the held-out lines name."),
    "default": Setting(
        "path", "Table with the configuration in use now, which the tuning has to beat."
    ),
    "initial": Setting(
        "paths",
        "Table of configurations to begin with, or the store of an earlier run; or several.",
    ),
    "command": Setting("command", "Program and arguments, as for racer.Command."),
    "protocol": Setting(
        "text", "The tool that the runner is written for.", ("command", *get_args(ProtocolName))
    ),
    "reads": Setting(
        "text",
        f"Where a command prints its cost: {', '.join(get_args(Reads))}, or the text before it, cost:.",
    ),
    "cost": Setting("text", "The part of a runner's output that is the cost.", get_args(Cost)),
    "cwd": Setting("path", "Folder in which the program runs."),
    "success_codes": Setting("codes", "Exit codes of success: 10,20."),
    "evaluate": Setting("text", "Instead of a command: a Python function, module:function."),
    "budget": Setting("whole", "Evaluations in all.", least=1),
    "seconds": Setting("number", "Seconds of evaluation in all.", least=0),
    "wall": Setting("number", "Seconds of wall time; then no evaluation begins.", least=0),
    "spend": Setting(
        "number", "Money in all; the program prints the price, with reads = json.", least=0
    ),
    "seed": Setting("whole", "Repeats the run.", least=0),
    "decider": Setting("text", "The rule that eliminates configurations.", (*DECIDERS, *TESTS)),
    "elites": Setting("whole", "Configurations that survive a race.", least=1),
    "test_elites": Setting(
        "whole", "Elites evaluated on held-out instances; default: all.", least=1
    ),
    "first_test": Setting("whole", "Blocks before the first test.", least=1),
    "each_test": Setting("distance", "Blocks between tests, or growing.", least=1),
    "block_size": Setting("whole", "Consecutive instances that form a group.", least=1),
    "deterministic": Setting("flag", "The program ignores its seed."),
    "generalize": Setting("flag", "Claims are about instances like these."),
    "goal": Setting(
        "goal",
        "min or max; of metrics that the program prints, with reads = json: a direction for each, or a "
        "table with direction, exact, margin, bounds. Several: a race to the front.",
    ),
    "pareto": Setting("names", "Metrics of the front, if others are recorded only."),
    "within": Setting(
        "table", "By how much other metrics may be worse than the best: error = 0.01."
    ),
    "constrained": Setting("table", 'Limits of other metrics: error = ["<=", 0.2].'),
    "order": Setting("text", "Order of the instances.", get_args(InstanceOrder)),
    "runtime": Setting(
        "runtime",
        "The cost is run time: its limit in seconds, or a table with limit, slack, par, utility.",
    ),
    "timeout": Setting("number", "Seconds that an evaluation may take.", least=0),
    "memory": Setting("whole", "Bytes that an evaluation may use.", least=1),
    "retries": Setting("whole", "Further attempts of an evaluation that failed.", least=0),
    "n_jobs": Setting("jobs", "Evaluations at a time; -1: one for each core."),
    "store": Setting("path", "File that records everything; empty: none."),
}


def takes(command: str, name: str) -> bool:
    """Return whether `racer tune` or `racer race` has a setting."""
    return name not in ({"candidates"} if command == "tune" else _OF_TUNE)


def checked(values: Mapping[str, Any], where: str, folder: Path) -> dict[str, Any]:
    """Return settings with paths made absolute; SettingError for unknown or invalid ones."""
    return {name: _checked(name, value, where, folder) for name, value in values.items()}


def _checked(name: str, value: Any, where: str, folder: Path) -> Any:
    setting = SETTINGS.get(name)
    if setting is None:
        raise SettingError(f"{where}: {name!r} is no setting{instead(name, SETTINGS)}")
    fits, wanted = _KINDS[setting.kind]
    if not fits(value):
        raise SettingError(f"{where}: {name} = {reprlib.repr(value)}: give {wanted}")
    if setting.least is not None and is_real(value):
        open_end = setting.kind == "number"
        if not setting.least <= value <= _MOST or (open_end and value == setting.least):
            sign = ">" if open_end else ">="
            raise SettingError(
                f"{where}: {name} = {reprlib.repr(value)}: give {wanted} {sign} {setting.least:g}"
            )
    if setting.choices and value not in setting.choices:
        hint = did_you_mean(value, setting.choices)
        raise SettingError(
            f"{where}: {name} = {value!r}: give one of {', '.join(setting.choices)}{hint}"
        )
    match setting.kind, value:
        case "command", [program, *arguments]:
            is_path = "/" in program and "{" not in program
            return [str(folder / program) if is_path else program, *arguments]
        case "paths", _:
            paths = [value] if isinstance(value, str) else value
            return [str(folder / path) for path in paths if path]
        case "path" | "instances", str() if value:
            return str(folder / value)
    return value


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_command(value: Any) -> bool:
    return _is_list(value) and bool(value[0]) and all(isinstance(v, str) for v in value)


def _is_runtime(value: Any) -> bool:
    if isinstance(value, dict):
        return "limit" in value and value.keys() <= {*_RUNTIME}
    return is_real(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "path": (_is_path, "a path, as text"),
    "paths": (
        lambda value: _is_path(value) or (_is_list(value) and all(map(_is_path, value))),
        "a path, as text, or a list of paths",
    ),
    "instances": (
        lambda value: _is_path(value) or _is_list(value),
        "a path, as text, or a list of instances",
    ),
    "command": (_is_command, "a list of text, the program first"),
    "codes": (
        lambda value: _is_list(value) and all(is_whole(v) and 0 <= v <= 255 for v in value),
        "a list of exit codes, 0 to 255",
    ),
    "text": (lambda value: isinstance(value, str), "text"),
    "whole": (is_whole, "a whole number"),
    "jobs": (
        lambda value: is_whole(value) and (value == -1 or 1 <= value <= MOST_JOBS),
        f"a whole number from 1 to {MOST_JOBS}, or -1: one for each core",
    ),
    "distance": (
        lambda value: is_whole(value) or value == "growing",
        'a whole number, or "growing"',
    ),
    "number": (is_real, "a number"),
    "flag": (lambda value: isinstance(value, bool), "true or false"),
    "runtime": (_is_runtime, "seconds, or a table with limit, and slack, par or utility"),
    "goal": (
        lambda value: is_one_of(value, get_args(Direction)) or _is_table(value),
        '"min", "max", or a table of names and directions, {error = "min"}',
    ),
    "names": (
        lambda value: _is_list(value) and all(isinstance(v, str) for v in value),
        'a list of names, ["error", "dollars"]',
    ),
    "table": (_is_table, "a table of names and limits, {error = 0.01}"),
}
"""The test of a value and the words of an error, by kind; docs/scenario.schema.json has the kinds, too."""
