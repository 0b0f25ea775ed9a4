"""A sampler that proposes as the tuner does."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from optuna.pruners import HyperbandPruner, PercentilePruner, SuccessiveHalvingPruner
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.trial import TrialState

from racer._checks import flag, whole
from racer.errors import SettingError, warn
from racer.integrations.optuna.attributes import RACE
from racer.integrations.optuna.model import History, Model, settled
from racer.integrations.optuna.reports import is_maximized
from racer.integrations.optuna.search_space import Axis
from racer.seeding import check_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial


class _View(NamedTuple):
    """A sampler's view of a study as one trial begins; immutable."""

    study: weakref.ref[Study]
    trial: int
    history: History
    running: tuple[Mapping[str, Any], ...]
    model: Model | None


class RacingSampler(BaseSampler):
    """Propose as `racer.tune` does: fill the space at first, then sample around the elites.

    The first trials are a Latin hypercube, each parameter by itself, so that it holds for spaces
    that the objective defines as it runs, and for trials that run side by side. Then drafts are
    drawn around the values of the best trials, in a neighbourhood that narrows as trials come in,
    and a Gaussian process takes the most promising. Half of the neighbourhoods are wider, as
    the number of trials is unknown.

    Where trials report values per instance, as ``trial.report(value, step=instance)``, these
    count, and not the trials' own values: the instances' difficulties are taken out, so that
    trials that saw different instances, or only some, can be compared, and luck on a few is not
    followed. So pruned trials count as much as they have seen. An instance whose value is
    NaN, or infinitely bad, is one on which the trial failed. Then a study needs a pruner that
    compares within instances, such as `RacingPruner`: Optuna's default, MedianPruner, takes easy
    instances for good trials.

    Which parameters exist is learnt from the trials: that a parameter is there where another has
    certain values. One that is new, or has values that it never had, is drawn around the elites
    that have it, or from its whole range. Where there are categorical parameters, three proposals in
    ten have another choice of one of them, even if that lost before.

    A failed trial, a pruned one without any value, or a trial that violates a constraint, is taken
    for one vague observation of the worst: regions where many fail are avoided, and one failure of
    the machine does little harm. Trials that are running, whether alive or not, are not repeated,
    and otherwise ignored.

    Parameters
    ----------
    n_startup_trials : int >= 2
        Complete or pruned trials with a value before elites are taken.
    by_instance : bool
        False: steps are not instances, but for example epochs. Then only the trials' own values
        count; a pruned one's is at best the median of the complete ones'.
    constraints_func : callable, optional
        ``constraints_func(trial) -> sequence of float`` for each complete or pruned trial, as of
        Optuna's samplers: above 0 is a constraint violated. `Trial.set_constraint` of Optuna 5
        needs none.
    seed : int >= 0, optional
        With the same seed, the same proposals follow from the same trials, also in another
        process that goes on with a study (``n_jobs=1``; Optuna replaces the seed otherwise,
        except the Latin hypercube).

    Raises
    ------
    SettingError
        A parameter out of range; from a study with several objectives, a ValueError too.

    Warns
    -----
    RacerWarning
        A trial with values by instance was pruned by a pruner that compares these as they are.

    References
    ----------
    López-Ibáñez et al.: The irace package (Operations Research Perspectives 2016), section 2,
    for elites and narrowing neighbourhoods. McKay, Beckman, Conover (Technometrics 1979) for the
    Latin hypercube.

    Examples
    --------
    >>> import optuna
    >>> from racer.integrations.optuna import RacingSampler
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def objective(trial):
    ...     x = trial.suggest_float("x", -10, 10)
    ...     for instance, optimum in enumerate([1.8, 2.0, 2.2]):
    ...         trial.report((x - optimum) ** 2, step=instance)
    ...     return (x - 2.0) ** 2
    >>> study = optuna.create_study(sampler=RacingSampler(seed=1))
    >>> study.optimize(objective, n_trials=40)
    >>> abs(study.best_params["x"] - 2.0) < 0.1
    True
    """

    def __init__(
        self,
        *,
        n_startup_trials: int = 10,
        by_instance: bool = True,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        seed: int | None = None,
    ) -> None:
        self._n_startup = whole(n_startup_trials, "n_startup_trials", least=2)
        self._by_instance = flag(by_instance, "by_instance")
        if constraints_func is not None and not callable(constraints_func):
            raise SettingError(
                f"constraints_func={constraints_func!r}: give constraints_func(trial) -> [number, ..]"
            )
        self._constraints_func = constraints_func
        self._seed = check_seed(seed)
        self._design = self._seed  # a trial takes the row of its number: no two the same
        self._has_warned = False
        self._last: _View | None = None  # replaced, never changed: several threads share it

    def __getstate__(self) -> dict[str, Any]:
        """Leave out everything that can be learnt again from the study."""
        return {**self.__dict__, "_last": None}

    def __repr__(self) -> str:
        return (
            f"RacingSampler(n_startup_trials={self._n_startup}, by_instance={self._by_instance}, "
            f"seed={self._seed})"
        )

    def reseed_rng(self) -> None:
        """Draw a new seed, as Optuna asks for in each thread with ``n_jobs > 1``.

        The Latin hypercube of the first trials stays: drawn anew for each trial, it would be none.
        """
        self._seed = check_seed(None)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return all parameters that a trial ever had, once there are elites; Optuna calls this.

        Raises
        ------
        SettingError
            The study has several objectives.
        """
        view = self._view(study, trial)
        return view.history.free if self._is_started(view) else {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return a value for each of these parameters together; Optuna calls this.

        Raises
        ------
        SettingError
            The study has several objectives.
        """
        view = self._view(study, trial)
        if not search_space:
            return {}
        if not self._is_started(view):
            return {n: self._everywhere(trial, n, Axis(d)) for n, d in search_space.items()}
        model = self._model(view, search_space)
        later = [observation.params for observation in view.history.observations[model.trials :]]
        rng = rng_for(self._seed, "around", trial.number)
        return model.propose(rng, [*later, *view.running])

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a value for one parameter that `sample_relative` has none for; Optuna calls this.

        Raises
        ------
        SettingError
            The study has several objectives.
        """
        view, axis = self._view(study, trial), Axis(param_distribution)
        if self._is_started(view) and view.history.free:
            model = self._model(view, view.history.free)
            rng = rng_for(self._seed, "around", trial.number, param_name)
            place = model.place_of_one(param_name, axis, rng)
            if place is not None:
                return axis.decode(place)
        return self._everywhere(trial, param_name, axis)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,  # noqa: ARG002
    ) -> None:
        """Record the constraints; warn of a pruner that compares values of different instances.

        Optuna calls this.
        """
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        by_steps = self._by_instance and trial.intermediate_values and not self._has_warned
        is_by_pruner = state == TrialState.PRUNED and RACE not in trial.user_attrs
        # they compare a trial's value at a step with those of others at it; Median is a Percentile
        raw = PercentilePruner | SuccessiveHalvingPruner | HyperbandPruner
        if by_steps and is_by_pruner and isinstance(study.pruner, raw):
            self._has_warned = True
            name = type(study.pruner).__name__
            warn(
                f"trial {trial.number} was pruned by {name}, which compares values as they are, so "
                "that a trial with easy instances first looks good: give the study "
                "pruner=RacingPruner(instances=..), or optuna.pruners.NopPruner(); where steps are "
                "not instances, RacingSampler(by_instance=False)"
            )

    def _is_started(self, view: _View) -> bool:
        history = view.history
        return history.n_usable + history.n_infeasible >= self._n_startup and history.n_usable >= 2

    def _everywhere(self, trial: FrozenTrial, name: str, axis: Axis) -> Any:
        """Return a value of a Latin hypercube, one for each `n_startup_trials` trials in a row."""
        n = self._n_startup
        which, row = divmod(trial.number, n)
        rng = rng_for(self._design, "everywhere", which, name)
        return axis.decode(float(rng.permutation(n)[row] + rng.random(n)[row]) / n)

    def _model(self, view: _View, space: Mapping[str, BaseDistribution]) -> Model:
        """Return the model of a study, the last one until there are enough new trials."""
        observations = view.history.observations[: settled(view.history.observations)]
        last = view.model
        if last and (last.trials, last.axes.distributions) == (len(observations), space):
            return last
        model = Model(observations, space, self._n_startup, last)
        self._last = view._replace(model=model)
        return model

    def _view(self, study: Study, trial: FrozenTrial) -> _View:
        """Return the view as a trial begins, the same throughout the trial."""
        last = self._last
        if last is None or last.study() is not study:
            if len(study.directions) > 1:
                raise SettingError(
                    "RacingSampler is for one objective, and the study has "
                    f"{len(study.directions)}: use NSGAIISampler or TPESampler"
                )
            known, model = History(is_maximized(study), self._by_instance), None
        # Optuna asks several times for one trial, whose values must come from one view
        elif last.trial == trial.number:
            return last
        else:
            known, model = last.history, last.model
        trials = study.get_trials(deepcopy=False)
        running = tuple(
            t.params for t in trials if not t.state.is_finished() and t.number != trial.number
        )
        view = _View(weakref.ref(study), trial.number, known.extended(trials), running, model)
        self._last = view
        return view
