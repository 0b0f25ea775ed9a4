"""The calls that scikit-learn's search makes of joblib, taken from it and answered."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
from joblib.externals.loky.backend import resource_tracker
from joblib.parallel import LokyBackend, ParallelBackendBase, get_active_backend
from sklearn.base import clone

from racer.errors import ObjectiveError
from racer.evaluate.objective import Measured, describe
from racer.evaluate.transport import mapped, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from racer.evaluate.outcome import Outcome

Evaluate = Callable[..., dict[str, Any]]  # `evaluate_candidates` of a search
Measurements = dict[str, Any]  # what scikit-learn's function returns of a fit


class Place(NamedTuple):
    """The rows to fit and to score on, and the context of scikit-learn's callbacks."""

    train: Any
    test: Any
    context: Any


class _TakenError(Exception):
    """Raised in place of a call."""


class Desk(ParallelBackendBase):
    """A backend of joblib that makes no call: it takes one, or answers each from known results."""

    supports_retrieve_callback = True

    def __init__(self) -> None:
        super().__init__(nesting_level=0)
        self.taken: tuple[Any, Any, Mapping[str, Any]] | None = None
        self.answers: Iterator[Measurements] = iter(())

    def effective_n_jobs(self, n_jobs: int) -> int:  # noqa: ARG002
        """Return 2: for one, joblib makes the calls itself."""
        return 2

    def submit(self, func: Any, callback: Any = None) -> None:
        """Pass the answers to a batch of calls on; the first of all calls is taken instead."""
        if self.taken is None:
            (self.taken,) = func.items
            raise _TakenError
        callback([next(self.answers) for _ in func.items])

    def retrieve_result_callback(self, out: Any) -> Any:
        """Return the answers."""
        return out

    def take(self, evaluate_candidates: Evaluate) -> Fit:
        """Return a fit as the search would make it."""
        with suppress(_TakenError):
            # scikit-learn prepares a fit for this candidate; `submit` takes it, and raises
            evaluate_candidates([{}])
        if self.taken is None:
            raise TypeError("scikit-learn's search makes no call of joblib")
        return Fit(*self.taken)

    def answer(
        self,
        evaluate_candidates: Evaluate,
        params: Sequence[dict[str, Any]],
        measured: Sequence[Measurements],
    ) -> dict[str, Any]:
        """Return the search's results of fits that were made elsewhere."""
        self.answers = iter(measured)
        return evaluate_candidates(params)


class Fit:
    """`evaluate(params, place, seed)`: a fit by scikit-learn's own function.

    The outcome's message has the measurements, or the error.
    """

    def __init__(self, function: Any, data: Any, given: Mapping[str, Any]) -> None:
        self._function = function
        self._estimator, *data = data
        self._data: list[Any] | None = data  # X, y
        self._given = {**given}
        self._mapped = ""  # the file of the data

    def __call__(self, params: dict[str, Any], place: Place, seed: int) -> Measured:  # noqa: ARG002
        """Fit and score."""
        if self._data is None:
            self._data = mapped(self._mapped)
        given = {**self._given, "parameters": params, "train": place.train, "test": place.test}
        if place.context is not None:
            given["callback_ctx"] = place.context
        try:
            measured = self._function(clone(self._estimator), *self._data, **given)
        except Exception as error:  # noqa: BLE001  (any of the estimator's, with error_score="raise")
            error.add_note(format_exc())
            return Measured("ok", 0.0, _packed(error))
        return Measured("ok", 0.0, packed(measured))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_data": None} if self._mapped else self.__dict__

    @contextmanager
    def mapped(self) -> Iterator[None]:
        """Let worker processes of joblib map the data from a file, as joblib's own calls do."""
        if not isinstance(get_active_backend()[0], LokyBackend):
            yield
            return
        home = os.environ.get("JOBLIB_TEMP_FOLDER")
        with tempfile.TemporaryDirectory(prefix="racer-", dir=home) as folder:
            resource_tracker.register(folder, "folder")  # removed also if this process is killed
            path = Path(folder) / "data"
            try:
                with suppress(Exception):  # some data can be pickled by cloudpickle only
                    joblib.dump(self._data, path)
                    self._mapped = str(path)
                yield
            finally:
                self._mapped = ""
                resource_tracker.unregister(folder, "folder")

    def failed(self, outcome: Outcome) -> Measurements:
        """Return scikit-learn's record of a failed fit for a fit that was stopped or killed."""
        error = self._given["error_score"]
        if error == "raise":
            raise ObjectiveError(f"a fit was ended ({outcome.status}): {outcome.message}")
        names = getattr(self._given["scorer"], "_scorers", None)
        scores = error if names is None else dict.fromkeys(names, error)
        train = {"train_scores": scores} if self._given["return_train_score"] else {}
        return {
            "fit_error": f"{outcome.status}: {outcome.message}",
            "test_scores": scores,
            **train,
            "n_test_samples": 0,
            "fit_time": outcome.seconds,
            "score_time": 0.0,
        }


def _packed(error: Exception) -> str:
    """Return an error as text: its description, if it cannot be sent."""
    try:
        text = packed(error)
        unpacked(text)
    except Exception:  # noqa: BLE001  (its __reduce__ may do anything)
        return packed(ObjectiveError(describe(error)))
    return text


def by_name(measured: Measurements) -> dict[str, float]:
    """Return the measurements of a fit as numbers, scores by their names in `cv_results_`."""
    found = {name: float(measured[name]) for name in ("fit_time", "score_time")}
    for kind in ("test", "train"):
        scores = measured.get(f"{kind}_scores", {})
        named = scores if isinstance(scores, dict) else {"score": scores}
        found |= {f"{kind}_{name}": float(score) for name, score in named.items()}
    return found
