"""The correlated t-race: drops by the leader's joint t-posterior, on folds of one data set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_draws, check_fraction
from racer._numerics import RowBuffer
from racer.deciders.decider import Blocks, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.verdicts import best_of, drops
from racer.failures import FailedCells
from racer.seeding import rng_for
from racer.stats.correlated_t import (
    below,
    check_correlation,
    check_rope,
    inflation,
    posterior_draws,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _State:
    seed: int
    candidates: NDArray[np.intp]
    costs: RowBuffer  # (n, m), failed cells imputed
    normal: RowBuffer  # (n, draws), standard normal: those of a block are the same at every test
    failed: FailedCells = field(default_factory=FailedCells)


@dataclass(frozen=True)
class CorrelatedTRace(Scheduled):
    """Drop candidates jointly no better than the leader by the Bayesian correlated t-test.

    For the folds of a cross-validation, or other blocks that are correlated. At each test, the
    posterior of the means (`racer.stats.correlated_t_test`); of the statements "not better than
    the candidate with the best mean, by more than `rope`", the longest list, surest first, that
    hold jointly with probability above `confidence`: these candidates are dropped. It compares
    means of costs, and assumes that differences are not far from normal. Differences that are
    the same on all blocks have no spread to measure: they count from as many blocks on as would
    convince a sign test (5 at 0.95). A failed cell counts as worse than the worst of its block
    by the range of that block.

    Parameters
    ----------
    correlation : float in [0, 1)
        Of two blocks. For folds the fraction of the data that is tested on: then the race is for
        the best on data like these. 0: for the best on the mean of more such blocks.
    confidence : float in (0.5, 1)
        Per test: a race tests many times, and spends 1 - confidence at each.
    rope : float >= 0
        A difference of mean costs that does not matter. Candidates that are as good as the leader
        up to that are dropped as "indistinguishable", which saves much where many are about equal.
    draws : int >= 100
        From the posterior.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Nadeau and Bengio (Machine Learning 52, 2003); Corani and Benavoli (Machine Learning 100,
    2015); Benavoli, Corani, Demšar, Zaffalon (Journal of Machine Learning Research 18, 2017).

    Examples
    --------
    >>> import numpy as np
    >>> import racer
    >>> def error(config, fold, seed):
    ...     return config + 0.1 * np.random.default_rng(seed).normal()
    >>> decider = racer.deciders.CorrelatedTRace(correlation=0.1)  # ten folds
    >>> racer.race([0.5, 0.1, 0.3], error, range(10), decider=decider, budget=60, seed=1).best
    0.1
    """

    by_means = True

    correlation: float = 0.0
    confidence: float = 0.95
    rope: float = 0.0
    draws: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_correlation(self.correlation)
        check_fraction(self.confidence, "confidence", low=0.5)
        check_rope(self.rope)
        check_draws(self.draws)

    def start(self, setting: Setting) -> _State:
        return _State(
            int(setting.rng.integers(2**63)),
            np.arange(setting.n_candidates),
            RowBuffer(setting.n_candidates, np.float64),
            RowBuffer(self.draws, np.float64),
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            state.costs.keep(columns=np.searchsorted(state.candidates, blocks.candidates))
            state.candidates = blocks.candidates
        with np.errstate(over="ignore", invalid="ignore"):  # costs near the largest float
            for row in blocks.costs:
                rng = rng_for(state.seed, "normal", len(state.costs))
                state.normal.append(rng.standard_normal(self.draws))
                state.costs.append(state.failed.imputed(row))
            standing = state.costs.rows.mean(axis=0)
            standing[np.isnan(standing)] = np.inf
            best = best_of(blocks.candidates, standing)
            dropped: tuple[Drop, ...] = ()
            if len(state.costs) > 1 and len(blocks.candidates) > 1:
                dropped = self._no_better(state, int(standing.argmin()))
        return state, Verdict(dropped, best, standing, {"gate": "none"})

    def _no_better(self, state: _State, leader: int) -> tuple[Drop, ...]:
        """Drop positions that are jointly no better than `leader`, the surest first."""
        n = len(state.costs)
        gaps = state.costs.rows - state.costs.rows[:, [leader]]  # exactly 0 for copies
        gap = gaps.mean(axis=0)
        spread = gaps.std(axis=0, ddof=1) * math.sqrt(inflation(n, self.correlation))
        is_flat = (gaps == gaps[0]).all(axis=0)
        spread[is_flat] = 0.0
        probability = 1.0 - below(-self.rope, gap, spread, n - 1)
        probability[is_flat] = (gap > -self.rope)[is_flat]
        if 0.5**n > 1.0 - self.confidence:
            probability[is_flat] = 0.0
        probability[leader] = 0.0
        places = np.flatnonzero(probability > self.confidence)
        if not len(places):
            return ()
        places = places[np.lexsort((-gap[places], -probability[places]))]
        drawn = posterior_draws(
            gaps[:, places],
            gap[places],
            self.correlation,
            [state.normal.rows.T],
            rng_for(state.seed, "scale", n),
        )
        joint = np.logical_and.accumulate(drawn > -self.rope, axis=1).mean(axis=0)
        chosen = places[: np.count_nonzero(joint > self.confidence)]
        is_worse = (gap[chosen] > self.rope).tolist()
        reasons = ["inferior" if worse else "indistinguishable" for worse in is_worse]
        return drops(state.candidates, chosen, reasons, leader, probability[chosen], "posterior")
