"""Calls and output of other tools' programs: irace, AClib, ParamILS, SMAC."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from racer.errors import ObjectiveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.evaluate.command.process import Printed
    from racer.evaluate.outcome import Status

ProtocolName = Literal["irace", "aclib", "paramils", "smac"]
Cost = Literal["quality", "runtime"]
MARKS = ("candidate", "instance_id", "seed", "instance", "bound", "parameters")
NO_BOUND = 2147483647  # seconds: what a runner is told that must be told some

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(NUMBER)
_INFINITE = re.compile(r"[+]?inf(inity)?", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'")  # in which a shell expands nothing
_EXPANDED = re.compile(r"[$*?~;|><&()`\n]|(?:^|\s)#")


class Answer(NamedTuple):
    """The answer of a program: a value if the status is "ok", else the reason."""

    status: Status
    value: float = math.nan
    why: str = ""
    time: float | None = None  # seconds, if it says that beside
    metrics: dict[str, Any] | None = None  # instead of a value


Reader = Callable[["Printed", Cost], Answer]


@dataclass(frozen=True)
class Protocol:
    """Arguments after the runner, how parameters are written there, and how output is read."""

    arguments: tuple[str, ...]
    switch: str
    read: Reader
    is_line: bool = False  # the arguments are one line of text, split as a shell would


def _number(text: str) -> float:
    value = float(text) if _PLAIN.fullmatch(text) else math.nan
    return value if math.isfinite(value) else math.nan


def read_stdout(out: Printed, _cost: Cost) -> Answer:
    """Read a number that is all of standard output."""
    return _one_number(out.end.strip(), "on standard output", whole=not out.left_out)


def read_last_line(out: Printed, _cost: Cost) -> Answer:
    """Read a number that is the last line which is not blank."""
    _, newline, text = out.end.strip().rpartition(b"\n")
    return _one_number(text.strip(), "in the last line", whole=not out.left_out or bool(newline))


def read_json(out: Printed, _cost: Cost) -> Answer:
    """Read an object of metrics, or a number, in JSON that is the last line which is not blank."""
    _, newline, text = out.end.strip().rpartition(b"\n")
    said = None
    if newline or not out.left_out:
        with suppress(ValueError, RecursionError):
            said = json.loads(text)
    if isinstance(said, dict):
        return Answer("ok", metrics=said)
    if isinstance(said, int | float) and not isinstance(said, bool) and math.isfinite(said):
        return Answer("ok", float(said))
    return Answer("invalid", why='no object in JSON, {"name": number, ..}, is the last line')


def labelled(label: str) -> Reader:
    """Return a reader of the number after a label, such as cost:, on the last line that begins so."""

    def read(out: Printed, _cost: Cost) -> Answer:
        found = _last(rf"^\s*{re.escape(label)}(.*)$", out) or ""
        return _one_number(found.strip().encode(), f"after {label!r}", whole=True)

    return read


def read_nothing(_out: Printed, cost: Cost) -> Answer:
    """Ignore the output of a program whose CPU time is the cost."""
    if cost == "runtime":
        return Answer("ok")
    return Answer("invalid", why="reads='nothing' takes no cost from it")


READERS: dict[str, Reader] = {
    "stdout": read_stdout,
    "last-line": read_last_line,
    "json": read_json,
    "nothing": read_nothing,
}


def _one_number(text: bytes, where: str, *, whole: bool) -> Answer:
    value = _number(text.decode("ascii", "replace")) if whole else math.nan
    if math.isnan(value):
        return Answer("invalid", why=f"not one finite number is {where}")
    return Answer("ok", value)


def _read_irace(out: Printed, _cost: Cost) -> Answer:
    """Read "cost" or "cost time"; Inf rejects."""
    words = [] if out.left_out else out.end.decode("utf-8", "replace").split()
    if words and len(words) <= 2 and all(_number(word) >= 0.0 for word in words[1:]):
        if _INFINITE.fullmatch(words[0]):
            return Answer("rejected", why="it printed Inf: the configuration is rejected")
        if not math.isnan(value := _number(words[0])):
            time = _number(words[-1]) if len(words) > 1 else None
            return Answer("ok", value, time=time)
    return Answer(
        "invalid",
        why='standard output is not one number, the cost, or two, "cost time", and nothing else',
    )


_UNSOLVED: Mapping[str, Status] = MappingProxyType(
    {
        "TIMEOUT": "timeout",
        **dict.fromkeys(("MEMOUT", "MEMORYOUT"), "memory"),
        **dict.fromkeys(("CRASHED", "ABORT", "KILLED"), "failed"),
    }
)


def _judged(status: Any, value: Any, cost: Cost) -> Answer:
    said = str(status).strip().rpartition(".")[2].upper()  # StatusType.SUCCESS
    if said in _UNSOLVED:
        return Answer(_UNSOLVED[said], why=f"it says {said}")
    if said not in ("SAT", "UNSAT", "SUCCESS", "SOLVED", "SATISFIABLE", "UNSATISFIABLE"):
        return Answer("invalid", why=f"it says the status {str(status)[:50]!r}, which is not known")
    number = _number(str(value).strip())
    if math.isnan(number):
        return Answer("invalid", why=f"it says {said}, but its {cost} is no finite number")
    return Answer("ok", number)


def _last(pattern: str, out: Printed) -> str | None:
    """Return the text after a mark on the last line that has it."""
    found = re.findall(pattern, out.end.decode("utf-8", "replace"), re.MULTILINE)
    return found[-1] if found else None


def _read_aclib(out: Printed, cost: Cost) -> Answer:
    """Read "Result of this algorithm run: {json}"."""
    text = _last(r"^\s*Result of this algorithm run:(.*)$", out)
    try:
        said = json.loads(text or "")
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return Answer("invalid", why='no line "Result of this algorithm run: {..}" is there')
    key = "cost" if cost == "quality" else "runtime"
    return _judged(said.get("status"), said.get(key), cost)


def _read_paramils(out: Printed, cost: Cost) -> Answer:
    """Read "Result for ParamILS: status, runtime, runlength, quality, seed"."""
    said = _last(r"^\s*(?:Final )?Result for (?:ParamILS|SMAC|HAL):(.*)$", out)
    fields = [] if said is None else [field.strip() for field in said.split(",")]
    if len(fields) < 5:
        return Answer(
            "invalid",
            why='no line "Result for ParamILS: status, runtime, runlength, quality, seed" is there',
        )
    return _judged(fields[0], fields[3 if cost == "quality" else 1], cost)


def _read_smac(out: Printed, cost: Cost) -> Answer:
    """Read "cost=..; runtime=..; status=..", fields in any order, a missing status is success."""
    text = _last(r"^(.*\b(?:cost|status)\s*=.*)$", out) or ""
    said = dict(re.findall(r"(?:^|[;,])\s*(\w+)\s*=\s*([^;,]*)", text))
    if not {"cost", "status"} & said.keys():
        return Answer("invalid", why='no line "cost=..; status=.." is there')
    key = "cost" if cost == "quality" else "runtime"
    return _judged(said.get("status", "SUCCESS"), said.get(key), cost)


PROTOCOLS: Mapping[ProtocolName, Protocol] = MappingProxyType(
    {
        "irace": Protocol(
            ("{candidate}", "{instance_id}", "{seed}", "{instance}", "{parameters}"),
            "--{name} ",
            _read_irace,
            is_line=True,
        ),
        "aclib": Protocol(
            (
                *("--instance", "{instance}", "--cutoff", "{bound}", "--seed", "{seed}"),
                *("--config", "{parameters}"),
            ),
            "-{name} ",
            _read_aclib,
        ),
        "paramils": Protocol(
            ("{instance}", "0", "{bound}", str(NO_BOUND), "{seed}", "{parameters}"),
            "-{name} ",
            _read_paramils,
        ),
        "smac": Protocol(
            ("--instance={instance}", "--seed={seed}", "{parameters}"), "--{name}=", _read_smac
        ),
    }
)


def as_fixed(number: float) -> str:
    """Write a number with 15 significant digits and without an exponent."""
    if isinstance(number, int):
        return str(number)
    digits, _, power = f"{number:.14e}".partition("e")
    text = f"{float(f'{digits}e{power}'):.{max(14 - int(power), 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def split_line(line: str, what: str) -> list[str]:
    """Split a line as a shell would; ObjectiveError where a shell would do more than that."""
    if found := _EXPANDED.search(_QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)):
        raise ObjectiveError(
            f"{what}: {line!r} has {found[0].strip() or 'a line break'!r} at {found.start()}, which "
            "is for a shell, and none is used: write a runner that does it"
        )
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ObjectiveError(f"{what}: {line!r} cannot be split: {error}") from None
