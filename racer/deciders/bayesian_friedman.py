"""The Bayesian Friedman race: joint statements, and indistinguishable pairs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from racer._checks import check_draws, check_epsilon, check_fraction, check_strength, choice
from racer._numerics import RowBuffer, index_pairs, one_blas_thread
from racer.deciders.decider import Blocks, Decider, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.gates import Evidence, Omnibus, Region, as_gate, gated
from racer.deciders.parts.rank_tests import clear_pairs
from racer.deciders.parts.ranking import RunningRanks
from racer.deciders.parts.verdicts import drop_losers
from racer.stats.best import best_posterior
from racer.stats.dirichlet import PairSums
from racer.stats.joint import order_statements, running_joint, without_ties
from racer.stats.sign import probability_indistinguishable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Gate = Literal["sign-flip", "region"]
Equalities = Literal["each", "joint"]

# Statements whose probabilities of being false add up to less than this fraction of
# 1 - confidence are not sampled: these are subtracted from the joint probability instead (Boole's
# inequality).
_CERTAIN = 1e-2
_AGREED = 0.8  # a drop is carried out outside the set that holds the best with this probability
_MANY = 200  # candidates, above which pairs are sought by their counts


@dataclass
class _State:
    ranks: RunningRanks
    gate: Omnibus | Region
    sums: PairSums
    setting: Setting
    costs: RowBuffer  # (n, m) of all candidates, NaN where one was out
    instances: list[int] | None = field(default_factory=list)  # of each block, if they are known
    gone: set[int] = field(default_factory=set)  # as inferior


@dataclass(frozen=True)
class BayesianFriedman(Scheduled):
    """Drop jointly inferior candidates, and one of each pair that is indistinguishable.

    At each test: an omnibus test (the gate); if it rejects "all equal", the longest list of
    directional statements that hold jointly with posterior probability above `confidence`, and
    the worse candidate in any of them is dropped. Then, of each pair that is within `epsilon`
    with posterior probability above `confidence`, the candidate with the worse mean rank is dropped
    (the later one, if they tie).

    The draws are running Gamma sums: a block adds to them. Decisions depend on ranks
    within blocks only, and not on the order of the candidates: statements that tie in
    probability and in rank gap are accepted together or not at all. Only where mean
    ranks tie (an indistinguishable pair, or a circle of winners) does the order given decide.

    Parameters
    ----------
    confidence : float in (0.5, 1)
        1 - gamma, per test: a race tests many times, and spends gamma at each. A statement also
        needs as many blocks without a tie as would convince a sign test if all were won (5 at
        0.95): its posterior probability is 1 from the first such block on.
    epsilon : float in [0, 0.5)
        Half-width around 1/2 of the probability of winning a block that does not tie, within
        which two candidates are indistinguishable; 0 never drops for that. 0.05 needs
        about 390 blocks without ties, or 29 blocks with nothing but ties. So of two that answer
        80 and 74 % of some items right, and tie on most, neither goes for that. With
        equalities="joint" a tie counts half a win for both, as in the paper.
    strength : float >= 0
        Weight of the prior: of the atom "all equal" in the gate, and of the least favourable
        atom in the probability of being indistinguishable.
    gate : {"sign-flip", "region"} or False
        The omnibus test; False asks none. "sign-flip": as in `FRace`. "region": the credible
        region of the paper (eq. 19), which rejects nothing with fewer blocks than candidates and
        has little power up to twice as many; two candidates are compared without it. True is the
        default.
    equalities : {"each", "joint"}
        "each": a pair that is indistinguishable by its own posterior, without the gate.
        Nor is any candidate inferior then that is in the set that contains the best of all with
        probability 0.8 (`racer.stats.best_posterior`); inferior ones have P(best) = 0 from then on.
        "joint", as in the paper: only if the gate rejected, and only pairs, surest first, that are
        all so with joint posterior probability above `confidence`.
    pair_strength : float >= 0
        Wins, and as many losses, that each pair has before the first block, independently of the
        other pairs. With 0, as in the paper, few blocks count too much: with 1 the best one is
        lost about half as often.
    draws : int >= 100
        Dirichlet draws. At 1000 the joint probability has a standard error of 0.007 near 0.95.
        Memory grows by 4 bytes per draw for each block and each pair that is sampled.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon: A Bayesian nonparametric procedure for comparing
    algorithms (ICML 2015), sections 5 and 7.1.

    Examples
    --------
    >>> import racer
    >>> decider = racer.deciders.BayesianFriedman(confidence=0.99)
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> result = racer.race(costs, lambda c, i, seed: c + seed % 7, decider=decider, budget=200, seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 1)
    """

    tests = "growing"  # its error is spent at each test
    takes_capped = True

    confidence: float = 0.95
    epsilon: float = 0.05
    strength: float = 1.0
    gate: Gate | bool = "sign-flip"
    equalities: Equalities = "each"
    pair_strength: float = 1.0
    draws: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.confidence, "confidence", low=0.5)
        check_epsilon(self.epsilon)
        check_strength(self.strength)
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))
        choice(self.equalities, "equalities", get_args(Equalities))
        check_strength(self.pair_strength, "pair_strength")
        check_draws(self.draws)

    def start(self, setting: Setting) -> _State:
        # one draw of the race's generator: the rest follows from it and the block, at any test
        m, seed = setting.n_candidates, int(setting.rng.integers(2**63))
        level, gate = 1.0 - self.confidence, self.gate
        return _State(
            RunningRanks(m),
            Region(self.strength, level)
            if gate == "region"
            else Omnibus(gate, level, seed, generalize=setting.generalize),
            PairSums(self.draws, seed),
            setting,
            RowBuffer(m, np.float64),
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        ranks.update(blocks)
        verdict = gated(state.gate, ranks, ranks.means, partial(self._compare, state))
        if self.equalities == "each":
            _remember(state, blocks)
            dropped = _agreed(state, verdict.dropped)
            if ranks.n > 1:  # whatever the gate says
                dropped += self._indistinguishable(state, dropped)
            verdict = replace(verdict, dropped=dropped)
        return state, verdict

    def _compare(self, state: _State) -> tuple[tuple[Drop, ...], Evidence]:
        dropped = self._inferior(state)
        if self.equalities == "joint":
            dropped += self._indistinguishable(state, dropped)
        return dropped, {}

    def _inferior(self, state: _State) -> tuple[Drop, ...]:
        ranks = state.ranks
        level = 1.0 - self.confidence
        better, worse = clear_pairs(ranks.wins, ranks.n, "bayesian-sign", level)
        statements = order_statements(
            ranks.wins, ranks.sums.deviation, better, worse, self.pair_strength
        )
        false = np.cumsum(statements.p_false)
        certain = int(np.searchsorted(false, _CERTAIN * level, side="right"))
        conceded = float(false[certain - 1]) if certain else 0.0

        # more statements only lower the joint probability: sampling stops once it is too low
        sampled = slice(certain, None)
        with one_blas_thread():
            joint = running_joint(
                state.sums.hold(
                    ranks.costs,
                    statements.better[sampled],
                    statements.worse[sampled],
                    self.pair_strength,
                ),
                self.draws,
                stop_at=self.confidence + conceded,
            )
        accepted = certain + sum(held - conceded > self.confidence for held in joint)
        accepted = without_ties(accepted, statements, ranks.sums.deviation)
        return drop_losers(
            ranks.candidates,
            ranks.sums.deviation,
            statements.better[:accepted],
            statements.worse[:accepted],
            1.0 - statements.p_false[:accepted],
            "posterior",
        )

    def _within(
        self, more: NDArray[np.int64], less: NDArray[np.int64], n: int
    ) -> NDArray[np.float64]:
        """Return the probability of a pair being within epsilon, by wins and losses in n blocks."""
        ties = n - more - less
        if self.equalities == "each":  # of the blocks that decide, if any does
            ties = np.where(more > 0, 0, ties)
        return probability_indistinguishable(
            more, less, ties, epsilon=self.epsilon, strength=self.strength
        )

    def _may_be_alike(
        self, ranks: RunningRanks, positions: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the pairs i < j that may be indistinguishable: few blocks make few counts."""
        n = ranks.n
        more, less = np.tril_indices(n + 1)
        more, less = more[more + less <= n], less[more + less <= n]
        likely = self._within(more, less, n) > self.confidence
        if not likely.any():
            return positions[:0], positions[:0]
        alike = np.zeros((n + 1, n + 1), dtype=np.bool_)
        alike[more[likely], less[likely]] = alike[less[likely], more[likely]] = True
        wins = ranks.wins
        found = []
        for at, place in enumerate(positions[:-1].tolist()):
            others = positions[at + 1 :]
            others = others[alike[wins[place, others], wins[others, place]]]
            found.append((np.full(len(others), place), others))
        first, second = (np.concatenate(places) for places in zip(*found, strict=True))
        return first, second

    def _indistinguishable(self, state: _State, inferior: tuple[Drop, ...]) -> tuple[Drop, ...]:
        out = [drop.candidate for drop in inferior]
        positions = np.flatnonzero(~np.isin(state.ranks.candidates, out))
        if self.epsilon == 0.0 or len(positions) < 2:
            return ()
        from scipy.special import ndtr  # noqa: PLC0415

        ranks = state.ranks
        n, standing = ranks.n, ranks.sums.deviation
        if len(positions) > max(_MANY, 3 * n):
            i, j = self._may_be_alike(ranks, positions)
        else:
            first, second = index_pairs(len(positions))
            i, j = positions[first], positions[second]
        won, lost = (ranks.wins[pairs].astype(np.int64) for pairs in ((i, j), (j, i)))
        # what is far from enough, by the normal approximation, is not computed: it is off by less
        # than its margin where enough blocks are decided
        lead = np.abs(won - lost) / n
        spread = np.sqrt(np.maximum((won + lost) / n - lead**2, 0.0) / (4.0 * (n + 1)))
        with np.errstate(divide="ignore", invalid="ignore"):
            roughly = ndtr((self.epsilon - lead / 2.0) / spread) - ndtr(
                (-self.epsilon - lead / 2.0) / spread
            )
        few = (won + lost < 10) & (lead < 2.0 * self.epsilon)
        near = np.flatnonzero((roughly > self.confidence - 0.02) | few)
        i, j, won, lost = i[near], j[near], won[near], lost[near]
        counts, inverse = np.unique(
            np.maximum(won, lost) * (n + 1) + np.minimum(won, lost), return_inverse=True
        )
        more, less = np.divmod(counts, n + 1)
        within = self._within(more, less, n)[inverse]
        order = np.lexsort((j, i, -within))
        order = order[within[order] > self.confidence]
        alike: Iterable[NDArray[np.bool_] | np.bool_] = repeat(np.True_)
        if self.equalities == "joint":
            alike = state.sums.alike(ranks.costs, i[order], j[order], self.epsilon, self.strength)
        together = np.ones(self.draws, dtype=bool)
        dropped: dict[int, Drop] = {}
        for pair, holds in zip(order.tolist(), alike, strict=False):
            one, other = int(i[pair]), int(j[pair])
            if one in dropped or other in dropped:
                continue
            together &= holds
            if np.count_nonzero(together) <= self.confidence * self.draws:
                break
            worse = one if standing[one] > standing[other] else other
            dropped[worse] = Drop(
                int(ranks.candidates[worse]),
                "indistinguishable",
                against=int(ranks.candidates[one + other - worse]),
                probability=float(within[pair]),
                measure="posterior",
            )
        return tuple(dropped.values())


def agrees_with_posterior(decider: Decider) -> bool:
    """Return whether a decider drops only candidates that P(best) does not call likely."""
    return isinstance(decider, BayesianFriedman) and decider.equalities == "each"


def _remember(state: _State, blocks: Blocks) -> None:
    """Add new blocks to the costs of all candidates."""
    rows = np.full((len(blocks.costs), state.setting.n_candidates), np.nan)
    rows[:, blocks.candidates] = blocks.costs
    state.costs.extend(rows)
    if blocks.instances is None:
        state.instances = None
    elif state.instances is not None:
        state.instances += np.asarray(blocks.instances).tolist()


def _agreed(state: _State, dropped: tuple[Drop, ...]) -> tuple[Drop, ...]:
    """Return the drops of candidates that the posterior of the best leaves out of its set, too."""
    if not dropped:
        return ()
    setting = state.setting
    found = best_posterior(
        state.costs.rows,
        n_blocks=None if setting.generalize else setting.n_blocks,
        instances=state.instances,
        generalize=setting.generalize,
        among=[c for c in range(setting.n_candidates) if c not in state.gone],
    )
    may_be_best = set(found.credible_set(_AGREED))
    agreed = tuple(drop for drop in dropped if drop.candidate not in may_be_best)
    state.gone |= {drop.candidate for drop in agreed}
    return agreed
