"""Wrong words on the command line, and wrong scenarios."""

from __future__ import annotations

import contextlib
import io
import json
import re
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.wrong_calls.kinds import EVALUATIONS, INF, NAN, SCORES, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

WRONG_TEXT = {
    "integer": ["x", "1.5", "nan", "", "-5", "1e-9"],
    "integer range": ["x", "1.5", "nan", "", "-5"],
    "float": ["x", "nan", "inf", "-1", ""],
    "float range": ["x", "nan", "-1", ""],
    "choice": ["nonesuch", ""],
    "boolean": ["perhaps", "3"],
}


def command_lines(folder: Path) -> Iterator[Call]:
    """Yield calls of every command, with wrong values of every option, in a folder of their own."""
    from racer.cli.commands import _COMMANDS, main  # noqa: PLC0415

    touched = folder / "evaluated"
    scenario = _write_files(folder, touched)
    _in_process(main, ["tune", "scenario.toml", "--store", "program.db"], touched)
    with contextlib.chdir(folder):
        _in_process(main, ["bundle", "program.db", "-o", "run.zip"], touched)

    def call(argument: str, value: str, *words: str, names: str) -> Call:
        def run() -> object:
            touched.unlink(missing_ok=True)
            with contextlib.chdir(folder):
                return _in_process(main, [*words], touched)

        return Call(f"racer {words[0]}", argument, value, run, names)

    for name in sorted(_COMMANDS):
        command = main.get_command(click.Context(main), name)
        if command is not None:
            yield call("flag", "--nonesuch", name, "--nonesuch", *_WORKS[name], names="nonesuch")
            yield from _wrong_files(command, name, call)
            for option in command.params:
                if isinstance(option, click.Option) and not option.is_flag:
                    yield from _wrong_values(option, name, call)
    yield from _scenarios(folder, scenario, call)


def _write_files(folder: Path, touched: Path) -> dict[str, Any]:
    """Write what the commands read; return the settings of the scenario."""
    runner = folder / "run.sh"
    runner.write_text(f"#!/bin/sh\ntouch {touched}\necho $1\n")
    runner.chmod(0o755)
    (folder / "space.txt").write_text('x "--x " r (0, 1)\nn "--n " i (1, 9)\n')
    (folder / "list.txt").write_text("one\ntwo\nthree\n")
    rows = [f"d{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(SCORES)]
    (folder / "scores.csv").write_text("".join(["data,a,b,c\n", *rows]))
    (folder / "candidates.json").write_text('[{"x": 1}, {"x": 2}]')
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 8)
    (folder / "empty").write_bytes(b"")
    scenario = {"space": "space.txt", "command": ["./run.sh", "{x}", "{instance}"], "budget": 40}
    scenario |= {"instances": "list.txt", "store": ""}
    _write_toml(folder / "scenario.toml", scenario)
    return scenario


def _wrong_files(command: click.Command, name: str, call: Callable[..., Call]) -> Iterator[Call]:
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    if not arguments or name in {"bench", "init"}:
        return
    for file in ("binary.bin", "empty", ".", "nowhere", "list.txt", "candidates.json"):
        if file not in _FITTING.get(name, ()):
            shown = "directory|folder" if file == "." else re.escape(file)
            shown += "|parameters.txt" if file == "empty" else ""
            argument = arguments[0].name or ""
            yield call(argument, file, name, file, *_WORKS[name][1:], names=shown)


def _wrong_values(option: click.Option, name: str, call: Callable[..., Call]) -> Iterator[Call]:
    flag = max(option.opts, key=len)
    pattern = f"{re.escape(flag)}|{re.escape(flag[2:])}|{option.name}"
    values = list(WRONG_TEXT.get(option.type.name, []))
    if option.type.name == "path" and option.name not in _OUTPUTS:
        values = ["nowhere"] if option.name == "cwd" else ["nowhere", "binary.bin"]
        pattern += f"|{'|'.join(values)}"
    for value in values:
        if (flag, value) not in _FINE:
            good, dashes, end = _parted(_WORKS[name])
            yield call(flag, value, name, *good, flag, value, *dashes, *end, names=pattern)


def _parted(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return words before the program, the dashes, and the program."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place : place + 1], words[place + 1 :]


_WORKS = {
    "tune": ["scenario.toml"],
    "check-scenario": ["scenario.toml"],
    "race": [
        *("candidates.json", "--instances", "list.txt", "--budget", "40"),
        *("--", "./run.sh", "{parameters}", "{instance}"),
    ],
    "compare": ["scores.csv"],
    "resume": ["program.db", "--yes", "--budget", "60"],
    "ablation": ["program.db", "--yes", "--source", '{"x": 0.0, "n": 1}'],
    **{name: ["run.db"] for name in ("show", "watch", "report", "check")},
    "export": ["run.db", "--json"],
    "bundle": ["run.db", "-o", "fresh.zip"],
    "verify": ["run.zip"],
    "bench": ["./run.sh", "./run.sh", "--rounds", "1"],
    "demo": ["--candidates", "3", "--budget", "30"],
    "init": ["fresh"],
    "import-irace": ["scenario.txt"],
}
_FITTING = {
    "race": ("candidates.json", "list.txt"),
    "import-irace": ("empty",),
    "verify": ("binary.bin", "empty", "list.txt", "candidates.json"),  # the answer is no
}
_FINE = {("--decider", ""), ("--jobs", "-5")}
_OUTPUTS = {"store", "output", "plot", "csv", "configurations", "into", "instances_folder"}
_OUTPUTS |= {"test_instances_folder", "optuna", "instances", "test_instances", "initial"}


def _scenarios(folder: Path, works: Mapping[str, Any], call: Callable[..., Call]) -> Iterator[Call]:
    """Yield scenario files with a wrong value of each key."""
    from racer.scenario.settings import SETTINGS  # noqa: PLC0415

    by_kind: dict[str, list[Any]] = {
        "path": [3, True, ["a"], {"a": 1}, "a\0b"],
        "paths": [3, True, {"a": 1}, [3], "a\0b"],
        "instances": [3, True, {"a": 1}, "a\0b", []],
        "command": ["x", [], [3], True, {"a": 1}, [""], ["./run.sh", "a\0b"]],
        "codes": [3, [], [-1], [256], ["0"], [1.5], True],
        "text": [3, True, ["a"], {"a": 1}, "nonesuch", ""],
        "whole": ["3", 1.5, True, [3], {"a": 1}, -7, 10**30, NAN],
        "jobs": ["3", 1.5, True, [3], {"a": 1}, -7, 0, 10**30, NAN],
        "distance": ["grow", 0, 1.5, True, [3], -1],
        "number": ["3", True, [3], -1, 0, NAN, INF, {"a": 1}],
        "flag": [1, "true", [True], {"a": 1}, 0.5],
        "runtime": [
            "5",
            True,
            0,
            -1,
            NAN,
            INF,
            [5],
            {"slack": 2},
            {"limit": 5, "x": 1},
            {"limit": "5"},
            {"limit": 5, "slack": 0.1},
            {"limit": 5, "par": "x"},
            {"limit": 5, "utility": 3},
        ],
        "table": [3, "a", [], {}, {"a": 3}, {"a": "up"}, {"a": {"direction": 3}}, {"a": {"x": 1}}],
        "objective": [3, [], {}, "nonesuch", {"pareto": 3}, {"x": 1}, True],
    }
    for number, (key, setting) in enumerate(SETTINGS.items()):
        for place, value in enumerate(by_kind[setting.kind]):
            path = folder / f"s{number}_{place}.toml"
            given = {k: v for k, v in works.items() if not (key == "evaluate" and k == "command")}
            _write_toml(path, {**given, key: value})
            names = f"{key}|{key.replace('_', ' ')}"
            if key in ("objective", "metrics"):
                names += "|metric|objective|reads"
            yield call(f"scenario {key}", str(value)[:30], "tune", path.name, names=names)
    for number, text in enumerate(
        (
            "budget = ",
            "[[[",
            "\0",
            "budgt = 3\n",
            'space = "space.txt"\nspace = "x"\n',
            "x" * 99,
            "é=1",
        )
    ):
        (folder / f"t{number}.toml").write_text(text, encoding="latin-1")
        yield call("scenario", text[:20], "tune", f"t{number}.toml", names=f"t{number}.toml")


def _write_toml(path: Path, values: Mapping[str, Any]) -> None:
    def shown(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k} = {shown(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(shown, value)) + "]"
        if isinstance(value, float) and not np.isfinite(value):
            return str(value)
        return json.dumps(value)

    path.write_text("".join(f"{key} = {shown(value)}\n" for key, value in values.items()))


def _in_process(program: Any, words: list[str], touched: Path) -> object:
    """Run a command; raise a ClickException with what it wrote, if it was refused."""
    err, out = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            program.main(words, prog_name="racer")
        except SystemExit as end:
            code = end.code
    if touched.exists():
        EVALUATIONS.append("one")
    if code in (1, 2):
        raise click.ClickException(err.getvalue() + out.getvalue())
    return f"exit code {code}: {out.getvalue()[-100:]}"
