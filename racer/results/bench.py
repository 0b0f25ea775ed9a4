"""The result of a benchmark: which program is faster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import counted
from racer._numerics import as_json
from racer.deciders.gate import GateRace
from racer.deciders.parts.e_processes import median_interval
from racer.render.escape import in_json
from racer.render.notebook import Displayed
from racer.render.sections import Grid, number
from racer.results import summary
from racer.results.gate import answer_of

if TYPE_CHECKING:
    import pandas as pd

    from racer.render.sections import Piece
    from racer.results.gate import Answer
    from racer.results.race import RaceResult

__all__ = ["BenchResult"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BenchResult(Displayed):
    """Which of several programs is faster, and by how much.

    With probability 1 - alpha all statements are true: all intervals, and which is slower or
    as fast, however often the benchmark looked at the times and whenever it ended.

    Attributes
    ----------
    fastest : str or None
        The program that was shown to be faster than each other that did not fail; None if that is
        not known, or if others are within the margin.
    table : DataFrame
        One row per program, first the reference, which is `fastest`, or the leader:
        program; ratio, the median over rounds of its time divided by the reference's in the same
        round (the geometric mean of the two in the middle, if their number is even); low and high, the confidence interval of that
        (simultaneous, at any time); median, of its times in seconds; rounds; verdict: "fastest",
        "slower" or "within 2 %" (than, of the reference), "slower than NAME" if it was out by
        another program and its ratio to the reference is not known to be above 1, "not known",
        "failed", or "left" if only it did not fail.
    times : DataFrame, rounds x programs
        Seconds; NaN where a program was out. Rounds count from 1.
    answer : {"passes", "worse", "undecided"} or None
        With a baseline: whether the other program is slower than that by more than the margin (its
        median ratio; "worse": or it failed), each wrong with probability alpha at most.
    failures : tuple of str
        A sentence for each program that failed, and so was out.
    ended : str
        Why the race ended. "decided": one program is left, neither failed nor slower than another;
        "settled": the programs left are within the margin; "rounds": after the last round;
        "all-rejected": all programs failed; "interrupted": Ctrl-C; "all-equal": no difference.
    cpu : bool
        CPU time was measured, not wall time.
    race : RaceResult
        The race: its candidates are the names of the programs, a block is a round, and its seed
        orders programs and instances.

    Examples
    --------
    >>> import racer
    >>> result = racer.bench({"sum": lambda: sum(range(9999)), "formula": lambda: 9999 * 9998 // 2})
    >>> result.fastest, list(result.table["verdict"])
    ('formula', ['fastest', 'slower'])
    """

    race: RaceResult
    cpu: bool

    @property
    def ended(self) -> str:
        """Why it ended."""
        return self.race.ended.value.replace("instances", "rounds")

    @property
    def fastest(self) -> str | None:
        """The program that is faster than all others that did not fail."""
        first: Any = self.table.iloc[0]
        return first.program if first.verdict == "fastest" else None

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """The programs that failed: how, and where."""
        names, items = self.race.configs, self.race.instances or ()
        return tuple(
            f"{names[candidate]} {outcome.message} (round {block + 1}"
            f"{'' if items[block] is None else f', {items[block]!s:.60}'}), and is out."
            for block, candidate, outcome in self.race.known.cells()
            if outcome.status == "rejected"
        )

    @cached_property
    def times(self) -> pd.DataFrame:
        """Seconds by round and program."""
        frame = self.race.table.set_axis(self.race.configs, axis=1)
        return frame.set_axis(frame.index + 1).rename_axis("round")

    @property
    def answer(self) -> Answer | None:
        """Of the program that is not the baseline."""
        return answer_of(self.race) if isinstance(self._decider, GateRace) else None

    @property
    def _decider(self) -> Any:
        return self.race.rules.decider

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per program."""
        import pandas as pd  # noqa: PLC0415  (a second)

        names, margin = self.race.configs, self._decider.margin
        gone = {one.candidate: one for one in self.race._eliminations}
        first, *others = [*self.race.survivors, *gone] if self.answer is None else range(2)
        near = f"within {100 * margin:g} %"

        def row(i: int) -> list[Any]:
            ratio, low, high = self._compared(i, first)
            verdict: str = "baseline" if i == first else self.answer or "not known"
            if i in gone and gone[i].reason == "rejected":
                verdict = "failed"
            elif self.answer is None and i in gone:
                is_shown = low > 1.0 or gone[i].against == first
                verdict = "slower" if is_shown else f"slower than {names[gone[i].against]}"
            elif self.answer is None and 1.0 / (1.0 + margin) < low and high < 1.0 + margin:
                verdict = near
            times = self.times[names[i]]
            return [names[i], ratio, low, high, times.median(), times.count(), verdict]

        rest = sorted(map(row, others), key=lambda row: (row[-1] == "failed", row[1]))
        rows, seen = [row(first), *rest], {row[-1] for row in rest} - {"failed"}
        if self.answer is None:
            best = "fastest" if seen <= {"slower"} else near
            known = (best if seen <= {"slower", near} else "not known") if seen else "left"
            rows[0][-1] = "failed" if first in gone else known
        columns = ["program", "ratio", "low", "high", "median", "rounds", "verdict"]
        return pd.DataFrame(rows, columns=columns)

    def _compared(self, i: int, j: int) -> tuple[float, float, float]:
        """Return the median ratio of the times of two programs, and its confidence interval."""
        logs = np.log(self.times.to_numpy())
        gaps = logs[:, i] - logs[:, j]
        gaps = gaps[~np.isnan(gaps)]
        if i == j or not len(gaps):
            return (1.0, 1.0, 1.0) if i == j else (np.nan, np.nan, np.nan)
        low, high = median_interval(gaps, self._decider.log_needed(logs.shape[1]))
        return tuple(np.exp([np.median(gaps), low, high]))

    def _pieces(self) -> list[Piece]:
        first: Any = self.table.iloc[0]
        one, margin = self.race.configs[1], f"{100 * np.expm1(self._decider.margin):.3g} %"
        words = {
            "fastest": f"{first.program} is the fastest.",
            "left": f"{first.program} is the only program that did not fail.",
            "failed": "All programs failed.",
            "not known": "Which program is the fastest is not known: give more rounds or a larger margin.",
            "passes": f"Passes: {one} is not slower than {first.program} by more than {margin}.",
            "worse": f"Worse: {one} is slower than {first.program} by more than {margin}, or failed.",
            "undecided": f"Undecided: whether {one} is slower by more than {margin} is not known.",
        }
        near = f"{first.program} is the fastest, or {first.verdict} of it."
        said = words.get(self.answer or first.verdict, near)
        table: Any = self.table.itertuples()
        rows = [
            (row[1], *(number(x) for x in row[2:5]), _time(row.median), row.rounds, row.verdict)
            for row in table
        ]
        title = (
            f"{'CPU' if self.cpu else 'Wall'} time, and its ratio to that of {first.program}, between "
            f"low and high; any of this is wrong with probability {self._decider.alpha:g} at most"
        )
        of = f"{len(self.times)} of {counted(len(self.race.instances or ()), 'round')}"
        return [
            " ".join([said, *self.failures]),
            Grid.of([*self.table.columns], rows, ("program", "verdict"), title),
            f"{summary.end(self.race.ended, of, 'round')}. Repeat with seed={self.race.seed}.",
        ]

    def to_json(self) -> str:
        """Return all of it as JSON: null where a number is not known."""
        found = {
            "fastest": self.fastest,
            "answer": self.answer,
            "ended": self.ended,
            "programs": self.table.to_dict("records"),
            "failures": self.failures,
            "times": self.times.to_dict("list"),
            "clock": "cpu" if self.cpu else "wall",
            "seed": self.race.seed,
            **vars(self._decider),
        }
        return in_json(as_json(found), indent=2)


def _time(seconds: float) -> str:
    unit, name = next((u for u in _UNITS if seconds >= u[0]), (1.0, ""))
    return f"{number(seconds / unit)} {name}".strip()
