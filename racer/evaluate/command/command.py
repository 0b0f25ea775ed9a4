"""An objective that is a program: run with the values of a configuration, it prints its cost."""

from __future__ import annotations

import hashlib
import math
import os
import re
import select
import shlex
import shutil
import signal
from collections.abc import Collection, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from racer._checks import choice, is_whole, suggesting, with_article
from racer.errors import ObjectiveError, SettingError, warn
from racer.evaluate.command.process import printable, run
from racer.evaluate.command.protocols import (
    MARKS,
    NO_BOUND,
    PROTOCOLS,
    READERS,
    Answer,
    Cost,
    ProtocolName,
    labelled,
)
from racer.evaluate.command.remedy import NOT_STARTED, OF_SAT
from racer.evaluate.command.template import Template, as_text
from racer.evaluate.command.timing import timed
from racer.evaluate.limits.limits import deadline, took_more_than
from racer.evaluate.limits.processes import ending
from racer.evaluate.objective import Misbehaved
from racer.evaluate.outcome import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from racer.evaluate.command.process import Ran
    from racer.evaluate.command.timing import Timed

__all__ = ["Command"]

IDENTITY = "racer.Command("
_is_script = re.compile(r".+\.(py|pyw|sh|bash|R|r|jl|js|ts|pl|rb|lua|php|m)").fullmatch
Reads = Literal["stdout", "last-line", "json", "nothing"]
_LONGEST_ARGV = 2000
_SAID = re.compile(rb"^(?:s )?(?:UN)?SATISFIABLE\s*$|^v ", re.MULTILINE)  # by a SAT solver
_NO_CELL = {mark: 1 for mark in MARKS if mark != "instance"}


@suggesting
class Command:
    """An objective that runs a program and reads its output: `evaluate` of `racer.race`.

    The program gets a list of arguments, and there is no shell: any text in a value (blanks,
    quotes, ``$(..)``, braces) arrives as it is, within its own argument. Standard input is empty.
    Exit code 0 and one finite number on standard output make a cost. Everything else costs the
    cell: `RaceResult.failures` then has the command line, the exit code, and the first and last
    2 kB of both outputs.

    Parameters
    ----------
    argv : str or sequence of str
        The program and its arguments; one line of text is split as a shell would, here only. In an
        argument ``{name}`` stands for a parameter of the configuration,
        ``{instance}`` and ``{seed}`` for the others that `evaluate` gets, ``{bound}`` (unless a
        parameter is called so) for the seconds after which it is stopped: of run times the cap
        (rounded up to whole seconds for irace's runners), else the `timeout`; ``{{`` and ``}}`` are braces. ``{parameters}``, an argument of its own, stands
        for options: one for each parameter that has no place of its own. An argument with a parameter that the
        configuration does not have is left out, unless it is that parameter alone.
    switches : mapping of str to str, optional
        How ``{parameters}`` writes a parameter: the text before its value, ``"--name="`` unless
        it is given. A blank at its end makes switch and value two arguments: ``"-n "``. (So
        `Space.switches`, as read from irace's files, fits.)
    reads : {"stdout", "last-line", "json", "nothing"} or str
        Where the number is: all of standard output, or its last line that is not blank; or after a
        text that ends in ":" or "=", such as "cost:", on the last line that begins with it. "json": the last
        line is an object of metrics, ``{"error": 0.1, "seconds": 2.5}``, for a race of several metrics.
        "nothing": for a race of run times, whose cost is the CPU time of the program.
    protocol : {"irace", "aclib", "paramils", "smac"}, optional
        The program is a runner of another tool: it is called and read as that tool does. Unless
        `argv` has places of its own, the arguments of the protocol follow it. Parameters are
        ``{parameters}`` only; ``{candidate}`` and
        ``{instance_id}`` number configuration and instance, from 1 (held out: ``1t``). With
        "irace", ``Inf`` instead of a cost rejects the configuration.
    cost : {"quality", "runtime"}
        Which of the two that runners of "aclib", "paramils" and "smac" print is the cost. With
        `racer.Runtime` it is always the run time, as the program prints it ("cost time" of irace's
        runners), or the CPU time that it used, if it prints nothing or `reads` is "nothing".
    cwd : str or path-like, optional
        The folder in which the program runs; the present one of the race if not given.
    success_codes : sequence of int
        Exit codes, 0 to 255, with which the program has succeeded. If none are given, 10 and 20 too,
        with which SAT solvers end, beside a cost or a line that says SATISFIABLE or UNSATISFIABLE.

    Raises
    ------
    SettingError
        A command line that cannot be read, or a program that cannot be found or executed. A
        race checks more before it begins: that candidates have each name in braces,
        and that all candidates and instances are valid arguments, that is text,
        numbers, and paths.

    Warns
    -----
    RacerWarning
        Before a race, of parameters that have no place on the command line, and of several
        instances that have none.

    See Also
    --------
    racer.Limits : ``timeout`` and ``memory`` limit the program and all that it starts.

    Examples
    --------
    >>> import racer, sys
    >>> code = "import sys; x, instance = map(float, sys.argv[1:]); print(abs(x - 3) + instance)"
    >>> evaluate = racer.Command([sys.executable, "-c", code, "{x}", "{instance}"])
    >>> evaluate({"x": 1.5}, 0.25, 7)
    1.75
    >>> evaluate.argv({"x": "$(rm -rf /) {seed}"}, 0.25, 7)[3:]
    ['$(rm -rf /) {seed}', '0.25']
    """

    def __init__(
        self,
        argv: str | Sequence[str | os.PathLike[str]],
        *,
        switches: Mapping[str, str] | None = None,
        reads: Reads | str = "stdout",
        protocol: ProtocolName | None = None,
        cost: Cost = "quality",
        cwd: str | os.PathLike[str] | None = None,
        success_codes: Sequence[int] = (0,),
    ) -> None:
        if not hasattr(select, "poll"):
            raise SettingError(
                "Command runs programs on Linux and macOS only: write a function that runs yours"
            )
        if not str(reads).endswith((":", "=")):
            choice(reads, "reads", (*get_args(Reads), "cost:"))
        choice(cost, "cost", get_args(Cost))
        if protocol is not None:
            choice(protocol, "protocol", get_args(ProtocolName))
        if protocol is not None and reads != "stdout":
            raise SettingError(
                f"protocol={protocol!r} determines how output is read: leave reads out"
            )
        if cost != "quality" and protocol in {None, "irace"}:
            raise SettingError(f"cost={cost!r} is for runners of aclib, paramils and smac")
        if cwd is not None and not isinstance(cwd, str | os.PathLike):
            raise SettingError(f"cwd={cwd!r}: give the path of a folder")
        if cwd is not None and not os.path.isdir(cwd):  # noqa: PTH112
            raise SettingError(
                f"cwd={os.fspath(cwd)!r}, where the program is to run: there is no such folder"
            )
        if switches is not None and not isinstance(switches, Mapping):
            raise SettingError(
                f"switches is {with_article(switches)}: give a dict, from names of parameters "
                "to the text before their values"
            )
        self._success_codes = _checked_codes(success_codes)
        self._template = Template(argv, switches or {}, protocol)
        self._reads = reads
        self._protocol = protocol
        self._cost = cost
        self._cwd = None if cwd is None else os.path.abspath(cwd)  # noqa: PTH100
        self._read = PROTOCOLS[protocol].read if protocol else READERS.get(reads) or labelled(reads)
        program = self._template.program
        self._program = None if program is None else _found(program)

    def __repr__(self) -> str:
        return self._described(self._template.argv)

    def _described(self, argv: Sequence[str]) -> str:
        switches = self._template.switches
        given = f", switches={switches!r}" if switches else ""
        read = f", reads={self._reads!r}" if self._protocol is None else ""
        more: dict[str, Any] = {
            "protocol": self._protocol,
            "cost": self._cost if read == "" else None,
        }
        if self._success_codes != (0,):
            more["success_codes"] = self._success_codes
        given += "".join(f", {name}={value!r}" for name, value in more.items() if value)
        return f"{IDENTITY}{list(argv)!r}{given}{read})"

    @property
    def identity(self) -> str:
        """Identity of a command in a store: all but the folder of the program.

        Begins with `IDENTITY`.
        """
        program, *arguments = self._template.argv
        return self._described([os.path.basename(program), *arguments])  # noqa: PTH119

    @property
    def source_digest(self) -> str | None:
        """A SHA-256 of the scripts among its words; None without one."""
        program, *arguments = self._template.argv
        words = filter(_is_script, [self._program or program, *arguments])
        files = filter(os.path.isfile, (os.path.join(self._cwd or "", word) for word in words))  # noqa: PTH118
        parts = [Path(file).read_bytes() for file in files]
        return hashlib.sha256(b"".join(parts)).hexdigest() if parts else None

    @property
    def settings(self) -> dict[str, Any]:
        """Settings for ``Command(**settings)`` from any folder, in plain data."""
        program, *arguments = self._template.argv
        return {
            "argv": [self._program or program, *arguments],
            "switches": dict(self._template.switches),
            "reads": self._reads,
            "protocol": self._protocol,
            "cost": self._cost,
            "cwd": self._cwd or os.getcwd(),  # noqa: PTH109
            **({} if self._success_codes == (0,) else {"success_codes": [*self._success_codes]}),
        }

    def argv(self, config: Mapping[str, Any], instance: Any, seed: int) -> list[str]:
        """Return the arguments for one evaluation, the program first.

        Raises
        ------
        ObjectiveError
            A value that no argument can hold, or that is missing where it cannot be left out.
        """
        return self.argv_of(Cell(0, 0, config, instance, seed))

    def argv_of(self, cell: Cell) -> list[str]:
        """Return the arguments for a cell, the program first; errors as for `argv`."""
        _, timeout = deadline.get() or (math.inf, math.inf)
        return self._template.fill(
            cell.config,
            cell.instance,
            seed=cell.seed,
            candidate=cell.candidate + 1,
            instance_id=f"{(cell.instance_index or 0) + 1}{'t' if cell.held_out else ''}",
            bound=self._told_bound(cell, timeout),
        )

    def _told_bound(self, cell: Cell, timeout: float) -> float:
        if cell.bound is None:
            return timeout if math.isfinite(timeout) else NO_BOUND
        return math.ceil(cell.bound) if self._protocol == "irace" else cell.bound

    def check(
        self,
        configs: Sequence[Any],
        instances: Sequence[Any] | None,
        parameters: Collection[str] | None = (),
    ) -> None:
        """Raise ObjectiveError unless each configuration and instance can be put on the line.

        SettingError where exit codes cannot be read.

        Warns RacerWarning, once, of parameters, and of several instances, without a place on it.

        Parameters
        ----------
        configs : sequence
            Candidates.
        instances : sequence or None
        parameters : collection of str
            Names that other candidates, which are still to come, may have; None: unknown.
        """
        if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
            raise SettingError(
                "SIGCHLD is ignored in this process, so that no exit code of a program can be read: "
                "call signal.signal(signal.SIGCHLD, signal.SIG_DFL)"
            )
        for index, config in enumerate(configs):
            with _named(f"candidate {index}"):
                self._template.check_names(config)
        self._template.check_names(dict.fromkeys(parameters or ()))
        known = {*(parameters or ()), *(n for config in configs for n in config)}
        self.check_places(instances, None if parameters is None else known)
        self._template.check_bound(configs, known)
        for index, config in enumerate(configs):
            with _named(f"candidate {index}"):
                self._program_of(self.argv(config, "", 0))
        if "instance" in self._template.names:
            for index, instance in enumerate(() if instances is None else instances):
                as_text(instance, f"instance {index}")
                if self._protocol is not None:
                    with _named(f"instance {index}"):
                        self._template.fill({}, instance, **_NO_CELL)
        self._warn_of_parameters_without_place(known)
        if instances is not None:
            self._warn_of_instances_without_place(instances)

    def check_places(
        self, instances: Sequence[Any] | None, parameters: Collection[str] | None
    ) -> None:
        """Raise ObjectiveError for a place on the line that nothing can fill.

        Parameters
        ----------
        instances : sequence or None
        parameters : collection of str
            Names that candidates may have; None: unknown.
        """
        if "instance" in self._template.names and (instances is None or not len(instances)):
            raise ObjectiveError("the command has {instance}, but there are no instances")
        if parameters is not None:
            self._template.refuse_unknown(parameters)

    def check_some(self, configs: Sequence[Any]) -> None:
        """Warn RacerWarning of names that look misspelt in the first of many configurations.

        Parameters
        ----------
        configs : sequence
            Others may have parameters that none of these has.
        """
        known = {name for config in configs if isinstance(config, Mapping) for name in config}
        try:
            self._template.refuse_unknown(known)
        except ObjectiveError as error:
            warn(f"{error}, so far")
        self._warn_of_parameters_without_place(known)

    def _warn_of_instances_without_place(self, instances: Sequence[Any]) -> None:
        """Warn RacerWarning of several instances that the program would never be told."""
        template = self._template
        if len(instances) < 2 or template.takes_instances:
            return
        are_numbers = all(one is None or one == number for number, one in enumerate(instances))
        if not (are_numbers and "seed" in template.names):  # which only count the seeds
            warn(
                f"the command has no place for the instance: the program is not told which of the "
                f"{len(instances)} it is run on; add {{instance}}, or leave the instances out"
            )

    def _warn_of_parameters_without_place(self, known: Collection[str]) -> None:
        if without := self._template.without_place(known):
            warn(
                f"the command has no place for {', '.join(map(repr, without))}: the program is not "
                f"told; add {{parameters}} or {{{without[0]}}}",
            )

    def _program_of(self, argv: Sequence[str]) -> str:
        return self._program or _found(argv[0])

    def __call__(
        self, config: Mapping[str, Any], instance: Any, seed: int
    ) -> float | dict[str, Any]:
        """Run the program, and return its output."""
        found = self.run(Cell(0, 0, config, instance, seed))
        return math.nan if found is None else found

    @property
    def reads_objects(self) -> bool:
        """Whether the program may print metrics, or a spend, beside its cost."""
        return self._reads == "json"

    def run(self, cell: Cell) -> float | dict[str, Any] | None:
        """Run the program for a cell, and return the cost, or the metrics, that it prints.

        With a bound that is its run time; None: unknown, and must be measured.
        """
        argv = self.argv_of(cell)
        line = _shown(argv)
        until, timeout = deadline.get() or (math.inf, math.inf)
        try:
            ran = run(argv, self._program_of(argv), until, self._cwd)
        except OSError as error:
            raise Misbehaved("failed", f"{NOT_STARTED} ({error})\ncommand: {line}") from None
        status, value, why, time, metrics = self._judged(
            ran, timeout, is_timed=cell.bound is not None
        )
        if cell.bound is not None:
            value = math.nan if time is None else time
            if status == "timeout" and ran.code is not None:
                return cell.bound
            if status == "ok":
                return None if math.isnan(value) else value
        if status != "ok":
            raise Misbehaved(
                status, f"{why}\ncommand: {line}\nstdout: {ran.out}\nstderr: {ran.err}"
            )
        return value if metrics is None else metrics

    def timed(self, instance: Any, seed: int, *, keep: bool) -> Timed:
        """Run the program without a configuration, for its time; `keep` its output."""
        argv = self.argv({}, instance, seed)
        return timed(argv, self._program_of(argv), self._cwd, keep=keep)

    def with_command_line(self, message: str, cell: Cell) -> str:
        """Return a message with the command line of a cell."""
        if "\ncommand: " in message:
            return message
        return f"{message}\ncommand: {_shown(self.argv_of(cell))}"

    def _judged(self, ran: Ran, timeout: float, *, is_timed: bool) -> Answer:
        if ran.code is None:
            return Answer("timeout", why=took_more_than(timeout))
        how = f"the program {ending(ran.code)}"
        if ran.code not in self._success_codes and not self._is_of_sat(ran):
            return Answer("killed" if ran.code < 0 else "failed", why=how)
        if is_timed and not ran.out.end.strip():
            return Answer("ok")
        if not ran.out.size:
            return Answer("invalid", why=f"{how}, and printed nothing")
        answer = self._read(ran.out, "runtime" if is_timed else self._cost)
        if answer.time is None:
            answer = answer._replace(time=answer.value)
        return answer._replace(why=f"{how}, but {answer.why}") if answer.why else answer

    def _is_of_sat(self, ran: Ran) -> bool:
        """Return whether exit code and output are a SAT solver's with an answer, and no codes are given.

        An exit code alone does not count: a program that fails at once would be the fastest.
        """
        if ran.code not in OF_SAT or self._success_codes != (0,) or self._protocol is not None:
            return False
        said = any(map(_SAID.search, (ran.out.begin, ran.out.end)))
        return said or self._read(ran.out, "quality").status == "ok"


def _checked_codes(codes: Any) -> tuple[int, ...]:
    """Return exit codes in order; SettingError for anything else."""
    given = list(codes) if isinstance(codes, Collection) and not isinstance(codes, str) else []
    if not given or not all(is_whole(code) and 0 <= code <= 255 for code in given):
        raise SettingError(
            f"success_codes={codes!r}: give a list of exit codes, whole numbers from 0 to 255"
        )
    return tuple(sorted({int(code) for code in given}))


def _shown(argv: Sequence[str]) -> str:
    line = printable(shlex.join(argv))
    return line if len(line) <= _LONGEST_ARGV else f"{line[:_LONGEST_ARGV]} .."


def _found(program: str) -> str:
    """Return the absolute path of a program, or raise SettingError if it cannot be executed."""
    found = shutil.which(program)
    if found is not None:
        return os.path.abspath(found)  # noqa: PTH100
    if os.path.isdir(program):  # noqa: PTH112
        why = "it is a directory"
    elif os.path.isfile(program):  # noqa: PTH113
        here = not os.path.dirname(program)  # noqa: PTH120
        executable = os.access(program, os.X_OK)
        why = (
            f"it is not on PATH (a file of that name is here: write {'./' + program!r})"
            if here and executable
            else "it is not executable (chmod +x, or put its interpreter first)"
        )
    elif os.path.dirname(program):  # noqa: PTH120
        why = "there is no such file"
    else:
        why = "there is no such program on PATH"
    raise SettingError(f"the program {program!r} cannot be run: {why}")


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Prefix errors with the name of their subject."""
    try:
        yield
    except (ObjectiveError, SettingError) as error:
        raise ObjectiveError(f"{what}: {error}") from None


def check_some(evaluate: object, configs: Sequence[Any]) -> None:
    """Check the first of many configurations of a `Command`; other objectives pass."""
    if isinstance(evaluate, Command):
        evaluate.check_some(configs)
