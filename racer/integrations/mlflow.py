"""A race or a tuning as a run of MLflow, with a run below it for each candidate."""

from __future__ import annotations

import math
import posixpath
import re
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer.errors import MissingExtraError
from racer.integrations.tracking import TrackerCallback, params_of, records_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlflow.entities import Metric, Param

    from racer.integrations.tracking import Record
    from racer.results.base import Result

__all__ = ["MLflowCallback"]

_AT_ONCE = {"metrics": 1000, "params": 100}  # so many does MLflow take
_STATUS = {"interrupted": "KILLED", "failed": "FAILED"}  # of a run that did not come to its end
_REFUSED = re.compile(r"[^\w./ -]", re.ASCII)  # in a name, by one system or another


class MLflowCallback(TrackerCallback):
    """A callback that logs a contest as a run of MLflow, whichever run is active.

    The run gets metrics by block: ``best_mean``, ``alive``, ``evaluations``, ``seconds``,
    ``failed``, ``best`` (a candidate's number), and ``spent``; the last step is the result. When
    the contest ends, candidates get runs below it: parameters, the metrics ``value`` by block,
    ``mean``, ``blocks``, and ``test`` by held-out instance with ``test_mean``; the tag
    ``racer.eliminated``. The status of eliminated ones is KILLED.

    Letters of parameters' names that MLflow refuses become ``_``. An error of MLflow becomes a
    RacerWarning.

    Parameters
    ----------
    experiment : str
        Its name; made if it is missing.
    run_name : str, optional
    params : mapping, optional
        Parameters of the run: budget, decider, and what else describes it.
    most : int >= 0
        Candidates that get a run: the best, the survivors, then the others with the most blocks.
    tracking_uri : str, optional
        As in ``mlflow.MlflowClient``; by default MLflow's own choice.

    Raises
    ------
    SettingError
        `most` is not such a number.
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
        super().__init__()
        self._most = whole(most, "most", least=0)
        client = self._client = MlflowClient(tracking_uri)
        found = client.get_experiment_by_name(experiment)
        new = client.create_experiment(experiment) if found is None else found.experiment_id
        self._experiment: str = new
        self.run_id: str = client.create_run(new, run_name=run_name).info.run_id
        self._log_all(self.run_id, params=_params(params or {}))

    def log(self, metrics: dict[str, float], step: int) -> None:
        """Log the metrics of a block, or, as the last step, of the result."""
        self._client.log_batch(self.run_id, [_metric(n, v, step) for n, v in metrics.items()])

    def end(self, ended: str, result: Result | None) -> None:
        """Make the runs of candidates, and end all."""
        status = "FAILED"
        try:
            self._client.set_tag(self.run_id, "racer.ended", ended)
            if result is not None:
                best = {f"best.{name}": v for name, v in params_of(result.best).items()}
                self._log_all(self.run_id, params=_params(best))
                for record in records_of(result, self._most):
                    self._log_candidate(record)
            status = _STATUS.get(ended, "FINISHED")
        finally:
            self._client.set_terminated(self.run_id, status)

    def _log_all(self, run_id: str, **found: Sequence[Any]) -> None:
        for kind, items in found.items():
            for at in range(0, len(items), _AT_ONCE[kind]):
                self._client.log_batch(run_id, **{kind: items[at : at + _AT_ONCE[kind]]})

    def _log_candidate(self, record: Record) -> None:
        tags = {"mlflow.parentRunId": self.run_id, "racer.eliminated": record.eliminated}
        name = f"#{record.candidate}"
        run_id = self._client.create_run(self._experiment, tags=tags, run_name=name).info.run_id
        metrics = [_metric("value", value, block) for block, value in record.values.items()]
        metrics += [_metric("test", value, at) for at, value in record.tests.items()]
        found = {"blocks": len(record.values), "mean": record.mean, "test_mean": record.test_mean}
        metrics += [_metric(name, value) for name, value in found.items() if value is not None]
        metrics = [metric for metric in metrics if math.isfinite(metric.value)]
        self._log_all(run_id, metrics=metrics, params=_params(record.params))
        self._client.set_terminated(run_id, "KILLED" if record.eliminated else "FINISHED")


def _metric(name: str, value: float, step: int = 0) -> Metric:
    from mlflow.entities import Metric  # noqa: PLC0415  (an extra)

    return Metric(name, float(value), 0, step)


def _params(params: Mapping[str, Any]) -> list[Param]:
    from mlflow.entities import Param  # noqa: PLC0415  (an extra)

    names: dict[str, Any] = {}
    for name, value in params.items():
        plain = _plain(name)
        free = chain([plain], (f"{plain}_{number}" for number in count(2)))
        names[next(one for one in free if one not in names)] = value
    # each backend keeps so many letters of a value
    return [Param(name, str(value)[:500]) for name, value in names.items()]


def _plain(name: str) -> str:
    """Return a name that MLflow takes: of plain letters, and no path that has a shorter form."""
    # MLflow takes 250 letters, and a number may follow
    plain = _REFUSED.sub("_", name)[:240] or "_"
    if posixpath.normpath(plain) != plain or plain.startswith("/"):
        plain = plain.replace("/", "_")
    return f"_{plain}" if plain == "." or plain.startswith("..") else plain
