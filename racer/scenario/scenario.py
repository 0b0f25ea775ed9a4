"""A scenario: settings from files and options, and the arguments of `racer.tune` that they are."""

from __future__ import annotations

import pkgutil
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer.core.budget import Budget
from racer.core.runtime import Runtime
from racer.errors import BudgetError, ObjectiveError, SettingError
from racer.evaluate.command.command import Command
from racer.results.tuning import TuneResult
from racer.scenario.instances import not_files, read_instances
from racer.scenario.irace_options import THE_OPTIONS, from_irace, merged
from racer.scenario.r_file import read_assignments
from racer.scenario.settings import TESTS, checked
from racer.space.irace.table import read_configurations
from racer.space.space import Space
from racer.store.load import load_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.evaluate.objective import Objective
    from racer.store.load import Recorded

STORE = "racer.db"
USUAL = ("scenario.toml", "scenario.txt")
"""Names of scenarios that need not be given."""

_SQLITE = b"SQLite format 3\0"
_PASSED = (
    "elites",
    "first_test",
    "each_test",
    "block_size",
    "maximize",
    "instance_order",
    "timeout",
    "memory",
    "retries",
    "deterministic",
    "seed",
)


@dataclass(frozen=True)
class Scenario:
    """Settings, checked one by one, where relative paths begin, and notes on what was changed."""

    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def updated(self, settings: Mapping[str, Any], notes: tuple[str, ...] = ()) -> Scenario:
        """Return it with other settings; a budget of one kind replaces one of the other."""
        replaced = {"budget", "seconds"} if {"budget", "seconds"} & settings.keys() else set()
        if {"command", "evaluate"} & settings.keys():
            replaced |= {"command", "evaluate", "protocol", "reads", "cost"}
        kept = {name: value for name, value in self.settings.items() if name not in replaced}
        return Scenario({**kept, **settings}, (*self.notes, *notes))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `racer.tune`; RacerError for files that cannot be used."""
        given = self.settings
        space = self.space()
        found: dict[str, Any] = {
            "space": space,
            "evaluate": self.evaluate(space),
            "instances": self.instances("instances"),
            "budget": self._budget(),
            "n_jobs": given.get("jobs", 1),
            **{name: given[name] for name in _PASSED if name in given},
        }
        if "decider" in given:
            found["decider"] = TESTS.get(given["decider"], given["decider"])
        if "runtime" in given:
            runtime = given["runtime"]
            found["runtime"] = Runtime(
                **(runtime if isinstance(runtime, dict) else {"limit": runtime})
            )
        if given.get("initial"):
            found["initial"] = self.initial(space)
        elif space.default is not None:
            found["initial"] = [space.default]
        if given.get("test_instances"):
            found["test_instances"] = self.instances("test_instances")
        if given.get("store"):
            found["store"] = given["store"]
        return found

    def made(self, recorded: Recorded, folder: str) -> bool:
        """Say whether what is recorded has this command, space and instances; RacerError if unfit.

        Without a folder of its own, it may have been run in `folder`. Nothing is imported: what
        evaluates with a function has made nothing.
        """
        command = recorded.settings.get("command")
        result = recorded.result
        if not isinstance(result, TuneResult) or command is None or "command" not in self.settings:
            return False
        given = self.arguments()
        ours = given["evaluate"].settings
        if "cwd" not in self.settings and command["cwd"] == folder:
            ours["cwd"] = folder
        made = {
            "command": ours,
            "space": given["space"].to_json(),
            "test_instances": given.get("test_instances") or [],
        }
        return list(result.instances or ()) == (given["instances"] or []) and all(
            recorded.settings.get(name) == value for name, value in made.items()
        )

    def space(self) -> Space:
        """Return the space of the parameter file."""
        path = self.settings.get("space")
        if not path:
            raise SettingError("no parameters are named: give space = .., a parameter file")
        if path.endswith((".pcs", ".json")):
            if self.settings.get("forbidden"):
                raise SettingError("forbidden is for parameter files of irace: put it into space")
            return Space.read_pcs(path) if path.endswith(".pcs") else Space.read_configspace(path)
        digits = self.settings.get("digits", 4)
        return Space.read_irace(path, digits=digits, forbidden=self.settings.get("forbidden"))

    def initial(self, space: Space) -> list[Any]:
        """Return the configurations to begin with, and the results of earlier runs."""
        found: list[Any] = []
        for path in self.settings["initial"]:
            if _is_database(path):
                found.append(load_record(path).result)
            else:
                found += read_configurations(path, space)
        return found

    def instances(self, name: str) -> list[Any] | None:
        """Return training or held-out instances; None without any."""
        value = self.settings.get(name)
        if not value:
            return None
        if isinstance(value, list):
            return value
        folder = self.settings.get(f"{name}_folder")
        is_line = self.settings.get("protocol") == "irace"
        return read_instances(value, folder, name, is_line=is_line)

    def missing_instances(self) -> list[str]:
        """Return what should be a file, as it is a line with a folder before it, and is none."""
        is_line = self.settings.get("protocol") == "irace"
        return [
            path
            for name in ("instances", "test_instances")
            if self.settings.get(f"{name}_folder")
            for path in not_files(self.instances(name) or (), is_line=is_line)
        ]

    def _budget(self) -> Budget:
        evaluations, seconds = self.settings.get("budget"), self.settings.get("seconds")
        if not evaluations and not seconds:
            raise BudgetError("no budget is named: give budget = .., evaluations, or seconds = ..")
        return Budget(evaluations=evaluations or None, seconds=seconds or None)

    def evaluate(self, space: Space) -> Objective:
        """Return the objective: the command, or the function, which is imported now."""
        given = self.settings
        if "evaluate" in given:
            if "command" in given:
                raise SettingError("evaluate and command are both there: give one of them")
            return _imported(given["evaluate"])
        if "command" not in given:
            raise SettingError("nothing is named that evaluates: give command = [..], a program")
        protocol = given.get("protocol", "command")
        settings = {name: given[name] for name in ("reads", "cost") if name in given}
        argv = given["command"]
        switches = space.switches if protocol != "command" or "{parameters}" in argv else {}
        command = Command(
            argv,
            switches=switches,
            protocol=None if protocol == "command" else protocol,
            cwd=given.get("cwd"),
            **settings,
        )
        _check_script(argv[0])
        return command


def _imported(name: str) -> Objective:
    """Import module:function, also from the present folder; it is the user's own scenario."""
    if ":" not in name:
        raise SettingError(f"evaluate = {name!r}: give module:function")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Objective = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ObjectiveError(f"evaluate = {name!r} cannot be imported: {error}") from error
    finally:
        sys.path.pop(0)
    return found


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _check_script(program: str) -> None:
    """Refuse a script whose first line ends as Windows has it: the system finds no interpreter."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123
            first = file.readline(256)
    except OSError:
        return  # on PATH, or found by its values
    if first.startswith(b"#!") and first.endswith(b"\r\n"):
        raise SettingError(
            f"the program {program!r} begins with {first.decode('utf-8', 'replace').strip()!r} and a "
            "carriage return (CRLF), so that no interpreter is found: run dos2unix on it"
        )


def read_scenario(path: str, options: Mapping[str, tuple[Any, int]] | None = None) -> Scenario:
    """Return the scenario in a file: scenario.toml, or irace's scenario.txt.

    `options` are irace's, and count instead of those of the file; their paths begin here.
    """
    here, folder = Path.cwd(), Path(path).absolute().parent
    base, theirs = Scenario({"store": str(folder / STORE)}), options or {}
    if Path(path).suffix.lower() == ".toml":
        base = base.updated(checked(_toml(path), path, folder))
        settings, notes = from_irace(theirs, THE_OPTIONS, complete=False)
        return base.updated(checked(settings, THE_OPTIONS, here), tuple(notes))
    settings, notes = from_irace(merged(read_assignments(path), theirs, here), path)
    return base.updated(checked(settings, path, folder), tuple(notes))


def _toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} is not TOML: {error}") from None
