"""The finished trials of a study, as a sampler learns from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from optuna.trial import TrialState

from racer._numerics import as_costs
from racer.integrations.optuna.reports import MEAN_STEP
from racer.integrations.optuna.search_space import joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


class Observation(NamedTuple):
    """What one finished trial tells; costs are +inf where a value is NaN or infinitely bad."""

    params: Mapping[str, Any]
    steps: tuple[int, ...]  # with a value, as they were reported
    costs: tuple[float, ...]  # at these
    final: float  # cost of the trial's own value; NaN without
    pruned: bool

    @property
    def failed(self) -> bool:
        """Whether it has no cost at all."""
        return not self.steps and math.isnan(self.final)


@dataclass(frozen=True)
class History:
    """All finished trials, in the order in which they were seen; never changed."""

    maximize: bool
    by_instance: bool  # steps are instances, and the values at them count
    observations: tuple[Observation, ...] = ()
    numbers: frozenset[int] = frozenset()  # of these trials
    # of all parameters that a trial with a cost had
    distributions: Mapping[str, BaseDistribution] = field(default_factory=dict)
    n_usable: int = 0

    @property
    def free(self) -> dict[str, BaseDistribution]:
        """The distributions with more than one value."""
        return {name: d for name, d in self.distributions.items() if not d.single()}

    def extended(self, trials: Sequence[FrozenTrial]) -> History:
        """Return the history with what has been finished meanwhile of all trials, by number."""
        new = [
            trial
            for number, trial in enumerate(trials)
            if number not in self.numbers and trial.state.is_finished()
        ]
        if not new:
            return self
        observed = tuple(self._observation(trial) for trial in new)
        known = dict(self.distributions)
        for trial, observation in zip(new, observed, strict=True):
            if not observation.failed:
                for name, distribution in trial.distributions.items():
                    known[name] = joined(known.get(name, distribution), distribution)
        return History(
            self.maximize,
            self.by_instance,
            self.observations + observed,
            self.numbers | {trial.number for trial in new},
            dict(sorted(known.items())),
            self.n_usable + sum(not observation.failed for observation in observed),
        )

    def _observation(self, trial: FrozenTrial) -> Observation:
        if trial.state not in _ENDED:
            return Observation(trial.params, (), (), math.nan, pruned=False)
        reported: dict[int, float] = {}
        if self.by_instance:
            mean_at = trial.user_attrs.get(MEAN_STEP)
            values = trial.intermediate_values
            reported = {step: value for step, value in values.items() if step != mean_at}
        own = [] if trial.value is None else [trial.value]
        costs = as_costs(np.array([*reported.values(), *own]), maximize=self.maximize)
        costs = np.where(np.isnan(costs), np.inf, costs).tolist()
        final = costs.pop() if own else math.nan
        pruned = trial.state == TrialState.PRUNED
        return Observation(trial.params, tuple(reported), tuple(costs), final, pruned)


def costs_of(observations: Sequence[Observation]) -> NDArray[np.float64]:
    """Return the costs of trials that have any: shape (instances, trials), NaN where unknown.

    Where some trials have no values on instances, there is one more row with the trials' own
    values, in which a pruned trial is at best as good as the median of the others. Rows without
    a finite cost are left out.
    """
    steps = sorted({step for o in observations for step in o.steps})
    rows = {step: row for row, step in enumerate(steps)}
    table = np.full((len(rows) + 1, len(observations)), np.nan)
    at = [rows[step] for o in observations for step in o.steps]
    counts = [len(o.steps) for o in observations]
    table[at, np.repeat(np.arange(len(observations)), counts)] = [
        c for o in observations for c in o.costs
    ]
    if not all(counts):
        final = np.array([o.final for o in observations])
        pruned = np.array([o.pruned for o in observations])
        if not pruned.all():
            usual = np.nanmedian(np.where(pruned, np.nan, final))
            final = np.where(pruned, np.maximum(final, usual), final)
        table[-1] = final
    finite = np.isfinite(table)
    table, finite = table[finite.any(axis=1)], finite[finite.any(axis=1)]
    best = np.min(table, axis=1, where=finite, initial=np.inf, keepdims=True)
    return np.asarray(np.where(np.isneginf(table), best, table))
