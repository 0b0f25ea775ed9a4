"""A race or a tuning as a run of Weights & Biases, with a table of its candidates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from racer._numerics import as_plain
from racer.errors import MissingExtraError
from racer.integrations.tracking import TrackerCallback, params_of, records_of

if TYPE_CHECKING:
    from racer.results.base import Result

__all__ = ["WandbCallback"]

_COLUMNS = ("candidate", "blocks", "mean", "test_mean", "eliminated")


class WandbCallback(TrackerCallback):
    """A callback that logs a contest as a run of Weights & Biases.

    The history has, by block, ``best_mean``, ``alive``, ``evaluations``, ``seconds``, ``failed``,
    ``best`` (a candidate's number), and ``spent``; its last row is the result. When the contest
    ends, the summary gets ``ended`` and ``best_params``, and the table ``candidates`` a row for
    each. An error of W&B becomes a RacerWarning.

    Parameters
    ----------
    run : wandb.Run, optional
        A run that goes on afterwards. None: one is begun, and finished when the contest ends.
    **init
        Arguments of ``wandb.init``: project, name, config, ``mode="offline"``.

    Raises
    ------
    MissingExtraError
        W&B's client is not installed.

    Examples
    --------
    ``with WandbCallback(project="solver") as wandb: racer.tune(.., callbacks=[wandb])``
    """

    def __init__(self, run: Any = None, **init: Any) -> None:
        try:
            import wandb  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise MissingExtraError(
                "W&B's client is not installed: pip install 'racer-tuning[wandb]'"
            ) from error
        super().__init__()
        self._table = wandb.Table
        self._is_ours = run is None
        self.run: Any = wandb.init(**init) if run is None else run

    def log(self, metrics: dict[str, float], step: int) -> None:
        """Log the metrics of a block, or, as the last step, of the result."""
        self.run.log({"block": step, **metrics})

    def end(self, ended: str, result: Result | None) -> None:
        """Log the table of candidates and the best of them; finish a run of our own."""
        code = 1
        try:
            self.run.summary.update({"ended": ended})
            if result is not None:
                best = {name: _plain(value) for name, value in params_of(result.best).items()}
                self.run.summary.update({"best_params": best})
                self.run.log({"candidates": self._candidates(result)})
            code = int(ended in {"interrupted", "failed"})
        finally:
            if self._is_ours:
                self.run.finish(exit_code=code)

    def _candidates(self, result: Result) -> Any:
        records = records_of(result)
        names = list(dict.fromkeys(name for record in records for name in record.params))
        columns = [f"{name} (parameter)" if name in _COLUMNS else name for name in names]
        table = self._table([*_COLUMNS, *columns], allow_mixed_types=True)
        for r in records:
            mean, test_mean = (math.nan if m is None else m for m in (r.mean, r.test_mean))
            values = [_plain(r.params.get(name)) for name in names]
            table.add_data(r.candidate, len(r.values), mean, test_mean, r.eliminated, *values)
        return table


def _plain(value: Any) -> Any:
    """Return a value as W&B keeps it: text and numbers as they are, all else written out."""
    value = as_plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
