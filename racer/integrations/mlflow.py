"""A race or a tuning as a run of MLflow, with a run below it for each candidate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer.errors import MissingExtraError
from racer.integrations.tracking import TrackerCallback

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlflow.entities import Metric, Param

    from racer.integrations.tracking import Record

__all__ = ["MLflowCallback"]

_AT_ONCE = 1000  # metrics that MLflow takes in one batch
_STATUS = {"interrupted": "KILLED", "failed": "FAILED"}  # of a run that did not come to its end
_LONGEST = 500  # letters of a parameter that each backend keeps


class MLflowCallback(TrackerCallback):
    """A callback that logs a contest as a run of MLflow, whichever run is active.

    The run gets metrics by block: ``best_mean``, ``alive``, ``evaluations``, ``seconds``,
    ``failed``, ``best`` (a candidate's number), and ``spent``. When the contest ends, candidates
    get runs below it: parameters, the metric ``value`` by block, ``mean``, ``blocks``, the tag
    ``racer.eliminated``. The status of those eliminated is KILLED.

    Parameters
    ----------
    experiment : str
        Its name; made if it is missing.
    run_name : str, optional
    configs : sequence
        The candidates of a race, for their parameters; events of a tuning have them.
    params : mapping, optional
        Parameters of the run: budget, decider, and what else describes it.
    most : int >= 0
        Candidates that get a run, those with the most blocks.
    tracking_uri : str, optional
        As in ``mlflow.MlflowClient``; by default MLflow's own choice.

    Raises
    ------
    SettingError
        `most` is no such number.
    MissingExtraError
        MLflow is not installed.

    Examples
    --------
    ``with MLflowCallback("solver") as mlflow: racer.tune(.., callbacks=[mlflow])``
    """

    def __init__(
        self,
        experiment: str = "racer",
        *,
        run_name: str | None = None,
        configs: Sequence[Any] = (),
        params: Mapping[str, Any] | None = None,
        most: int = 100,
        tracking_uri: str | None = None,
    ) -> None:
        try:
            from mlflow import MlflowClient  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise MissingExtraError(
                "MLflow is not installed: pip install 'racer-tuning[mlflow]'"
            ) from error
        super().__init__(configs)
        self._most = whole(most, "most", least=0)
        self._client = MlflowClient(tracking_uri)
        found = self._client.get_experiment_by_name(experiment)
        self._experiment = (
            self._client.create_experiment(experiment) if found is None else found.experiment_id
        )
        run = self._client.create_run(self._experiment, run_name=run_name)
        self.run_id: str = run.info.run_id
        self._client.log_batch(self.run_id, params=_params(params or {}))

    def log(self, metrics: dict[str, float], block: int) -> None:
        """Log the metrics of a block."""
        self._client.log_batch(self.run_id, [_metric(n, v, block) for n, v in metrics.items()])

    def end(self, ended: str) -> None:
        """Make the runs of candidates, and end all."""
        for record in self.by_blocks(self._most):
            self._log_candidate(record)
        self._client.set_tag(self.run_id, "racer.ended", ended)
        if self.best is not None:
            best = {f"best.{name}": v for name, v in self.record(self.best).params.items()}
            self._client.log_batch(self.run_id, params=_params(best))
        self._client.set_terminated(self.run_id, _STATUS.get(ended, "FINISHED"))

    def _log_candidate(self, record: Record) -> None:
        tags = {"mlflow.parentRunId": self.run_id, "racer.eliminated": record.eliminated}
        name = f"#{record.candidate}"
        run = self._client.create_run(self._experiment, tags=tags, run_name=name)
        run_id = run.info.run_id
        known = {block: v for block, v in record.values.items() if math.isfinite(v)}
        metrics = [_metric("value", value, block) for block, value in known.items()]
        metrics += [_metric("blocks", len(record.values))]
        metrics += [] if record.mean is None else [_metric("mean", record.mean)]
        for start in range(0, len(metrics), _AT_ONCE):
            self._client.log_batch(run_id, metrics[start : start + _AT_ONCE])
        self._client.log_batch(run_id, params=_params(record.params))
        self._client.set_terminated(run_id, "KILLED" if record.eliminated else "FINISHED")


def _metric(name: str, value: float, step: int = 0) -> Metric:
    from mlflow.entities import Metric  # noqa: PLC0415  (an extra)

    return Metric(name, float(value), 0, step)


def _params(params: Mapping[str, Any]) -> list[Param]:
    from mlflow.entities import Param  # noqa: PLC0415  (an extra)

    return [Param(name, str(value)[:_LONGEST]) for name, value in params.items()]
