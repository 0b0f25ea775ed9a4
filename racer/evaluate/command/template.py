"""Command lines with places for values, as lists of arguments: no shell, nothing expanded twice."""

from __future__ import annotations

import os
import re
import reprlib
import shlex
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import did_you_mean, with_article
from racer.errors import ObjectiveError, SettingError
from racer.evaluate.command.protocols import MARKS, PROTOCOLS, as_fixed, split_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from racer.evaluate.command.protocols import Protocol, ProtocolName

PARAMETERS = "parameters"
RESERVED = ("instance", "seed", PARAMETERS)
_NUMBER = "instance_id"  # of an instance, with a protocol
_BOUND = "bound"  # unless a parameter is called so
_MARK = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class _Part(NamedTuple):
    """Text, and the name whose value follows it, if one does."""

    text: str
    name: str | None


class Template:
    """A command line, read once: `argv`, and the `names` in braces; or SettingError.

    With a protocol, a name in braces is one of its `MARKS`, and no parameter has a place of
    its own; without any, its own arguments follow.
    """

    def __init__(
        self,
        argv: str | Sequence[str | os.PathLike[str]],
        switches: Mapping[str, str],
        protocol: ProtocolName | None = None,
    ) -> None:
        self.argv: tuple[str, ...] = _arguments(argv)
        self.switches: dict[str, str] = dict(switches)
        self.protocol: Protocol | None = None if protocol is None else PROTOCOLS[protocol]
        self._items = tuple(map(_parts, self.argv))
        if self.protocol and not any(part.name for item in self._items for part in item):
            self._items += tuple(map(_parts, self.protocol.arguments))
        marks = [part.name for item in self._items for part in item if part.name is not None]
        self.names: frozenset[str] = frozenset(marks)
        self.reserved: tuple[str, ...] = (*RESERVED, _BOUND) if protocol is None else MARKS
        if protocol is not None and (other := sorted(self.names - {*MARKS})):
            raise SettingError(
                f"the command has {{{other[0]}}}, which protocol={protocol!r} does not know: use "
                f"{', '.join(f'{{{mark}}}' for mark in MARKS)}"
            )
        options = (_Part("", PARAMETERS),)
        if marks.count(PARAMETERS) > self._items[1:].count(options):
            raise SettingError(
                "{parameters} stands for whole arguments: make it one of its own, after the program"
            )
        if marks.count(PARAMETERS) > 1:
            raise SettingError("{parameters} stands in the command more than once")
        for name, switch in dict[Any, Any](self.switches).items():
            if not (isinstance(name, str) and isinstance(switch, str)) or "\0" in switch:
                raise SettingError(
                    f"switches: {name!r}: {switch!r}: give text before the value of a parameter"
                )
        if self.switches and PARAMETERS not in self.names:
            raise SettingError("switches are used by {parameters}, which the command does not have")

    @property
    def program(self) -> str | None:
        """The first argument, None if that depends on values."""
        text, name = self._items[0][0]
        return text if name is None else None

    def fill(self, config: Any, instance: Any, **others: Any) -> list[str]:
        """Return the arguments for one evaluation; ObjectiveError for a missing or unfit value."""
        self.check_names(config)
        own = config if self.protocol is None else {}  # what may have a place of its own
        values = {"instance": instance, **others, **own}
        argv: list[str] = []
        for at, item in enumerate(self._items):
            if item[0].name == PARAMETERS:
                argv += self._options(config)
                continue
            missing = [n for _, n in item if n is not None and n not in (*own, *self.reserved)]
            if not missing:
                argv += self._filled(item, values)
            elif not at or (len(item) == 1 and not item[0].text):
                raise ObjectiveError(
                    f"there is no {missing[0]!r} for the argument {self.argv[at]!r}: where it may "
                    f"be missing, write '--{missing[0]}={{{missing[0]}}}', which is then left out, "
                    "or {parameters}"
                )
        return argv

    def _filled(self, item: tuple[_Part, ...], values: Mapping[str, Any]) -> list[str]:
        text = "".join(t + self._inserted(values, n) for t, n in item)
        if self.protocol and self.protocol.is_line and any(n == "instance" for _, n in item):
            return split_line(text, "the instance")
        return [text]

    def _inserted(self, values: Mapping[str, Any], name: str | None) -> str:
        if name is None:
            return ""
        return as_text(values[name], name if name in self.reserved else f"parameter {name!r}")

    def _options(self, config: Mapping[str, Any]) -> list[str]:
        """Return arguments for the parameters that have no place of their own."""
        argv: list[str] = []
        for name, value in config.items():
            if name in self.names and self.protocol is None:
                continue
            usual = self.protocol.switch.format(name=name) if self.protocol else f"--{name}="
            switch = self.switches.get(name, usual)
            if self.protocol and self.protocol.is_line:
                text = as_fixed(value) if type(value) in {int, float} else as_text(value, name)
                argv += split_line(switch + text, f"parameter {name!r}")
                continue
            text = as_text(value, f"parameter {name!r}")
            if switch.endswith(" "):
                argv += [switch.rstrip(" "), text]
            else:
                argv.append(switch + text)
        return argv

    @property
    def takes_instances(self) -> bool:
        """Return whether a place on the command line is for the instance, or for its number."""
        return "instance" in self.names or (self.protocol is not None and _NUMBER in self.names)

    def without_place(self, known: Collection[str]) -> list[str]:
        """Return the parameters that the program would never receive."""
        places = self.names if self.protocol is None else ()
        return [] if PARAMETERS in self.names else sorted(set(known).difference(places))

    def check_names(self, config: Any) -> None:
        """Raise ObjectiveError unless this is a mapping from names that a command may have."""
        if not isinstance(config, Mapping):
            raise ObjectiveError(
                f"{reprlib.repr(config)} is {with_article(config)}: a command takes mappings "
                "from names of parameters to values"
            )
        for name in config:
            if not isinstance(name, str):
                raise ObjectiveError(f"{name!r} is not the name of a parameter: give text")
            if self.protocol is None and name in RESERVED:
                raise ObjectiveError(
                    f"a parameter is called {name!r}, which means something else in a command: "
                    "rename it"
                )

    def check_bound(self, configs: Sequence[Mapping[str, Any]], known: Collection[str]) -> None:
        """Raise ObjectiveError if {bound} would be a parameter in some configurations only."""
        if self.protocol is not None or not {_BOUND} <= {*known} & self.names:
            return
        for index, config in enumerate(configs):
            if _BOUND not in config:
                raise ObjectiveError(
                    f"candidate {index} has no parameter 'bound', so that {{bound}} would be the "
                    "seconds after which the program is stopped: rename the parameter"
                )

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Raise ObjectiveError for a place, or a switch, of no parameter that any candidate has."""
        for what, names in (
            ("the command has {%s}", self.names),
            ("switches name %r", self.switches),
        ):
            for name in sorted(set(names) - set(known) - set(self.reserved)):
                plain = name.partition(":")[0]
                hint = (
                    f"; values are written in full, so write {{{plain}}}"
                    if plain in known
                    else did_you_mean(name, [*known, *self.reserved])
                )
                which = "which no candidate has" if known else "and there are no parameters"
                raise ObjectiveError(f"{what % name}, {which}{hint}")


def _arguments(argv: Any) -> tuple[str, ...]:
    """Return the arguments of a command line, which is split here and nowhere else."""
    if isinstance(argv, str):
        try:
            argv = shlex.split(argv)
        except ValueError as error:
            raise SettingError(f"the command {argv!r} cannot be split: {error}") from None
    try:
        items = [os.fspath(item) for item in argv]
    except TypeError:
        items = [None]
    if not items or not all(isinstance(item, str) and "\0" not in item for item in items):
        raise SettingError(
            f"the command is {reprlib.repr(argv)}: give a program and its arguments, as a list of "
            "text, or as one line of text"
        )
    if not items[0]:
        raise SettingError("the program of the command is empty: give its name, or its path")
    return tuple(items)


def _parts(item: str) -> tuple[_Part, ...]:
    """Split an argument at its placeholders; {{ and }} are braces."""
    parts: list[_Part] = []
    text, at = "", 0
    for mark in _MARK.finditer(item):
        text, at = text + item[at : mark.start()], mark.end()
        if mark[0] in ("{{", "}}"):
            text += mark[0][0]
        elif mark[1]:
            parts.append(_Part(text, mark[1]))
            text = ""
        else:
            raise SettingError(
                f"the argument {item!r} has {mark[0]!r} at {mark.start()}: name a parameter in "
                "braces, or write {{ and }} for braces themselves"
            )
    if text + item[at:] or not parts:
        parts.append(_Part(text + item[at:], None))
    return tuple(parts)


def as_text(value: Any, what: str) -> str:
    """Return text, a number or a path as an argument; ObjectiveError for anything else."""
    if isinstance(value, str):
        text = str.__str__(value)  # of a subclass, what it is and not what it calls itself
    elif isinstance(value, bytes | os.PathLike):
        text = os.fsdecode(value)
    elif isinstance(value, Real | Decimal | np.generic):
        text = str(value)
    else:
        raise ObjectiveError(
            f"{what} is {reprlib.repr(value)}, {with_article(value)}: a command takes text, "
            "numbers and paths"
        )
    if "\0" in text:
        raise ObjectiveError(f"{what} is {text!r}: no argument can hold a NUL character")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ObjectiveError(f"{what} is {text!r}, which is not text: {error.reason}") from None
    return text
