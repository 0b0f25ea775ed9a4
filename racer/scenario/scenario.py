"""A scenario: settings from files and options, and the arguments of `racer.tune` that they are."""

from __future__ import annotations

import importlib
import pkgutil
import re
import shlex
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer._files import SQLITE, beginning, read_bytes
from racer.core.arguments import DefaultWith, Instances
from racer.core.budget import Budget
from racer.core.objective import Combined, Constrained, Pareto, Within
from racer.core.runtime import Runtime
from racer.deciders.mean import MeanRace
from racer.deciders.named import as_decider
from racer.errors import BudgetError, ObjectiveError, SettingError
from racer.evaluate.command.command import Command
from racer.evaluate.limits.limits import Limits
from racer.evaluate.objective import describe
from racer.scenario.candidates import read_candidates
from racer.scenario.irace_options import THE_OPTIONS, from_irace, merged
from racer.scenario.r_file import read_assignments
from racer.scenario.settings import TESTS, checked, takes
from racer.space.irace.table import read_configurations
from racer.space.space import Space
from racer.store.load import load_record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import TracebackType

    from racer.evaluate.objective import Objective

STORE = "racer.db"
USUAL = ("scenario.toml", "scenario.txt")
"""Names of scenarios that need not be given."""

_LIMITS = ("budget", "seconds", "wall", "spend")
_OF_A_COMMAND = ("reads", "cost", "cwd", "success_codes", "protocol")
_OF_A_SEARCH = ("elites", "test_elites")
_OF_AN_EVALUATION = ("timeout", "memory", "retries")
_COMMENT = re.compile(r"(?<!\S)#.*")  # of a line of instances
_OF_INSTANCES = ("order", "block_size", "deterministic", "generalize")
_OF_TESTS = ("first_test", "each_test")
_COMBINED: Mapping[str, Callable[..., Combined]] = {
    "pareto": lambda metrics, names: Pareto(metrics, *names),
    "within": lambda metrics, limits: Within(metrics, **limits),
    "constrained": lambda metrics, limits: Constrained(metrics, **limits),
}


@dataclass(frozen=True)
class Scenario:
    """Settings, checked one by one, the folder of relative paths, and notes on changes."""

    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def updated(self, settings: Mapping[str, Any], notes: tuple[str, ...] = ()) -> Scenario:
        """Return it with other settings; evaluations replace seconds, and the reverse.

        A limit of money stays. Another program runs in the same folder; a function in none.
        """
        replaced = {"budget", "seconds"} if {"budget", "seconds"} & settings.keys() else set()
        if {"command", "evaluate"} & settings.keys():
            replaced |= {"command", "evaluate", *_OF_A_COMMAND} - {"cwd"}
        if "evaluate" in settings:
            replaced.add("cwd")
        kept = {name: value for name, value in self.settings.items() if name not in replaced}
        return Scenario({**kept, **settings}, (*self.notes, *notes))

    def without_test_elites(self) -> Scenario:
        """Return it without test_elites, which irace takes without test instances, too."""
        if "test_elites" not in self.settings:
            return self
        kept = {name: value for name, value in self.settings.items() if name != "test_elites"}
        note = "testNbElites is ignored: there are no test instances"
        return Scenario(kept, (*self.notes, note))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `racer.tune`; RacerError for files that cannot be used."""
        given, space = self.settings, self.space()
        found = {"space": space, **self._shared("tune", space.parameters, space.switches)}
        if own := {name: given[name] for name in _OF_A_SEARCH if name in given}:
            from racer.tuner.plan import Search  # noqa: PLC0415  (a race needs no tuner)

            found["search"] = Search(**own)
        if given.get("initial"):
            found["initial"] = self.initial(space)
        return found

    def race_arguments(self) -> dict[str, Any]:
        """Return the arguments of `racer.race`; RacerError for files that cannot be used."""
        if not (path := self.settings.get("candidates")):
            raise SettingError(
                "no candidates are named: give candidates=.., a JSON list of objects, or CSV with "
                "a column for each parameter"
            )
        configs = read_candidates(path)
        names = {name for config in configs for name in config}
        return {"candidates": configs, **self._shared("race", names or None, {})}

    def _shared(
        self, command: str, parameters: Collection[str] | None, switches: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the arguments that are the same for both commands."""
        given = {n: v for n, v in self.settings.items() if takes(command, n)}
        evaluate, instances = self.evaluate(switches), self.instances("instances")
        if isinstance(evaluate, Command):
            try:
                evaluate.check_places(instances, parameters)
            except ObjectiveError as error:  # of a setting here
                raise SettingError(str(error)) from None
        own = {name: given[name] for name in _OF_INSTANCES if name in given}
        if given.get("held_out"):
            own["held_out"] = self.instances("held_out")
        found: dict[str, Any] = {
            "evaluate": evaluate,
            "instances": Instances(instances, **own) if own else instances,
            "budget": self._budget(),
            "n_jobs": given.get("n_jobs", 1),
            "goal": self.goal(),
            "seed": given.get("seed"),
            "decider": self.decider,
        }
        if limits := {name: given[name] for name in _OF_AN_EVALUATION if name in given}:
            found["limits"] = Limits(**limits)
        if given.get("store"):
            found["store"] = given["store"]
        return found

    def goal(self) -> Any:
        """Return the goal, "min" by default; SettingError for parts that do not fit together."""
        given = self.settings
        kinds = [name for name in ("runtime", *_COMBINED) if name in given]
        goal = given.get("goal", "min")
        if not kinds:
            return goal
        if len(kinds) > 1 or (kinds == ["runtime"] and "goal" in given):
            raise SettingError(f"{kinds[0]} beside {[*kinds, 'goal'][1]}: give one of them")
        if kinds == ["runtime"]:
            return Runtime.of(given["runtime"])
        if not isinstance(goal, Mapping):
            raise SettingError(
                f'{kinds[0]} needs the direction of each metric: goal = {{error = "min", ..}}'
            )
        return _COMBINED[kinds[0]](goal, given[kinds[0]])

    @property
    def decider(self) -> Any:
        """The decider, with the tests that are given; None: the default one."""
        name = self.settings.get("decider", "")
        found = TESTS.get(name, name) or None
        if name == "mean" and self.settings.get("generalize"):
            found = MeanRace(population=True)
        tests = {n: self.settings[n] for n in _OF_TESTS if n in self.settings}
        if not tests:
            return found
        known: Any = None if found is None else as_decider(found)
        return DefaultWith(tests) if known is None else replace(known, **tests)

    def _check_files(self) -> None:
        """Raise SettingError for a file that is named and not there."""
        for name in ("space", "forbidden", "default", "initial"):
            given = self.settings.get(name) or []
            for path in [given] if isinstance(given, str) else given:
                if not Path(path).exists():
                    raise SettingError(f"{name} = {path!r}: there is no such file")

    def space(self) -> Space:
        """Return the space of the parameter file, with the default of the scenario."""
        space, path = self._space(), self.settings.get("default")
        if not path:
            return space
        found = read_configurations(path, space)
        if len(found) != 1:
            raise SettingError(
                f"default = {path!r}: {len(found)} configurations are in it; give the one in use"
            )
        return Space(
            space.parameters,
            conditions=space.conditions,
            forbidden=space.forbidden,
            switches=space.switches,
            default=found[0],
        )

    def _space(self) -> Space:
        path = self.settings.get("space")
        if not path:
            raise SettingError("no parameters are named: give space=.., a parameter file")
        if path.endswith(".pcs"):
            raise SettingError(
                f"space = {path!r}: give ConfigSpace's JSON; docs/space_files.md says how"
            )
        is_json = path.endswith(".json")
        if is_json:
            if self.settings.get("forbidden"):
                raise SettingError("forbidden is for parameter files of irace: put it into space")
            if "digits" in self.settings:
                raise SettingError("digits is for parameter files of irace: leave it out")
        self._check_files()
        if is_json:
            return Space.read_configspace(path)
        digits = self.settings.get("digits", 4)
        return Space.read_irace(path, digits=digits, forbidden=self.settings.get("forbidden"))

    def initial(self, space: Space) -> list[Any]:
        """Return the configurations to begin with, and the results of earlier runs."""
        found: list[Any] = []
        for path in self.settings["initial"]:
            if beginning(path).startswith(SQLITE):
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
            if self.settings.get(f"{name}_folder"):
                raise SettingError(
                    f"{name}_folder is for a file of {name}, and {name} is a list: write the "
                    "folder into its items"
                )
            return value
        return instances_in(
            value, self.settings.get(f"{name}_folder"), name, is_line=self._has_lines
        )

    @property
    def _has_lines(self) -> bool:
        """Whether instances will be split as a shell would."""
        return self.settings.get("protocol") == "irace"

    def missing_instances(self) -> list[str]:
        """Return the missing file that a line with a folder before it names."""
        both = ("instances", "held_out")
        named = [name for name in both if self.settings.get(f"{name}_folder")]
        found = []
        for line in (line for name in named for line in self.instances(name) or ()):
            with suppress(ValueError):  # a quote that does not end is refused where it is used
                path = shlex.split(line)[0] if self._has_lines else line
                if not Path(path).exists():
                    found.append(path)
        return found

    def _budget(self) -> Budget:
        evaluations, seconds, wall, spend = (self.settings.get(name) or None for name in _LIMITS)
        if not any((evaluations, seconds, wall, spend)):
            raise BudgetError(
                "no budget is named: give budget=.. (evaluations), seconds=.. or wall=.."
            )
        return Budget(evaluations=evaluations, seconds=seconds, wall=wall, spend=spend)

    def evaluate(self, switches: Mapping[str, str]) -> Objective:
        """Return the objective: the command, or the function, which is imported now."""
        given = self.settings
        if "evaluate" in given:
            if "command" in given:
                raise SettingError("evaluate and command are both there: give one of them")
            if of_command := [name for name in _OF_A_COMMAND if name in given]:
                raise SettingError(f"{of_command[0]} is for a command, and evaluate is a function")
            return _imported(given["evaluate"])
        if "command" not in given:
            raise SettingError(
                "no objective: set command = [..], a program, or evaluate = 'module:function'; on a "
                "command line, end with -- ./program {parameters} {instance} {seed}"
            )
        protocol = given.get("protocol", "command")
        settings = {name: given[name] for name in _OF_A_COMMAND[:-1] if name in given}
        argv = given["command"]
        has_switches = protocol != "command" or "{parameters}" in argv
        runner = None if protocol == "command" else protocol
        switches = switches if has_switches else {}
        command = Command(argv, switches=switches, protocol=runner, **settings)
        _check_script(argv[0])
        return command


def instances_in(path: str, folder: str | None, where: str, *, is_line: bool) -> list[str]:
    """Return the files of a folder, sorted, or the lines of a file, with their folder before them.

    Hidden files, such as .gitkeep, and hidden folders are left out.
    `is_line`: they will be split by a shell's rules, so text with blanks is quoted, and the folder
    need not be there: irace has a default for it.
    """
    place = Path(path)
    if folder is not None and not Path(folder).is_dir() and not (is_line and place.exists()):
        raise SettingError(f"{where}_folder = {folder!r}: there is no such folder")
    if place.is_dir():
        files = sorted(str(file) for file in place.rglob("*") if _is_shown(file, place))
        found = [shlex.quote(file) if is_line else file for file in files]
    else:
        found = _instance_lines(place, folder, where, is_line=is_line)
    if not found:
        what = "no files are in this folder" if place.is_dir() else "no lines are in this file"
        raise SettingError(f"{where} = {path!r}: {what}")
    return found


def _is_shown(file: Path, folder: Path) -> bool:
    """Return True for a file whose name, within the folder, has no part that begins with a dot."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not hidden and file.is_file()


def _instance_lines(place: Path, folder: str | None, where: str, *, is_line: bool) -> list[str]:
    try:
        text = read_bytes(place).decode("utf-8-sig")
    except OSError as error:
        raise SettingError(f"{where} = {str(place)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SettingError(f"{where} = {str(place)!r} is not UTF-8 text: {error.reason}") from None
    lines = [line for raw in text.split("\n") if (line := _COMMENT.sub("", raw).strip())]
    if folder is None:
        return lines
    prefix = folder if folder.endswith("/") else f"{folder}/"
    return [(shlex.quote(prefix) if is_line else prefix) + line for line in lines]


def _imported(name: str) -> Objective:
    """Import module:function, also from the present folder; it is the user's own scenario."""
    if ":" not in name:
        raise SettingError(f"evaluate = {name!r}: give module:function")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Objective = pkgutil.resolve_name(name)
    except (Exception, SystemExit) as error:
        why = describe(error.with_traceback(_after_import(error.__traceback__)), where=True)
        raise ObjectiveError(f"evaluate = {name!r} cannot be imported: {why}") from error
    finally:
        with suppress(ValueError):  # the module may have changed the path itself
            sys.path.remove(here)
    return found


def _after_import(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback after the import itself; None if no module was run."""
    importing = (__file__, pkgutil.__file__, importlib.__file__)
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if path not in importing and not path.startswith("<frozen "):
            break
        trace = trace.tb_next
    return trace


def _check_script(program: str) -> None:
    """Refuse a script whose first line ends as Windows has it: the system finds no interpreter."""
    first, end, _ = beginning(program).partition(b"\n")
    if first.startswith(b"#!") and first.endswith(b"\r") and end:
        raise SettingError(
            f"the program {program!r} begins with {first.decode('utf-8', 'replace').strip()!r} and a "
            "carriage return (CRLF), so that no interpreter is found: run dos2unix on it"
        )


def read_scenario(path: str, options: Mapping[str, tuple[Any, int]] | None = None) -> Scenario:
    """Return the scenario in a file: scenario.toml, or irace's scenario.txt.

    `options` are irace's, and count instead of the file's; their paths begin here.
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
        return tomllib.loads(read_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise SettingError(f"{path} is nested too deeply") from None
    except ValueError as error:  # of TOML, of UTF-8, of a number with thousands of digits
        raise SettingError(f"{path} is not TOML: {error}") from None
