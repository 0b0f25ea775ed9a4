"""A race or a tuning as a run of Weights & Biases, with a table of its candidates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from racer.errors import MissingExtraError
from racer.integrations.tracking import TrackerCallback

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["WandbCallback"]

_PLAIN = (bool, int, float, str)


class WandbCallback(TrackerCallback):
    """A callback that logs a contest as a run of Weights & Biases.

    The history has, by block, ``best_mean``, ``alive``, ``evaluations``, ``seconds``, ``failed``,
    ``best`` (a candidate's number), and ``spent``. When the contest ends, the summary gets
    ``ended`` and ``best_params``, and the table ``candidates`` a row for each.

    Parameters
    ----------
    run : wandb.Run, optional
        A run that goes on afterwards. None: one is begun, and finished when the contest ends.
    configs : sequence
        The candidates of a race, for their parameters; events of a tuning have them.
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

    def __init__(self, run: Any = None, *, configs: Sequence[Any] = (), **init: Any) -> None:
        try:
            import wandb  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise MissingExtraError(
                "W&B's client is not installed: pip install 'racer-tuning[wandb]'"
            ) from error
        super().__init__(configs)
        self._table = wandb.Table
        self._is_ours = run is None
        self.run: Any = wandb.init(**init) if run is None else run

    def log(self, metrics: dict[str, float], block: int) -> None:
        """Log the metrics of a block."""
        self.run.log({"block": block, **metrics})

    def end(self, ended: str) -> None:
        """Log the table of candidates and the best of them; finish a run of our own."""
        records = self.by_blocks(len(self.records))
        names = list(dict.fromkeys(name for record in records for name in record.params))
        table = self._table(
            ["candidate", "blocks", "mean", "eliminated", *names], allow_mixed_types=True
        )
        for r in records:
            values = [_plain(r.params.get(name)) for name in names]
            mean = math.nan if r.mean is None else r.mean
            table.add_data(r.candidate, len(r.values), mean, r.eliminated, *values)
        self.run.log({"candidates": table})
        best = {} if self.best is None else self.record(self.best).params
        plain = {name: _plain(value) for name, value in best.items()}
        self.run.summary.update({"ended": ended, "best_params": plain})
        if self._is_ours:
            self.run.finish(exit_code=int(ended in {"interrupted", "failed"}))


def _plain(value: Any) -> Any:
    """Return a value as W&B keeps it: what is neither text nor a number is written out."""
    return value if value is None or isinstance(value, _PLAIN) else repr(value)
