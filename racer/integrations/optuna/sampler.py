"""A sampler that proposes as the tuner does."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from optuna.samplers import BaseSampler

from racer._checks import flag, whole
from racer.errors import SettingError
from racer.integrations.optuna.axes import Axis
from racer.integrations.optuna.ledger import Ledger
from racer.integrations.optuna.model import Model
from racer.integrations.optuna.values import is_maximized
from racer.seeding import check_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

__all__ = ["RacingSampler"]


class _View(NamedTuple):
    """What a sampler knows of a study as one trial begins; never changed."""

    study: weakref.ref[Study]
    trial: int
    ledger: Ledger
    running: tuple[Mapping[str, Any], ...]
    model: Model | None


class RacingSampler(BaseSampler):
    def __init__(
        self,
        *,
        n_startup_trials: int = 10,
        by_instance: bool = True,
        seed: int | None = None,
    ) -> None:
        self._n_startup = whole(n_startup_trials, "n_startup_trials", least=2)
        self._by_instance = flag(by_instance, "by_instance")
        self._seed = check_seed(seed)
        self._last: _View | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}

    def reseed_rng(self) -> None:
        """Draw a new seed, as Optuna asks of each thread with ``n_jobs > 1``."""
        self._seed = check_seed(None)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        view = self._view(study, trial)
        if view.ledger.n_usable < self._n_startup:
            return {}
        return {n: d for n, d in view.ledger.distributions.items() if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        view = self._view(study, trial)
        if not search_space:
            return {}
        model = self._model(view, search_space)
        if model is None:
            return {n: self._everywhere(trial, n, Axis(d)) for n, d in search_space.items()}
        return model.propose(rng_for(self._seed, "around", trial.number), view.running)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        view = self._view(study, trial)
        axis = Axis(param_distribution)
        return self._everywhere(trial, param_name, axis)

    def _everywhere(self, trial: FrozenTrial, name: str, axis: Axis) -> Any:
        turn, at = divmod(trial.number, self._n_startup)
        rng = rng_for(self._seed, "everywhere", name, turn)
        places = (rng.permutation(self._n_startup) + rng.random(self._n_startup)) / self._n_startup
        return axis.decode(float(places[at]))

    def _model(self, view: _View, space: Mapping[str, BaseDistribution]) -> Model | None:
        if view.ledger.n_usable < self._n_startup:
            return None
        last = view.model
        if last is not None and last.ledger is view.ledger and last.axes.distributions == space:
            return last
        model = Model(view.ledger, space, self._n_startup, last)
        self._last = view._replace(model=model)
        return model

    def _view(self, study: Study, trial: FrozenTrial) -> _View:
        if len(study.directions) > 1:
            raise SettingError("multi")
        last = self._last
        if last is not None and last.study() is not study:
            last = None
        if last is not None and last.trial == trial.number:
            return last
        trials = study.get_trials(deepcopy=False)
        ledger = last.ledger if last is not None else Ledger(is_maximized(study), self._by_instance)
        ledger = ledger.extended(trials)
        running = tuple(
            t.params for t in trials if not t.state.is_finished() and t.number != trial.number
        )
        view = _View(
            weakref.ref(study), trial.number, ledger, running, last.model if last else None
        )
        self._last = view
        return view
