"""Run time as the cost: caps of evaluations, and the criterion of candidates."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from racer._checks import is_one_of, is_real, suggesting
from racer.errors import SettingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Decider
    from racer.evaluate.outcome import Outcome
    from racer.stats.places import Measure

__all__ = ["Runtime"]

Named = Literal["log", "linear"]


@suggesting
@dataclass(frozen=True)
class Runtime:
    """The cost is run time: evaluations that take too long are stopped, at the same time for all.

    A block's cap is a function of earlier blocks only and the same for all candidates, so that
    every statistic of ranks or signs keeps its error rates: it is one about min(time, cap).

        cap = min(limit, slack x median over the leaders of their mean capped time so far)

    The leaders are the elites of a tuning, or the five that stand best. Up to the first test the
    cap is `limit`. An evaluation that reaches it has the status "capped" and the cap as value; all
    capped evaluations of a block tie. Before the last test the survivors' capped ones run again
    with `limit`. A candidate that has reached the present cap on every block, so that its mean is
    at least `slack` times the leaders' mean, is eliminated as "capped".

    Parameters
    ----------
    limit : float > 0
        Seconds, after which any evaluation is stopped: it counts as unsolved.
    slack : float >= 1
        Larger caps less. ``math.inf``: evaluations are stopped at `limit` only.
    par : float >= 1 or None
        The best of the survivors has the smallest mean time, an unsolved or failed evaluation
        counted as `par` times the limit (PAR10). None: the smallest mean rank.
    utility : {"log", "linear"} or callable, optional
        Instead of `par`: the best has the largest mean utility, a decreasing function of the time
        in seconds (Graham et al. 2023). "linear": 1 - t / limit; "log": 1 - log(1 + t) /
        log(1 + limit). A function takes a float; an unsolved or failed run counts as `limit`.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Hutter, Hoos, Leyton-Brown, Stützle: ParamILS (JAIR 2009), for capping; Graham, Leyton-Brown,
    Roughgarden: Utilitarian algorithm configuration (NeurIPS 2023).

    Examples
    --------
    >>> import racer
    >>> racer.Runtime(60.0).cap([[1.0, 4.0], [3.0, 6.0]])
    7.0
    """

    limit: float
    slack: float = 2.0
    par: float | None = 10.0
    utility: Named | Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        if not is_real(self.limit) or not 0.0 < self.limit < math.inf:
            raise SettingError(
                f"Runtime(limit={reprlib.repr(self.limit)}): give seconds, a finite number > 0"
            )
        if not is_real(self.slack) or not self.slack >= 1.0:
            raise SettingError(
                f"Runtime(slack={reprlib.repr(self.slack)}): give a number >= 1, or math.inf to stop "
                "evaluations at the limit only"
            )
        if self.par is not None and (not is_real(self.par) or not 1.0 <= self.par < math.inf):
            raise SettingError(
                f"Runtime(par={reprlib.repr(self.par)}): give a number >= 1, or None for mean ranks"
            )
        if callable(self.utility):
            self._check_utility(self.utility)
        elif self.utility is not None and not is_one_of(self.utility, get_args(Named)):
            raise SettingError(
                f"Runtime(utility={reprlib.repr(self.utility)}): give 'log', 'linear', or a function "
                "of seconds"
            )
        for name in ("limit", "slack", "par"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, float(value))

    @classmethod
    def of(cls, given: Any) -> Runtime | None:
        """Return it of a limit in seconds, a mapping of its parameters, or itself; None of None."""
        if given is None or isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            return cls(**given)
        return cls(given)

    def _check_utility(self, utility: Callable[[float], float]) -> None:
        times = [self.limit * i / 8 for i in range(9)]
        try:
            found: list[Any] = [utility(time) for time in times]
        except Exception as error:
            raise SettingError(
                f"Runtime(utility={reprlib.repr(utility)}) raises {error!r}: give a function of seconds"
            ) from error
        sound = all(is_real(value) and math.isfinite(value) for value in found)
        if not sound or found != sorted(found, reverse=True) or found[0] <= found[-1]:
            raise SettingError(
                f"Runtime(utility={reprlib.repr(utility)}) has the values {reprlib.repr(found)} from "
                "0 s to the limit: give a function that decreases"
            )

    def check_decider(self, decider: Decider) -> None:
        """Raise SettingError if a decider's statements do not hold for capped times."""
        if math.isinf(self.slack) or decider.takes_capped:
            return
        raise SettingError(
            f"{decider!r} does not take capped run times: it goes by the size of costs (means, "
            "t-tests, signed ranks), and of a capped one only a lower bound is known. Give a "
            "decider of ranks or signs ('bayesian-friedman', FRace(last_two='sign'), "
            "FixedConfidence(form='rank'), ..; one of your own says "
            "takes_capped = True), or Runtime(.., slack=math.inf), which caps nothing"
        )

    def cap(self, times: Any) -> float:
        """Return the cap from the leaders' times: `times` (blocks, leaders), capped, in seconds.

        A failed evaluation, +inf, counts as `limit`.
        """
        known = np.minimum(np.asarray(times, dtype=np.float64), self.limit)
        if math.isinf(self.slack) or not known.size:
            return self.limit
        return self.slackened(float(np.median(known.mean(axis=0))))

    def slackened(self, seconds: float) -> float:
        """Return `slack` times this time, at most the limit."""
        return min(self.limit, self.slack * seconds)

    @property
    def score_name(self) -> str:
        """Name of the mean of `score`."""
        return "utility" if self.utility is not None else f"PAR{self.par or 1.0:g}"

    @property
    def criterion(self) -> str:
        """Name of the criterion for the best of the survivors, on the blocks that all have seen."""
        return "mean rank" if self.by_ranks else self.score_name

    @property
    def by_ranks(self) -> bool:
        """Whether the criterion is the mean rank, not a mean of times or utilities."""
        return self.utility is None and self.par is None

    @property
    def penalty(self) -> float | None:
        """Seconds that an unsolved run counts in a mean; None where ranks or utilities are compared."""
        return None if self.utility is not None or self.par is None else self.par * self.limit

    def score(self, outcome: Outcome) -> float:
        """Return the value of an outcome: seconds, penalised at the limit; or its utility."""
        seconds = self.limit if outcome.value is None else min(outcome.value, self.limit)
        return float(self._scored(np.array([seconds]))[0])

    def _scored(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.utility is None:
            return np.where(times >= self.limit, (self.par or 1.0) * self.limit, times)
        if self.utility == "linear":
            return np.asarray(1.0 - times / self.limit)
        if self.utility == "log":
            return np.asarray(1.0 - np.log1p(times) / math.log1p(self.limit))
        utility: Any = self.utility
        return np.array([utility(time) for time in times.ravel().tolist()]).reshape(times.shape)

    def compared(self, times: NDArray[np.float64]) -> tuple[NDArray[np.float64], Measure]:
        """Return costs of times (blocks, m), +inf at the limit, and how `best_posterior` compares."""
        if self.penalty is not None:
            return np.where(times >= self.limit, np.inf, times), "log"
        return self.as_costs(times), "mean"

    def as_costs(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the costs of times (blocks, m) by the criterion; NaN stays NaN."""
        known = np.minimum(times, self.limit)
        if self.by_ranks:
            from scipy.stats import rankdata  # noqa: PLC0415

            return np.asarray(rankdata(known, axis=1, nan_policy="omit"), dtype=np.float64)
        scored = self._scored(np.where(np.isnan(known), 0.0, known))
        sign = 1.0 if self.utility is None else -1.0
        return np.where(np.isnan(known), np.nan, sign * scored)
