"""The first blocks as a dress rehearsal, which detects an `evaluate` that cannot be meant."""

from __future__ import annotations

import ast
import functools
import inspect
import reprlib
from typing import TYPE_CHECKING, Any, NoReturn

from racer.direction import larger_is_better
from racer.errors import ObjectiveError, warn
from racer.evaluate.command.remedy import NOT_STARTED, OF_SAT, failing_code, remedy
from racer.evaluate.objective import raised_by
from racer.evaluate.outcome import metrics_wanted
from racer.store.source import source_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType

    from racer.core.contest import Contest
    from racer.evaluate.outcome import Cell, Outcome

    Report = Callable[[Cell, Outcome], object]

_FRACTIONS, _WHOLE = 2, 5  # blocks without a difference, which may be by chance
_RIGHT_OR_WRONG = 20


class FirstBlock:
    """Defers the outcomes of the first block while all are the same failure.

    A block that only has this failure raises ObjectiveError, and nothing of it is recorded. Of a
    block that is requested in parts, `tell` is called with each part, and `record` not before the
    end. `is_over` once an outcome differs, or a block is complete.
    """

    def __init__(self, record: Report, tell: Report, *, is_over: bool = False) -> None:
        self.is_over = is_over
        self._record, self._tell = record, tell
        self._alike: list[tuple[Cell, Outcome]] = []
        self._n_told = 0  # of them

    def defers(self, cell: Cell, outcome: Outcome) -> bool:
        """Defer an outcome that repeats the failures before it; else release these."""
        error = _kind_of(outcome)
        if self._alike:
            before, other = self._alike[0]
            is_next_block = bool(self._n_told) and before.block != cell.block
            error = None if is_next_block or _kind_of(other) != error else error
        if error is None:
            self.release()
            return False
        self._alike.append((cell, outcome))
        return True

    def release(self) -> None:
        """End the rehearsal; the deferred outcomes count like any others."""
        deferred, n_told = self._alike, self._n_told
        self._alike, self._n_told, self.is_over = [], 0, True
        for at, (cell, outcome) in enumerate(deferred):
            self._record(cell, outcome)
            if at >= n_told:
                self._tell(cell, outcome)

    def end(self, cells: Sequence[Cell], candidates: int) -> None:
        """Raise if all of a block is the same failure, with at least two cells.

        `cells` are from one request, `candidates` how many the block may have in all.
        """
        n, new = len(self._alike), self._alike[self._n_told :]
        if len(new) < len(cells):  # the run stops
            self.release()
        elif n > 1 and (len(cells) > 1 or n >= candidates):
            self._refuse()
        elif n < candidates:
            self._n_told = n
            for cell, outcome in new:
                self._tell(cell, outcome)
        else:
            self.release()
            self.is_over = False  # one is too few for a verdict

    def _refuse(self) -> NoReturn:
        (cell, first), n = self._alike[0], len(self._alike)
        where = "" if cell.instance is None else f" (instance {reprlib.repr(cell.instance)})"
        on = f"in all {n} evaluations of the first run{where}"
        if "\ncommand: " in first.message:
            why, end, more = first.message.partition("\n")
            messages = (outcome.message for _, outcome in self._alike)
            if advice := remedy(messages, is_timed=cell.bound is not None):
                why = f"{why}: {advice}"
            raise ObjectiveError(f"no cost {on}: {why}{end}{more.rstrip()}\nNothing is recorded.")
        names = "a finite number" if cell.metrics is None else metrics_wanted(cell.metrics)
        failed = "with the same error at the same line, first"
        if first.status == "invalid":
            subject = "it " if first.message.startswith(("returned", "gave")) else ""
            failed = f"where {names} is needed: {subject}".rstrip()
        raise ObjectiveError(
            f"evaluate failed {on}, {failed} {first.message.strip()}; nothing "
            "of it is recorded: correct evaluate, or begin with another instance, then run again"
        )


def _kind_of(outcome: Outcome) -> Any:
    """Return the kind of a failure for comparisons; None if it may concern the cell alone."""
    if outcome.status == "invalid":
        return "invalid"
    if outcome.status != "failed":
        return None
    if outcome.message.startswith(NOT_STARTED):
        return "not started"
    code = failing_code(outcome.message)
    return raised_by(outcome.message) or (OF_SAT if code in OF_SAT else code)


class FirstValues:
    """Warns, once per cause, of values that a correct `evaluate` hardly returns.

    Values that are the same for all candidates, or with every seed; minimized scores.
    """

    def __init__(self, evaluate: Any, *, minimizes: bool, has_seeds: bool) -> None:
        self._evaluate = evaluate
        self._may_be_scores = minimizes  # one number
        self._has_seeds = has_seeds  # blocks differ by nothing else
        self._values: dict[int, dict[int, Any]] = {}  # by block and candidate

    @classmethod
    def of(cls, contest: Contest[Any], evaluate: Any) -> FirstValues | None:
        """Return the checks of a new race or tuning; None for run times."""
        rules, instances = contest.rules, contest.description().instances
        is_watched = contest.kind != "ablation" and rules.runtime is None
        if not is_watched or contest.result().evaluations:
            return None
        has_seeds = rules.deterministic is None and (instances is None or len(instances) == 1)
        return cls(
            evaluate, minimizes=not rules.maximize and rules.aim is None, has_seeds=has_seeds
        )

    def see(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell."""
        if cell.held_out or cell.fidelity is not None or outcome.status != "ok":
            return
        value = outcome.value if outcome.metrics is None else tuple(outcome.metrics.values())
        self._values.setdefault(cell.block, {})[cell.candidate] = value

    def end(self) -> bool:
        """Check the values so far, after a block; return True once no more are needed."""
        blocks = [of for of in self._values.values() if len(of) > 1]
        if not blocks:
            return len(self._values) > _RIGHT_OR_WRONG
        values = [value for of in blocks for value in of.values()]
        if self._may_be_scores:
            self._may_be_scores = False
            self._check_scores(values)
        differs = any(len({*of.values()}) > 1 for of in blocks)
        if len(blocks) < _enough(values, varies=not differs and len({*values}) > 1):
            return False
        if not differs:
            _warn_of_no_difference(values, len(blocks))
        elif self._has_seeds and _repeat(blocks):
            warn(
                "evaluate ignores its seed: with others it returned the same values, in all "
                f"{_evaluations(values, len(blocks))}. Blocks that differ by nothing else prove "
                "nothing: use the seed, or give (more) instances, or Instances(.., deterministic=True)"
            )
        return True

    def end_of_run(self) -> None:
        """Check the values of a run that was too short for a verdict, or tested few blocks."""
        blocks = [of for of in self._values.values() if len(of) > 1]
        values = [value for of in blocks for value in of.values()]
        if len(blocks) < _FRACTIONS or len(values) < 10:
            return
        if all(len({*of.values()}) == 1 for of in blocks) and not _may_be_right_or_wrong(values):
            _warn_of_no_difference(values, len(blocks))

    def _check_scores(self, values: Sequence[float]) -> None:
        low, high = min(values), max(values)
        if low == high or not 0.0 <= low < high <= 1.0:
            return
        if name := next(_names_of_scores(self._evaluate), None):
            warn(
                f"evaluate returns {name!r}, from {low:.4g} to {high:.4g} on the first block, and "
                "smaller counts as better: give goal='max' if larger is"
            )


def _enough(values: Sequence[Any], *, varies: bool) -> int:
    """Return the number of blocks on which equal values are hardly due to chance."""
    numbers = {x for value in values for x in (value if isinstance(value, tuple) else (value,))}
    if numbers <= {0.0, 1.0}:
        return _RIGHT_OR_WRONG
    are_whole = all(number == round(number) for number in numbers)
    return _WHOLE if are_whole or varies or len(values) < 6 else _FRACTIONS


def _may_be_right_or_wrong(values: Sequence[Any]) -> bool:
    """Return True if a metric has at most two values, some whole: few blocks may be easy for all."""
    metrics = zip(*(v if isinstance(v, tuple) else (v,) for v in values), strict=True)
    found = [{*numbers} for numbers in metrics]
    return any(len(of) <= 2 and any(n == round(n) for n in of) for of in found)


def _evaluations(values: Sequence[Any], n_blocks: int) -> str:
    return f"{len(values)} evaluations of the first {n_blocks} runs"


def _warn_of_no_difference(values: Sequence[Any], n_blocks: int) -> None:
    same = len({*values}) == 1
    what = reprlib.repr(values[0]) if same else "the same value for all candidates of a run"
    warn(f"evaluate returned {what} in all {_evaluations(values, n_blocks)}: does it use config?")


def _repeat(blocks: Sequence[dict[int, Any]]) -> bool:
    """Return True if two candidates or more have the same values in all blocks."""
    known: dict[int, set[Any]] = {}
    for block in blocks:
        for candidate, value in block.items():
            known.setdefault(candidate, set()).add(value)
    often = [c for c in known if sum(c in block for block in blocks) == len(blocks)]
    return len(often) > 1 and all(len(values) == 1 for values in known.values())


def _names_of_scores(evaluate: Any) -> Iterator[str]:
    """Yield names of scores: the function's, or of unchanged return values (not 1 - score)."""
    while isinstance(evaluate, functools.partial):
        evaluate = evaluate.func
    evaluate = inspect.unwrap(evaluate)
    if _is_score(name := getattr(evaluate, "__name__", "")):
        yield name
    if not inspect.isroutine(evaluate):
        evaluate = getattr(type(evaluate), "__call__", None)  # noqa: B004  (of the class)
    if (code := getattr(evaluate, "__code__", None)) is not None:
        yield from _scores_returned(code)


@functools.lru_cache(maxsize=32)
def _scores_returned(code: CodeType) -> tuple[str, ...]:
    """Return the names of scores among the unchanged return values of a function."""
    tree = source_tree(code)
    if tree is None:
        return ()
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Return | ast.Lambda):
            answer = node.value if isinstance(node, ast.Return) else node.body
            nodes = [] if answer is None else [*ast.walk(answer)]
            if not any(isinstance(part, ast.Sub | ast.USub) for part in nodes):
                names += (getattr(p, "id", getattr(p, "attr", "")) for p in nodes)
    return tuple(filter(_is_score, names))


def _is_score(name: str) -> bool:
    return larger_is_better(name) is True or name.casefold() in {"score", "scores"}
