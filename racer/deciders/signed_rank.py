"""The signed-rank race: decisions of the Bayesian signed-rank test that hold for every prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_draws, check_fraction, check_strength
from racer.deciders.decider import Blocks, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.gates import Evidence, Gate, Omnibus, as_gate, gated
from racer.deciders.parts.ranking import RunningRanks, first_by_ranks
from racer.deciders.parts.verdicts import drops
from racer.deciders.parts.walsh import WalshSums
from racer.stats.signed_rank import IGNORANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _State:
    ranks: RunningRanks
    gate: Omnibus
    sums: WalshSums


@dataclass(frozen=True)
class SignedRankRace(Scheduled):
    """Drop candidates worse than the leader by the signed-rank test, for every prior.

    At each test: an omnibus test (the gate); if it rejects "all equal", the Bayesian
    signed-rank test of the leader, the best by mean rank, against each other
    candidate, with a near-ignorance prior (IDP). A prior of which only the weight is known gives
    a range of probabilities that the leader is better. Candidates are dropped for which
    even the lower ends hold jointly: the longest list, surest first, whose 1 - posterior add up
    to less than 1 - confidence (Boole's inequality). A pair is *indeterminate* where its range
    contains `confidence`, so that the prior would decide: none is dropped for it, and the
    verdict's evidence counts them.

    It uses the sizes of differences, so it assumes that a difference means about the same on
    every block; symmetry is not assumed. A failed cell loses by more than any finite difference;
    two failures tie.

    Parameters
    ----------
    confidence : float in (0.5, 1)
        Of the statements of a test together, and 1 - the level of the gate, per test: a race
        tests many times. As a loss: a wrong drop costs
        confidence / (1 - confidence) times as much as a missed one.
    ignorance : float >= 0
        Weight of the prior, in blocks; 0 is the Bayesian bootstrap, with no pair indeterminate.
    gate : {"sign-flip", "friedman"} or False
        The omnibus test: see `FRace`.
    draws : int >= 100
        Dirichlet draws. 1 - posterior is taken to be (k + 1) / (draws + 1) where k draws are
        against the statement, so it is never 0. Memory grows by 8 bytes per draw for each block
        and, for each candidate that has ever led, each candidate.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon, Ruggeri: A Bayesian Wilcoxon signed-rank test based on
    the Dirichlet process (ICML 2014), Theorem 2, eq. 8 and 9.

    Examples
    --------
    >>> import racer
    >>> race = racer.race([3, 0, 7], lambda x, i, s: abs(x - i % 2), range(60), budget=180,
    ...                   decider=racer.deciders.SignedRankRace(), seed=1)
    >>> race.best, race.ended.name
    (0, 'DECIDED')
    """

    tests = "growing"  # its error is spent at each test

    confidence: float = 0.95
    ignorance: float = IGNORANCE
    gate: Gate | bool = "sign-flip"
    draws: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.confidence, "confidence", low=0.5)
        check_strength(self.ignorance, "ignorance")
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))
        check_draws(self.draws)

    def start(self, setting: Setting) -> _State:
        seed = int(setting.rng.integers(2**63))
        return _State(
            RunningRanks(setting.n_candidates),
            Omnibus(self.gate, 1.0 - self.confidence, seed, generalize=setting.generalize),
            WalshSums(setting.n_candidates, self.draws, self.ignorance, seed),
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        kept = ranks.update(blocks)
        if kept is not None:
            state.sums.keep(kept)
        return state, gated(state.gate, ranks, ranks.means, partial(self._compare, state))

    def _compare(self, state: _State) -> tuple[tuple[Drop, ...], Evidence]:
        ranks, standing = state.ranks, state.ranks.means
        leader = first_by_ranks(ranks)
        bounds = state.sums.probabilities(leader, ranks.costs)
        behind = standing > standing.min()
        indeterminate = (bounds.lower <= self.confidence) & (bounds.upper > self.confidence)
        dropped = self._inferior(ranks.candidates, leader, bounds.lower, behind)
        return dropped, {"indeterminate": int((indeterminate & behind).sum())}

    def _inferior(
        self,
        candidates: NDArray[np.intp],
        leader: int,
        lower: NDArray[np.float64],
        behind: NDArray[np.bool_],
    ) -> tuple[Drop, ...]:
        """Drop candidates whose 1 - posterior sum to less than 1 - confidence, ties together."""
        p_false = (self.draws * (1.0 - lower) + 1.0) / (self.draws + 1.0)
        p_false[~behind] = 1.0
        sure = np.sort(p_false)
        total = np.cumsum(sure)[np.searchsorted(sure, p_false, side="right") - 1]
        eliminated = (total < 1.0 - self.confidence) & behind
        order = np.argsort(p_false, kind="stable")
        order = order[eliminated[order]]
        return drops(candidates, order, "inferior", leader, lower[order], "posterior")
