"""Cells of a race, fitted and scored by scikit-learn's own loop."""

from __future__ import annotations

import math
import sys
import warnings
from collections import deque
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from racer.errors import SettingError
from racer.evaluate.executor import never
from racer.evaluate.outcome import Cell, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from racer.integrations.sklearn.folds import OneFold

_TIMES = {"mean_fit_time": "fit_time", "mean_score_time": "score_time"}
_RECORDED = {"test_score", *_TIMES.values()}
_FAILED = "the fit failed, or its score is not finite: see scikit-learn's FitFailedWarning"


def one_score_only() -> SettingError:
    """Return the error for what a store cannot keep."""
    return SettingError(
        "a store keeps one score per fit: give one in `scoring`, and return_train_score=False, or "
        "leave the store out"
    )


class Fits:
    """Workers that fit all cells of a fold at once, by the `evaluate_candidates` of a search.

    `params` turns a configuration into parameters of the estimator; `refit` names the score that
    is raced by, where there are several.
    """

    capacity = sys.maxsize
    takes_more = False

    def __init__(
        self,
        evaluate_candidates: Callable[..., dict[str, Any]],
        folds: OneFold,
        refit: Any,
        params: Callable[[Any], dict[str, Any]] = dict,
        *,
        is_recorded: bool = False,
    ) -> None:
        self._evaluate = evaluate_candidates
        self._folds = folds
        self.params = params
        self.is_recorded = is_recorded
        self._refit = refit
        self._cells: list[Cell] = []
        self._ended: deque[tuple[Cell, Outcome]] = deque()
        self.known: dict[tuple[int, int], dict[str, float]] = {}  # by candidate and fold
        self.results: dict[str, Any] = {}  # as scikit-learn has them: the same object to its end
        self.error: ValueError | None = None  # why all fits of a fold failed

    def submit(self, cell: Cell) -> None:
        """Take a cell."""
        self._cells.append(cell)

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Return a cell with its outcome; the first time, fit all that have been submitted."""
        if not self._ended:
            cells, self._cells = self._cells, []
            for fold, group in groupby(cells, key=lambda cell: cell.instance_index or 0):
                listed = list(group)
                told = self.fit([(cell.candidate, cell.config) for cell in listed], fold)
                self._ended.extend(zip(listed, told, strict=True))
        return self._ended.popleft()

    def fit(self, candidates: list[tuple[int, Any]], fold: int) -> list[Outcome]:
        """Fit candidates, with their numbers, on a fold."""
        self._folds.current = fold
        try:
            with warnings.catch_warnings():  # scores that are not finite are named at the end
                warnings.filterwarnings("ignore", "One or more of the ", UserWarning)
                self.results = self._evaluate([self.params(config) for _, config in candidates])
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            self.error = error
            for number, _ in candidates:
                self.known[number, fold] = {}
            return [Outcome("failed", None, message=_FAILED)] * len(candidates)
        return [
            self._outcome(number, fold, place - len(candidates))
            for place, (number, _) in enumerate(candidates)
        ]

    def _outcome(self, candidate: int, fold: int, row: int) -> Outcome:
        found = {
            name: float(column[row])
            for key, column in self.results.items()
            if (name := _TIMES.get(key) or key.removeprefix("split0_"))
            and (key in _TIMES or key.startswith("split0_"))
        }
        if self.is_recorded and not found.keys() <= _RECORDED:
            raise one_score_only()
        self.known[candidate, fold] = found
        value = found[f"test_{self.metric}"]
        seconds = found["fit_time"] + found["score_time"]
        if math.isfinite(value):
            return Outcome("ok", value, seconds=seconds)
        return Outcome("failed", None, seconds=seconds, message=_FAILED)

    @property
    def metric(self) -> str:
        """The score that is raced by: the only one, that of `refit`, or the first."""
        names = [
            key.removeprefix("split0_test_")
            for key in self.results
            if key.startswith("split0_test_")
        ]
        return self._refit if self._refit in names else names[0]

    def withdraw(self, cell: Cell) -> bool:  # noqa: ARG002
        """Refuse: nothing is submitted that is not needed."""
        return False

    def finish(self) -> list[Cell]:
        """Forget the cells."""
        self._cells.clear()
        return []

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Yield nothing."""
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()
