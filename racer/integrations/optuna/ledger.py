"""What the finished trials of a study say, as a sampler takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from optuna.trial import TrialState

from racer.integrations.optuna.axes import joined
from racer.integrations.optuna.values import MEAN_STEP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

__all__ = ["Ledger", "Record", "costs_of"]

_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


class Record(NamedTuple):
    """What one trial says.

    Attributes
    ----------
    params : mapping
    steps : tuple of int
        With a value, ascending by when they were reported.
    costs : tuple of float
        At these, to be minimised; +inf where the value is NaN or infinitely bad.
    final : float
        The cost of the trial's own value, NaN without.
    pruned : bool
    """

    params: Mapping[str, Any]
    steps: tuple[int, ...]
    costs: tuple[float, ...]
    final: float
    pruned: bool

    @property
    def failed(self) -> bool:
        """Whether nothing is known of the trial but that it was of no use."""
        return not self.steps and math.isnan(self.final)


@dataclass(frozen=True)
class Ledger:
    """The records of all finished trials, in the order in which they were seen.

    It is never changed: `extended` returns another one.

    Parameters
    ----------
    maximize : bool
        Larger values are better.
    by_instance : bool
        Values that trials reported are those on single instances, step = instance.

    Attributes
    ----------
    records : tuple of Record
    numbers : frozenset of int
        Of these trials.
    distributions : mapping
        Of all parameters that a usable trial had, by name.
    n_usable : int
    """

    maximize: bool
    by_instance: bool
    records: tuple[Record, ...] = ()
    numbers: frozenset[int] = frozenset()
    distributions: Mapping[str, BaseDistribution] = field(default_factory=dict)
    n_usable: int = 0

    @property
    def free(self) -> dict[str, BaseDistribution]:
        """The distributions with more than one value."""
        return {name: d for name, d in self.distributions.items() if not d.single()}

    def extended(self, trials: Sequence[FrozenTrial]) -> Ledger:
        """Return the ledger with what has been finished meanwhile.

        Parameters
        ----------
        trials : sequence of FrozenTrial
            All of the study, by number.
        """
        new = [
            trial
            for number, trial in enumerate(trials)
            if number not in self.numbers and trial.state.is_finished()
        ]
        if not new:
            return self
        records = tuple(self._record(trial) for trial in new)
        known = dict(self.distributions)
        for trial, record in zip(new, records, strict=True):
            if not record.failed:
                for name, distribution in trial.distributions.items():
                    known[name] = joined(known.get(name, distribution), distribution)
        return Ledger(
            self.maximize,
            self.by_instance,
            self.records + records,
            self.numbers | {trial.number for trial in new},
            dict(sorted(known.items())),
            self.n_usable + sum(not record.failed for record in records),
        )

    def _record(self, trial: FrozenTrial) -> Record:
        if trial.state not in _ENDED:
            return Record(trial.params, (), (), math.nan, pruned=False)
        reported: dict[int, float] = {}
        if self.by_instance:
            mean_at = trial.user_attrs.get(MEAN_STEP)
            values = trial.intermediate_values
            reported = {s: self._cost(v) for s, v in values.items() if s != mean_at}
        final = math.nan if trial.value is None else self._cost(trial.value)
        pruned = trial.state == TrialState.PRUNED
        return Record(trial.params, tuple(reported), tuple(reported.values()), final, pruned)

    def _cost(self, value: float) -> float:
        if math.isnan(value):
            return math.inf
        return -value if self.maximize else value


def costs_of(records: Sequence[Record]) -> NDArray[np.float64]:
    """Return the costs of usable trials, one row per instance, as `effects` takes them.

    Where some trials have no values on instances, there is one more row with the trials' own
    values; a trial that was pruned is there at best as good as the median of the others.

    Returns
    -------
    ndarray, shape (rows, len(records))
        NaN where nothing is known. Rows without a finite cost are left out.
    """
    rows = {step: row for row, step in enumerate(sorted({s for r in records for s in r.steps}))}
    table = np.full((len(rows) + 1, len(records)), np.nan)
    at = [rows[step] for record in records for step in record.steps]
    counts = [len(record.steps) for record in records]
    table[at, np.repeat(np.arange(len(records)), counts)] = [c for r in records for c in r.costs]
    if not all(counts):
        final = np.array([record.final for record in records])
        pruned = np.array([record.pruned for record in records])
        if not pruned.all():
            usual = np.nanmedian(np.where(pruned, np.nan, final))
            final = np.where(pruned, np.maximum(final, usual), final)
        table[-1] = final
    finite = np.isfinite(table)
    table, finite = table[finite.any(axis=1)], finite[finite.any(axis=1)]
    best = np.min(table, axis=1, where=finite, initial=np.inf, keepdims=True)
    return np.asarray(np.where(np.isneginf(table), best, table))
