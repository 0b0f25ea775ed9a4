"""The settings of a scenario: what each is, in a file and as an option of the command line."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from racer._checks import did_you_mean, is_real, is_whole
from racer.core.blocks import InstanceOrder
from racer.deciders.f_race import FRace
from racer.deciders.named import DECIDERS
from racer.deciders.t_race import TRace
from racer.errors import SettingError
from racer.evaluate.command.command import Reads
from racer.evaluate.command.protocols import Cost, ProtocolName

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Kind = Literal[
    "path",
    "paths",
    "instances",
    "command",
    "text",
    "whole",
    "distance",
    "number",
    "flag",
    "runtime",
]

TESTS = MappingProxyType(
    {
        "t-race-bonferroni": TRace(correction="bonferroni"),
        "t-race-holm": TRace(correction="holm"),
        "f-race-last-sign": FRace(last_two="sign"),
    }
)
"""Deciders that irace has names for, or with capping, beside `DECIDERS`."""


_RUNTIME = ("limit", "slack", "par", "utility")


@dataclass(frozen=True)
class Setting:
    """One setting: its kind, what it means, and what it may be."""

    kind: Kind
    says: str
    choices: tuple[str, ...] = ()


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "space": Setting("path", "Parameter file: irace's, or ending in .pcs or .json."),
        "forbidden": Setting("path", "File of what is forbidden, a line each (irace 3)."),
        "digits": Setting("whole", "Decimals of reals, if the parameter file does not say."),
        "instances": Setting("instances", "Folder of instances, or file with a line for each."),
        "instances_folder": Setting("path", "Folder that the lines of instances begin in."),
        "test_instances": Setting("instances", "Held-out instances, as instances."),
        "test_instances_folder": Setting("path", "Folder that the held-out lines begin in."),
        "initial": Setting(
            "paths",
            "Table of configurations to begin with, or the store of an earlier run; or several.",
        ),
        "command": Setting("command", "Program and arguments, as for racer.Command."),
        "protocol": Setting(
            "text", "Whose runner the program is.", ("command", *get_args(ProtocolName))
        ),
        "reads": Setting("text", "Where a command prints its cost.", get_args(Reads)),
        "cost": Setting("text", "What of a runner's output is the cost.", get_args(Cost)),
        "cwd": Setting("path", "Folder in which the program runs."),
        "evaluate": Setting("text", "Instead of a command: a Python function, module:function."),
        "budget": Setting("whole", "Evaluations in all."),
        "seconds": Setting("number", "Seconds of evaluation in all."),
        "seed": Setting("whole", "Repeats the run."),
        "decider": Setting("text", "What eliminates configurations.", (*DECIDERS, *TESTS)),
        "elites": Setting("whole", "Configurations that survive a race."),
        "first_test": Setting("whole", "Blocks before the first test."),
        "each_test": Setting("distance", "Blocks between tests, or growing."),
        "block_size": Setting("whole", "Instances in a row that make a group."),
        "deterministic": Setting("flag", "The program ignores its seed."),
        "maximize": Setting("flag", "Larger is better."),
        "instance_order": Setting("text", "How instances are taken.", get_args(InstanceOrder)),
        "runtime": Setting(
            "runtime",
            "The cost is run time: its limit in seconds, or a table with limit, slack, par, utility.",
        ),
        "timeout": Setting("number", "Seconds that an evaluation may take."),
        "memory": Setting("whole", "Bytes that an evaluation may use."),
        "retries": Setting("whole", "How often an evaluation that failed is tried again."),
        "jobs": Setting("whole", "Evaluations at a time; -1: one for each core."),
        "store": Setting("path", "File in which everything is recorded; empty: none."),
    }
)


def checked(values: Mapping[str, Any], where: str, folder: Path) -> dict[str, Any]:
    """Return settings with paths made absolute; SettingError for what is unknown or unfit."""
    return {name: _checked(name, value, where, folder) for name, value in values.items()}


def _checked(name: str, value: Any, where: str, folder: Path) -> Any:
    setting = SETTINGS.get(name)
    if setting is None:
        raise SettingError(f"{where}: {name!r} is no setting{did_you_mean(name, SETTINGS)}")
    if not _FITS[setting.kind](value):
        raise SettingError(f"{where}: {name} = {value!r}: give {_WANTED[setting.kind]}")
    if setting.choices and value not in setting.choices:
        hint = did_you_mean(value, setting.choices)
        raise SettingError(
            f"{where}: {name} = {value!r}: give one of {', '.join(setting.choices)}{hint}"
        )
    if setting.kind == "command":
        return _command(value, folder)
    if setting.kind == "paths":
        paths = [value] if isinstance(value, str) else value
        return [str(folder / path) for path in paths if path]
    is_path = setting.kind in {"path", "instances"} and isinstance(value, str)
    return str(folder / value) if is_path and value else value


def _command(value: Any, folder: Path) -> list[str]:
    """Return arguments; a program that is named by a path is in the scenario's folder."""
    program, *arguments = value
    if "/" in program and "{" not in program:
        program = str(folder / program)
    return [program, *arguments]


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_runtime(table: dict[str, Any]) -> bool:
    return "limit" in table and table.keys() <= {*_RUNTIME}


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


_FITS: Mapping[Kind, Any] = {
    "path": _is_path,
    "paths": lambda value: _is_path(value) or (_is_list(value) and all(map(_is_path, value))),
    "instances": lambda value: _is_path(value) or _is_list(value),
    "command": lambda value: (
        _is_list(value)
        and all(isinstance(v, str) and v for v in value[:1])
        and all(isinstance(v, str) for v in value)
    ),
    "text": lambda value: isinstance(value, str),
    "whole": is_whole,
    "distance": lambda value: is_whole(value) or value == "growing",
    "number": is_real,
    "flag": lambda value: isinstance(value, bool),
    "runtime": lambda value: is_real(value) or (isinstance(value, dict) and _is_runtime(value)),
}
_WANTED: Mapping[Kind, str] = {
    "path": "a path, as text",
    "paths": "a path, as text, or a list of paths",
    "instances": "a path, as text, or a list of instances",
    "command": "a list of text, the program first",
    "text": "text",
    "whole": "a whole number",
    "distance": 'a whole number, or "growing"',
    "number": "a number",
    "flag": "true or false",
    "runtime": "seconds, or a table with limit, and slack, par or utility",
}
_SCHEMAS: Mapping[Kind, dict[str, Any]] = {
    "path": {"type": "string"},
    "paths": {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1},
    "instances": {"type": ["string", "array"], "minItems": 1},
    "command": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "distance": {"anyOf": [{"type": "integer"}, {"const": "growing"}]},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "runtime": {"type": ["number", "object"], "properties": {key: {} for key in _RUNTIME}},
}


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of scenario.toml, for editors."""
    properties = {
        name: {
            **_SCHEMAS[setting.kind],
            "description": setting.says,
            **({"enum": list(setting.choices)} if setting.choices else {}),
        }
        for name, setting in SETTINGS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "scenario.toml of racer tune",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
