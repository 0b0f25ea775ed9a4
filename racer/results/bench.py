"""The result of a benchmark: which program is faster."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from racer._checks import counted
from racer._numerics import as_json
from racer.deciders.faster import FasterRace
from racer.deciders.parts.e_processes import log_e_of_signs, median_interval
from racer.render.escape import in_json
from racer.render.notebook import Displayed
from racer.render.sections import Bold, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from racer.render.sections import Piece

__all__ = ["BenchEnded", "BenchResult", "Failed"]

BenchEnded = Literal["decided", "within margin", "rounds", "failed", "interrupted"]
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


class Failed(NamedTuple):
    """A program that failed: in which round (from 1), on which instance, and how."""

    program: str
    round: int
    instance: Any
    message: str


class _Line(NamedTuple):
    """A row of the table."""

    program: str
    ratio: float
    low: float
    high: float
    median: float
    rounds: int
    verdict: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BenchResult(Displayed):
    """Which of several programs is faster, and by how much.

    With probability 1 - `alpha` all statements are true: all intervals, and which is slower or
    as fast, however often the benchmark looked at the times and whenever it ended.

    Attributes
    ----------
    fastest : str or None
        The program that was shown to be faster than each other that did not fail; None if that is
        not known, or if others are within the margin.
    reference : str or None
        The program that the others are compared with: `fastest`, or the one that leads; None if
        all failed.
    table : DataFrame
        One row per program, the reference first: program; ratio, the median over rounds of its
        time divided by the reference's in the same round (the geometric mean of the two in the
        middle, if their number is even); low and high, the confidence interval of that
        (simultaneous, at any time); median, of its times in seconds; rounds; verdict: "fastest",
        "slower" or "within 2 %" (than, of the reference), "slower than NAME" if it was out by
        another program and its ratio to the reference is not known to be above 1, "not known",
        "failed", or "left" if it is the only one that did not fail.
    times : DataFrame, rounds x programs
        Seconds; NaN where a program was out. Rounds count from 1.
    failures : tuple of Failed
        The programs that failed, and so were out: program, round, instance, message.
    ended : {"decided", "within margin", "rounds", "failed", "interrupted"}
        Why it ended: one program is left, neither failed nor slower than another; those that are
        left are within the margin; the most rounds; all programs failed; Ctrl-C.
    rounds, evaluations : int
        Rounds, and runs in them (those of the warm-up are not counted).
    programs : tuple of str
        As they were given.
    margin, alpha : float
    cpu : bool
        CPU time was measured, not wall time.
    seed : int
        The seed of the orders of programs and instances.

    Examples
    --------
    >>> import racer
    >>> result = racer.bench({"sum": lambda: sum(range(9999)), "formula": lambda: 9999 * 9998 // 2})
    >>> result.fastest, list(result.table["verdict"])
    ('formula', ['fastest', 'slower'])
    """

    programs: tuple[str, ...]
    ended: BenchEnded
    failures: tuple[Failed, ...]
    evaluations: int
    margin: float
    alpha: float
    cpu: bool
    seed: int
    _times: NDArray[np.float64]  # (rounds, programs), NaN where out
    _left: tuple[int, ...]  # neither slower nor failed, the leader first

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self._times)

    @property
    def reference(self) -> str | None:
        """The program that others are compared with."""
        return self.programs[self._left[0]] if self._left else None

    @property
    def fastest(self) -> str | None:
        """The program that is faster than all others that did not fail."""
        first = self._lines[0]
        return first.program if first.verdict == "fastest" else None

    @property
    def within_margin(self) -> str:
        """The verdict on a program whose time differs by the margin at most."""
        return f"within {100 * self.margin:g} %"

    @cached_property
    def _lines(self) -> list[_Line]:
        failed = {failure.program for failure in self.failures}
        n = len(self.programs)
        order = [*self._left, *(i for i in range(n) if i not in self._left)]
        lines = [self._line(i, failed) for i in order]
        rest = [line for line in lines[1:] if line.program not in failed]
        if self._left:
            lines[0] = lines[0]._replace(verdict=self._first_verdict({one.verdict for one in rest}))
        lines[1:] = sorted(lines[1:], key=lambda line: (line.program in failed, line.ratio))
        return lines

    def _first_verdict(self, others: set[str]) -> str:
        """Return the verdict on the reference, from those on the programs that did not fail."""
        for verdict in ("not known", self.within_margin):
            if verdict in others:
                return verdict
        if not others:
            return "left"
        return "fastest" if others == {"slower"} else "not known"

    def _line(self, i: int, failed: set[str]) -> _Line:
        """Return the row of a program; the verdict on the reference depends on all others."""
        name, times = self.programs[i], self._times[:, i]
        known = times[~np.isnan(times)]
        median = float(np.median(known)) if len(known) else math.nan
        if not self._left:
            return _Line(name, math.nan, math.nan, math.nan, median, len(known), "failed")
        if i == self._left[0]:
            return _Line(name, 1.0, 1.0, 1.0, median, len(known), "")
        ratio, low, high = self._compared(i, self._left[0])
        is_near = self.margin > 0.0 and high < 1.0 + self.margin and low * (1.0 + self.margin) > 1.0
        verdict = self.within_margin if is_near else "not known"
        if i not in self._left:
            verdict = "failed" if name in failed else self._slower(i, failed)
        return _Line(name, ratio, low, high, median, len(known), verdict)

    def _slower(self, i: int, failed: set[str]) -> str:
        """Return than what a program that is out is slower: the reference, if that was shown."""
        gaps = np.log(self._times[:, [i]]) - np.log(self._times)  # NaN where one was out
        lost, won = (gaps > 0.0).sum(axis=0), (gaps < 0.0).sum(axis=0)
        log_e = log_e_of_signs(lost, won)
        is_shown = log_e >= FasterRace(self.alpha).log_needed(len(self.programs))
        if is_shown[self._left[0]]:
            return "slower"
        shown = np.flatnonzero(is_shown).tolist()
        if not shown:
            return "not known"
        than = max(shown, key=lambda j: (self.programs[j] not in failed, log_e[j]))
        return f"slower than {self.programs[than]}"

    def _compared(self, i: int, j: int) -> tuple[float, float, float]:
        """Return the median ratio of the times of two programs, and its confidence interval."""
        logs = np.log(self._times[:, i]) - np.log(self._times[:, j])
        logs = logs[~np.isnan(logs)]
        if not len(logs):
            return math.nan, math.nan, math.nan
        needed = FasterRace(self.alpha).log_needed(len(self.programs))
        low, high = median_interval(logs, needed)
        ratio, low, high = np.exp([np.median(logs), low, high]).tolist()
        return ratio, low, high

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per program."""
        import pandas as pd  # noqa: PLC0415  (a second)

        return pd.DataFrame(self._lines, columns=list(_Line._fields))

    @cached_property
    def times(self) -> pd.DataFrame:
        """Seconds by round and program."""
        import pandas as pd  # noqa: PLC0415  (a second)

        rounds = pd.RangeIndex(1, self.rounds + 1, name="round")
        return pd.DataFrame(self._times, rounds, list(self.programs))

    @property
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""
        found = [self._answer(), *self._elsewhere(), *map(_failure, self.failures)]
        if self.ended in ("rounds", "interrupted") and self.fastest is None and self._left:
            found.append(self._outlook())
        if any(line.verdict not in ("failed", "left", "not known") for line in self._lines):
            found.append(
                "All ratios and verdicts hold together with probability "
                f"{_complement(self.alpha)}, whenever it ends."
            )
        return tuple(found)

    def _elsewhere(self) -> list[str]:
        """Return sentences on programs that are slower than another one than the reference."""
        return [
            f"{line.program} is {line.verdict}; whether also than {self.reference} is not known."
            for line in self._lines
            if line.verdict.startswith("slower than")
        ]

    def _answer(self) -> str:
        after = f"after {counted(self.rounds, 'round')}"
        if self.ended == "failed":
            return "All programs failed."
        first, *rest = (line for line in self._lines if line.verdict != "failed")
        if first.verdict == "left":
            return f"{first.program} is the only program that did not fail: nothing to compare."
        if first.verdict == "fastest":
            return f"{first.program} is the fastest, {after}: {_times_as_long(rest[0])}."
        if first.verdict == self.within_margin:
            near = [line.program for line in rest if line.verdict == first.verdict]
            if len(near) == 1:
                names = (
                    f"{first.program} and {near[0]} are no more than {100 * self.margin:g} % apart"
                )
            else:
                names = f"{_listed(near)} are {self.within_margin} of {first.program}"
            others = sum(line.verdict == "slower" for line in rest)
            slower = f"; {others} {'is' if others == 1 else 'are'} slower" if others else ""
            return f"{names}, {after}{slower}."
        if self.ended == "interrupted":
            return f"Interrupted {after}: which program is the fastest is not known."
        return f"Which program is the fastest is not known {after}."

    def _outlook(self) -> str:
        """Return advice for a result without knowledge."""
        m, needed = len(self.programs), FasterRace(self.alpha).log_needed(len(self.programs))
        found = (n for n in range(1, 5000) if median_interval(np.zeros(n), needed)[1] == 0.0)
        least = next(found, 5000)
        if self.rounds < least:
            return f"{m} programs need {least} rounds at least to be told apart."
        names = [self.programs[i] for i in self._left]
        return f"{_listed(names)} are still in: give more rounds, or a larger margin."

    def _pieces(self) -> list[Piece]:
        rounds = counted(self.rounds, "round")
        runs = f"{counted(self.evaluations, 'run')} in {rounds}; seed {self.seed}."
        return [" ".join(self.verdict), self._grid(), runs]

    def _grid(self) -> Grid:
        rows: list[Sequence[str]] = []
        for line in self._lines:
            first = line.verdict in ("fastest", self.within_margin) and line.ratio == 1.0
            ratio = "-" if math.isnan(line.ratio) else f"{line.ratio:.4g}"
            interval = "-"
            if math.isfinite(line.high) and line.program != self.reference:
                interval = f"{line.low:.4g} to {line.high:.4g}"
            name = Bold(line.program) if first else line.program
            rows.append((name, ratio, interval, _time(line.median), f"{line.rounds}", line.verdict))
        level = f"{_complement(self.alpha, 100.0)} %"
        head = ("program", "ratio", level, "median", "rounds", "verdict")
        what = "CPU time" if self.cpu else "Wall time"
        right = tuple(name not in ("program", "verdict") for name in head)
        title = f"{what}, and its ratio to that of {self.reference or 'the fastest'}"
        return Grid(head, tuple(map(tuple, rows)), right, title)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, which JSON can hold: None where a number is not known."""
        times = as_json(self._times.T.tolist())
        return {
            "fastest": self.fastest,
            "reference": self.reference,
            "ended": self.ended,
            "rounds": self.rounds,
            "verdict": list(self.verdict),
            "programs": as_json([line._asdict() for line in self._lines]),
            "failures": [failure._asdict() for failure in self.failures],
            "times": dict(zip(self.programs, times, strict=True)),
            "clock": "cpu" if self.cpu else "wall",
            "margin": self.margin,
            "alpha": self.alpha,
            "seed": self.seed,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; other objects, such as an instance, as text."""
        return in_json(self.to_dict(), indent=2, default=str)


def _complement(alpha: float, scale: float = 1.0) -> str:
    """Return 1 - alpha times a scale as text, with enough digits to differ from the scale."""
    shown = max(alpha, 1e-12)
    digits = max(6, 2 - math.floor(math.log10(shown)))
    return f"{'>' * (alpha < shown)}{scale * (1.0 - shown):.{digits}g}"


def _failure(failure: Failed) -> str:
    """Return a failure as a sentence."""
    where = "" if failure.instance is None else f" on {failure.instance}"
    return f"{failure.program} {failure.message} (round {failure.round}{where}), and is out."


def _times_as_long(line: _Line) -> str:
    return (
        f"{line.program} takes {line.ratio:.4g} times as long ({line.low:.4g} to {line.high:.4g})"
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _time(seconds: float) -> str:
    if math.isnan(seconds):
        return "-"
    unit, name = next((u for u in _UNITS if seconds >= u[0]), _UNITS[-1])
    return f"{seconds / unit:.4g} {name}"
