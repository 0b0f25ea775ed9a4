"""A pruner for objectives that report one value per instance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from optuna.pruners import BasePruner
from optuna.trial import TrialState

from racer._checks import check_epsilon, check_fraction, whole
from racer._numerics import power_near, with_ties
from racer.core.rules import is_due
from racer.deciders.anytime import AnytimeRace
from racer.deciders.bayesian_best import BayesianBest
from racer.deciders.best_for_budget import BestForBudget
from racer.deciders.correlated_t import CorrelatedTRace
from racer.deciders.decider import Blocks, Setting
from racer.deciders.halving import SequentialHalving
from racer.deciders.named import as_decider
from racer.deciders.parts.checks import checked_drop, checked_verdict
from racer.errors import SettingError, warn
from racer.integrations.optuna.reports import (
    costs_on,
    from_running_means,
    is_feasible,
    is_maximized,
    kind_of,
)
from racer.seeding import check_seed, rng_for
from racer.stats.sign import probability_indistinguishable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from racer.deciders.decider import Decider, Drop

_WARNINGS = {
    "few": "the trials report too few values for a pruner that does not know how many there will be: "
    "hardly any is pruned; give their number, RacingPruner(instances=..)",
    "running means": "the trials report running means: they are turned back into values; report the "
    "value of each instance, trial.report(value, step=instance)",
    "learning curve": "the values of the trials rise or fall from step to step, as on a learning "
    "curve, and so none is pruned: RacingPruner compares trials on instances (folds, data sets, "
    "seeds), one a step. For epochs and boosting rounds use another pruner, such as "
    "optuna.pruners.MedianPruner(); if these are instances in order of difficulty, give their number, "
    "instances=..",
}
_ENDED = 4  # trials, after which it is known how many instances they have
_MANY = 16  # instances that AnytimeRace needs to drop a trial that is worse by one deviation


@dataclass
class _Memory:
    """State of a running trial that is not in the storage."""

    values_then: dict[int, int]  # how many values each running trial had when it began
    steps: list[int] = field(default_factory=list)  # in the order of their reports


class RacingPruner(BasePruner):
    """Prune a trial when a decider drops it, by its values on single instances.

    For objectives that report one value per instance, fold, data set or seed, as
    ``trial.report(value, step=instance)``, and ask ``trial.should_prune()`` after each. The
    running trial is compared with all earlier and running trials at once, on the instances that
    it has in common with them; pruned trials count as far as they came.

    The default decider is `AnytimeRace`: a trial that is worse than none of the others is *ever*
    pruned with probability `alpha` = 0.05 at most, however often the pruner tests, if the
    instances come in an order that has nothing to do with their values and the differences
    between two trials on an instance are symmetric. Such a promise needs instances: with fewer
    than 16 of them, given as `instances`, the default is `CorrelatedTRace`, from the third on.
    It and the other deciders spend their error again at each test.

    A trial is not pruned while its mean is better than the mean of the trial that speaks most
    against it, on their common instances. Values that are not finite are as if they had not
    been reported. A step counts once; steps may come in any order. Running trials count if they
    have reported something since this process first asked about the trial in question: trials
    whose process died do not. Failed and waiting trials do not count.

    Reports that are running means, as objectives for Optuna's MedianPruner make them, are
    recognised once there are a few trials, and turned back into values, with a warning. Without
    `instances`, trials whose values rise or fall from step to step are taken for learning curves,
    over epochs or boosting rounds: there is a warning, and none is pruned.

    Parameters
    ----------
    decider : str or Decider, optional
        "anytime", "bayesian-friedman", "f-race", "f-race-sign", "f-race-mean-rank", "t-race", or an
        object from `racer.deciders`; by default "anytime", or `CorrelatedTRace` with fewer than 16
        instances. Deciders that compare complete blocks compare each trial
        up to the first instance that it lacks, in the order of the running trial; deciders that
        need a budget cannot be used.
    instances : int, optional
        Their number: then steps are instances in any order, a step outside 0 to instances - 1 is an
        error, and a trial that has reported them all is not pruned any more.
    first_test : int, optional
        Prune no trial that has fewer usable values; 5 by default, 3 with few instances and no
        decider given. "anytime" needs five or more in any case, and looks at each value from then
        on; the others look again at growing distances, as `racer.race` does.
    epsilon : float in [0, 0.5)
        Prune also a trial that is indistinguishable from the best of the trials that have all its
        instances, and does not lead: when the probability of beating it on an instance is
        within `epsilon` of 1/2 with posterior probability above `confidence`, as
        `BayesianFriedman` has it. 0: never. It takes about 390 instances at 0.05 and 95 at 0.1.
    confidence : float in (0.5, 1)
        For `epsilon` only.
    seed : int >= 0
        Of deciders that draw: same seed and values, same decisions.

    Raises
    ------
    SettingError
        A setting that cannot work; from `prune`, a step beyond `instances`.

    References
    ----------
    Ramdas, Ruf, Larsson, Koolen: Admissible anytime-valid sequential inference must rely on
    nonnegative martingales (arXiv:2009.03167, 2020).

    Examples
    --------
    >>> import optuna
    >>> from racer.integrations.optuna import RacingPruner, finish
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def objective(trial):
    ...     x = trial.suggest_float("x", 0.0, 10.0)
    ...     for instance in range(20):
    ...         trial.report((x - 3.0) ** 2 + instance, step=instance)
    ...         if trial.should_prune():
    ...             finish(trial)
    ...     return (x - 3.0) ** 2 + 9.5
    >>> study = optuna.create_study(pruner=RacingPruner(instances=20))
    >>> for x in (3.0, 9.0):
    ...     study.enqueue_trial({"x": x})
    >>> study.optimize(objective, n_trials=2)
    >>> [trial.state.name for trial in study.trials], study.trials[1].value
    (['COMPLETE', 'PRUNED'], 39.5)
    """

    def __init__(
        self,
        decider: str | Decider | None = None,
        *,
        instances: int | None = None,
        first_test: int | None = None,
        epsilon: float = 0.0,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.instances: int | None = (
            None if instances is None else whole(instances, "instances", least=1)
        )
        is_few = decider is None and self.instances is not None and self.instances < _MANY
        usual = CorrelatedTRace() if is_few else AnytimeRace()
        self.decider: Decider = usual if decider is None else as_decider(decider)
        if isinstance(self.decider, SequentialHalving | BayesianBest | BestForBudget):
            raise SettingError(
                f"decider={decider!r} plans how to spend a budget, and a pruner has none: choose "
                '"anytime", for example, or race the study with race_study'
            )
        given = (3 if is_few else 5) if first_test is None else first_test
        self.first_test: int = whole(given, "first_test", least=1)
        self.epsilon: float = check_epsilon(epsilon)
        self.confidence: float = check_fraction(confidence, "confidence", low=0.5)
        self.seed: int = check_seed(seed)
        self.decider.start(Setting(2, np.random.default_rng(0)))  # refuses now what it cannot do
        self._warned: set[str] = set()
        self._memories: WeakKeyDictionary[Study, dict[int, _Memory]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache of this process's studies."""
        return {name: value for name, value in vars(self).items() if name != "_memories"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._memories = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"RacingPruner({self.decider!r}, instances={self.instances})"

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether this running trial is to be pruned; Optuna calls this."""
        if not trial.intermediate_values:
            return False
        trials = study.get_trials(deepcopy=False)
        if self.instances is None and isinstance(self.decider, AnytimeRace):
            ended = [len(t.intermediate_values) for t in trials if t.state == TrialState.COMPLETE]
            if len(ended) == _ENDED and max(ended) < _MANY:
                self._warn_once("few")
        memory = self._memory(study, trial, trials)
        maximize = is_maximized(study)
        own = costs_on(memory.steps, [trial], maximize=maximize)[:, 0]
        known = np.flatnonzero(~np.isnan(own))
        # too few values, no usable new one, or no instance left that pruning would save
        if len(known) < self.first_test or np.isnan(own[-1]) or len(own) == self.instances:
            return False
        opponents = [other for other in trials if _counts(other, trial, memory)]
        if not opponents:
            return False
        steps = [memory.steps[i] for i in known.tolist()]
        costs = costs_on(steps, [trial, *opponents], maximize=maximize)
        costs /= power_near(costs)  # sums of the largest floats overflow
        kind = kind_of(costs, by_instance=self.instances is not None)
        self._warn_once(kind)
        if kind in {"learning curve", "unclear"}:
            return False
        if kind == "running means":
            costs = from_running_means(costs)
        costs = with_ties(costs)
        own, others = costs[:, 0], costs[:, 1:]
        if is_due(len(known), self.first_test, self.decider.tests) and self._is_inferior(
            own, others
        ):
            return True
        return self._is_indistinguishable(own, others)

    def _warn_once(self, kind: str) -> None:
        """Warn of trials that do not report values by instance."""
        if kind in _WARNINGS and kind not in self._warned:
            self._warned.add(kind)
            warn(_WARNINGS[kind])

    def _memory(self, study: Study, trial: FrozenTrial, trials: list[FrozenTrial]) -> _Memory:
        """Return the cached state of this trial, its new steps included."""
        last = max(trial.intermediate_values)
        if self.instances is not None and last >= self.instances:
            raise SettingError(
                f"trial {trial.number} reported a value at step {last}, but instances="
                f"{self.instances}: steps are the numbers of instances, 0 to {self.instances - 1}"
            )
        memories = self._memories.setdefault(study, {})
        if trial.number not in memories:
            running = [t for t in trials if t.state == TrialState.RUNNING]
            for number in set(memories) - {t.number for t in running}:  # have ended
                memories.pop(number, None)
            # a running trial counts once it has reported more than now, which a dead one never does
            had = {t.number: len(t.intermediate_values) for t in running}
            memories[trial.number] = _Memory(had)
        memory = memories[trial.number]
        memory.steps += sorted(set(trial.intermediate_values) - set(memory.steps))
        return memory

    def _is_inferior(self, own: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
        if self.decider.judge is not None:
            drop = checked_drop(self.decider, self.decider.judge, own, others)
        else:
            drop = _judge_by_race(self.decider, own, others, self.seed)
        if drop is None:
            return False
        against = others[:, drop.against]
        common = ~np.isnan(against)
        return not _leads(own[common], against[common])

    def _is_indistinguishable(self, own: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
        complete = others[:, ~np.isnan(others).any(axis=0)]
        if self.epsilon == 0.0 or not complete.shape[1]:
            return False
        best = complete[:, complete.mean(axis=0).argmin()]
        if _leads(own, best):
            return False
        won, lost = np.count_nonzero(own < best), np.count_nonzero(own > best)
        counts = [np.array([n]) for n in (won, lost, len(own) - won - lost)]
        (within,) = probability_indistinguishable(*counts, epsilon=self.epsilon, strength=1.0)
        return bool(within > self.confidence)


def _counts(other: FrozenTrial, trial: FrozenTrial, memory: _Memory) -> bool:
    """Return whether a trial is an opponent of the running one.

    Not if it violates a constraint, or its process seems dead.
    """
    if other.number == trial.number or not is_feasible(other):
        return False
    if other.state == TrialState.RUNNING:
        return len(other.intermediate_values) > memory.values_then.get(other.number, 0)
    return other.state in (TrialState.COMPLETE, TrialState.PRUNED)


def _leads(own: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Return whether the first mean is smaller, also of values near the largest float."""
    return bool((own / len(own)).sum() < (other / len(other)).sum())


def _judge_by_race(
    decider: Decider, own: NDArray[np.float64], others: NDArray[np.float64], seed: int
) -> Drop | None:
    """Judge one candidate by any decider: show it all candidates, each up to the block it lacks."""
    costs = np.column_stack([others, own])
    lacks = np.isnan(costs)
    ends = np.where(lacks.any(axis=0), lacks.argmax(axis=0), len(costs))
    columns = np.flatnonzero(ends > 0)
    # besides the trial itself another one must have all blocks
    if np.count_nonzero(ends == len(costs)) < 2:
        return None
    state = decider.start(Setting(len(columns), rng_for(seed, "decider")))
    start = 0
    dropped: tuple[Drop, ...] = ()
    for end in np.unique(ends[columns]).tolist():
        places = np.flatnonzero(ends[columns] >= end)
        blocks = Blocks(places, costs[start:end, columns[places]], used=None)
        state, verdict = checked_verdict(decider, state, blocks, len(columns))
        start, dropped = end, verdict.dropped
    for drop in dropped:
        candidate, against = columns[[drop.candidate, drop.against]].tolist()
        if candidate == others.shape[1]:
            return replace(drop, candidate=candidate, against=against)
    return None
