"""Cells of a race as fits of scikit-learn's search, made by racer's own workers."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from racer.errors import SettingError
from racer.evaluate.executor import OnlyNeeded, never
from racer.evaluate.outcome import Cell, Outcome
from racer.evaluate.process_state import process_put_back
from racer.evaluate.transport import unpacked
from racer.evaluate.workers import outcomes_of, workers_for
from racer.integrations.sklearn.calls import Place, by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.outcome import CellKey
    from racer.evaluate.workers import Pool
    from racer.integrations.sklearn.calls import Desk, Evaluate, Fit, Measurements

Fold = tuple[Any, Any]  # positions to train on, and to test on

ONE_SCORE_ONLY = (
    "a store keeps one score per fit: give one in `scoring`, and return_train_score=False, or "
    "leave the store out"
)
_FAILED = "the fit failed, or its score is not finite: see scikit-learn's FitFailedWarning"


class OneFold:
    """A splitter that yields one fold of another, `current`, and so makes a search fit that one."""

    def __init__(self, cv: Any) -> None:
        self._cv = cv
        self.folds: list[Fold] = []
        self.current = 0

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        """Divide the data, once for all; return 1."""
        self.folds = list(self._cv.split(X, y, **params))
        promised = self._cv.get_n_splits(X, y, **params)
        if len(self.folds) != promised:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. Expected "
                f"{promised} splits, got {len(self.folds)}"
            )
        if not self.folds:
            raise ValueError(
                "No fits were performed. Was the CV iterator empty? Were there no candidates?"
            )
        return 1

    def split(self, X: Any = None, y: Any = None, **params: Any) -> Iterator[Fold]:  # noqa: ARG002
        """Yield the current fold."""
        yield self.folds[self.current]

    def test_share(self) -> float:
        """Return the mean fraction of the data of a fold that is tested on."""
        sizes = [(_size(train), _size(test)) for train, test in self.folds]
        return float(np.mean([test / max(train + test, 1) for train, test in sizes]))

    def __repr__(self) -> str:
        return repr(self._cv)

    def __getattr__(self, name: str) -> Any:  # its metadata requests, say
        if name.startswith("__") or name == "_cv":
            raise AttributeError(name)
        return getattr(self._cv, name)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the folds: a worker is sent the positions that it needs."""
        return {"_cv": self._cv, "folds": [], "current": 0}


def _size(positions: Any) -> int:
    """Return how many positions these are: numbers, a slice, or a mask."""
    if isinstance(positions, slice):
        return len(range(*positions.indices(positions.stop or 0)))
    array = np.asarray(positions)
    return int(array.sum()) if array.dtype == np.bool_ else len(array)


class Fits(OnlyNeeded):
    """Workers that fit the cells of a race, and keep scikit-learn's measurements of each."""

    def __init__(
        self,
        fit: Fit,
        folds: OneFold,
        refit: Any,
        n_jobs: int,
        limits: Limits,
        *,
        is_recorded: bool,
        context: Any = None,
    ) -> None:
        self.fit = fit
        self.folds = folds
        self._refit = refit
        self._n_jobs = n_jobs
        self.limits = limits
        self._is_recorded = is_recorded
        self._context, self._numbers = context, count()  # of scikit-learn's callbacks
        self.params: Callable[[Any], dict[str, Any]] = dict  # of a configuration
        self._workers: Pool
        self._cells: dict[CellKey, Cell] = {}  # submitted
        self.measured: dict[tuple[int, int], Measurements] = {}  # by candidate and fold
        self.known: dict[tuple[int, int], dict[str, float]] = {}  # the same, by scores' names

    @property
    def are_elsewhere(self) -> bool:
        """Whether fits run in worker processes, of the active joblib backend."""
        return self._n_jobs > 1 or self.limits.forked(timed=False) is not None

    def employ(self, configs: Sequence[Any]) -> Self:
        """Choose the workers; ObjectiveError if they cannot be sent a candidate."""
        params = [self.params(config) for config in configs]
        self._workers = workers_for(
            self.fit, params, None, n_jobs=self._n_jobs, isolated=True, limits=self.limits
        )
        return self

    @property
    def capacity(self) -> int:
        """Number of fits to keep in flight."""
        return self._workers.capacity

    def submit(self, cell: Cell) -> None:
        """Queue a fit."""
        context = self._context
        if context is not None:
            name = "candidate-split-evaluation"
            context = context.subcontext(task_name=name, task_id=next(self._numbers))
        place = Place(*self.folds.folds[cell.instance_index or 0], context)
        self._cells[cell.key] = cell
        self._workers.submit(replace(cell, config=self.params(cell.config), instance=place))

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Wait for the outcome of a fit; raise its error if `error_score` is "raise"."""
        if (ended := self._workers.next(stopping)) is None:
            return None
        cell, outcome = self._cells.pop(ended[0].key), ended[1]
        if outcome.value is None:  # stopped at a limit, or its worker died
            measured = self.fit.failed(outcome)
        elif isinstance(measured := unpacked(outcome.message), Exception):
            raise measured
        if self._is_recorded and isinstance(measured["test_scores"], dict):
            raise SettingError(ONE_SCORE_ONLY)
        self.measured[cell.candidate, cell.instance_index or 0] = measured
        return cell, self._judged(outcome, measured)

    def _judged(self, outcome: Outcome, measured: Measurements) -> Outcome:
        """Return the outcome of a fit: the score that is raced by."""
        scores = measured["test_scores"]
        if isinstance(scores, dict):
            scores = scores[self._raced(list(scores))]
        if math.isfinite(scores):
            return replace(outcome, status="ok", value=float(scores), message="")
        lost = outcome.message if outcome.value is None else _FAILED
        status = outcome.status if outcome.value is None else "failed"
        return replace(outcome, status=status, value=None, message=lost)

    def _raced(self, names: Sequence[str]) -> str:
        """Return the score that is raced by: the only one, `refit`'s, or the first."""
        return self._refit if self._refit in names else names[0]

    @property
    def metric(self) -> str:
        """The score that is raced by, among the known scores."""
        names = dict.fromkeys(name for found in self.known.values() for name in found)
        tested = [name.removeprefix("test_") for name in names if name.startswith("test_")]
        return self._raced(tested)

    def complete(
        self, candidate: int, config: Any, folds: Iterable[int]
    ) -> list[tuple[int, float]]:
        """Fit a candidate on more folds, without a race; return folds and scores, NaN if failed."""
        cells = [
            # `held_out` keeps their keys apart from the cells of the race
            Cell(fold, candidate, config, None, fold, held_out=True, instance_index=fold)
            for fold in folds
        ]
        with process_put_back(), self:
            found = [*outcomes_of(self, cells)]
        return [
            (cell.block, math.nan if outcome.value is None else outcome.value)
            for cell, outcome in found
        ]

    def hand_over(
        self, desk: Desk, evaluate_candidates: Evaluate, configs: Sequence[Any]
    ) -> dict[str, Any]:
        """Give scikit-learn all measurements, which warns of failed fits, or raises if all failed.

        Return its results, the same object to its end.
        """
        params = [self.params(configs[candidate]) for candidate, _ in self.measured]
        with warnings.catch_warnings():  # scores that are not finite are named at the end
            warnings.filterwarnings("ignore", "One or more of the ", UserWarning)
            results = desk.answer(evaluate_candidates, params, [*self.measured.values()])
        self.known |= {cell: by_name(measured) for cell, measured in self.measured.items()}
        return results

    def finish(self) -> list[Cell]:
        """Forget the fits that have not begun; return cells with outcomes still to come."""
        return [self._cells[cell.key] for cell in self._workers.finish()]

    def __enter__(self) -> Self:
        self._workers.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._workers.__exit__(*error)
