"""F-Race: the Friedman test, then a post-hoc comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from racer._checks import check_fraction, choice
from racer.deciders.decider import Blocks, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.gates import Evidence, Gate, Omnibus, as_gate, gated
from racer.deciders.parts.rank_tests import clear_pairs, two_sided_sign
from racer.deciders.parts.ranking import RunningRanks
from racer.deciders.parts.verdicts import best_of, drop_losers, drop_worse
from racer.stats.multiplicity import Correction, adjust, check_correction
from racer.stats.posthoc import conover_p_values, mean_rank_scale
from racer.stats.signed_rank import signed_rank_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

Posthoc = Literal["conover", "sign", "mean-rank"]
LastTwo = Literal["signed-rank", "sign"]


@dataclass
class _State:
    ranks: RunningRanks
    gate: Omnibus


@dataclass(frozen=True)
class FRace(Scheduled):
    """Drop candidates that a post-hoc test finds worse, once an omnibus test rejects "all equal".

    With two candidates left, one test decides: see `last_two`.

    Parameters
    ----------
    posthoc : {"conover", "sign", "mean-rank"}
        "conover": Conover's t, two-sided, against the candidate with the best rank sum
        (Birattari et al. 2002). "sign", "mean-rank": one-sided, all pairs, in the better
        direction; a candidate is dropped when any pair has it worse (Benavoli et al. 2015).
    alpha : float in (0, 0.5)
        Of the gate and of each comparison, per test: a race tests many times.
    gate : {"sign-flip", "friedman"} or False
        The omnibus test; False asks none. "friedman": tie-corrected chi-square, which rejects
        "all equal" too often where equal candidates differ from instance to instance.
        "sign-flip": a statistic of the mean ranks and their covariance (shrunk), compared with
        its values after the ranks of whole blocks are turned round at random (see
        `racer.stats.sign_flip_test`); it keeps its level there as well. With too few blocks for
        it (five at 0.05), Iman and Davenport's F has to reject, and no turn may be as extreme.
        Two candidates take the two-sided sign test. True is the default.
    last_two : {"signed-rank", "sign"}, optional
        Test of the last two. "signed-rank" (default of the post-hoc "conover", as F-Race is
        used): Wilcoxon's test of their costs, two-sided, for any gate; where one lost every
        block, the one-sided sign test, so that five blocks are enough at 0.05. The better mean
        rank stays. "sign" (default of the other two): the two-sided sign test is the
        gate, and "conover" becomes the same test.
    correction : {"bonferroni", "holm", "hochberg", "shaffer"}, optional
        Over the comparisons of a test; none by default, as in F-Race. "shaffer" needs all pairs
        and does not go with "conover".

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Birattari, Stuetzle, Paquete, Varrentrapp: A racing algorithm for configuring metaheuristics
    (GECCO 2002); Benavoli et al. (ICML 2015), sections 2, 3 and 7.1; Conover (1999), 5.8.

    Examples
    --------
    >>> import racer
    >>> decider = racer.deciders.FRace(posthoc="sign", alpha=0.01)
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> result = racer.race(costs, lambda c, i, seed: c + seed % 7, decider=decider, budget=200, seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 1)
    """

    tests = "growing"  # its error is spent at each test

    posthoc: Posthoc = "conover"
    alpha: float = 0.05
    gate: Gate | bool = "sign-flip"
    correction: Correction | None = None
    last_two: LastTwo | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.alpha, "alpha", high=0.5)
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))
        choice(self.posthoc, "posthoc", get_args(Posthoc))
        check_correction(self.correction, all_pairs=self.posthoc != "conover")
        if self.last_two is not None:
            choice(self.last_two, "last_two", get_args(LastTwo))

    def start(self, setting: Setting) -> _State:
        seed = int(setting.rng.integers(2**63))
        gate = Omnibus(self.gate, self.alpha, seed, generalize=setting.generalize)
        return _State(RunningRanks(setting.n_candidates), gate)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        ranks.update(blocks)
        if self._asks_signed_rank and len(blocks.candidates) == 2 <= ranks.n:
            dropped, evidence = self._of_two(ranks, state.gate.independent(ranks))
            best = best_of(blocks.candidates, ranks.means)
            return state, Verdict(dropped, best, ranks.means, evidence)
        return state, gated(state.gate, ranks, ranks.means, partial(self._compare, state))

    @property
    def takes_capped(self) -> bool:
        return not self._asks_signed_rank

    def _compare(self, state: _State) -> tuple[tuple[Drop, ...], Evidence]:
        is_conover = self.posthoc == "conover"
        return self._against_best(state.ranks) if is_conover else self._all_pairs(state.ranks), {}

    @property
    def _asks_signed_rank(self) -> bool:
        return self.last_two == "signed-rank" or (
            self.last_two is None and self.posthoc == "conover"
        )

    def _of_two(
        self, ranks: RunningRanks, costs: NDArray[np.float64]
    ) -> tuple[tuple[Drop, ...], Evidence]:
        test = signed_rank_test(*costs.T)
        loser = int(test.rank_sum_better > test.rank_sum_worse)
        p_value = test.p_value
        if len(costs) in (test.n_better, test.n_worse):  # one lost every block
            p_value = 0.5 ** len(costs)
        evidence: Evidence = {"gate": "signed-rank", "p_value": p_value}
        deviation = ranks.sums.deviation
        if p_value >= self.alpha or deviation[loser] <= deviation[1 - loser]:
            return (), evidence
        places = np.array([loser])
        return drop_worse(ranks.candidates, 1 - loser, places, np.array([p_value])), evidence

    def _against_best(self, ranks: RunningRanks) -> tuple[Drop, ...]:
        deviation = ranks.sums.deviation
        best = int(deviation.argmin())
        others = np.delete(np.arange(len(deviation)), best)
        behind = deviation[others] - deviation[best]
        if len(others) == 1:
            p_values = np.array([two_sided_sign(ranks)])
        else:
            p_values = conover_p_values(ranks.sums, behind)
        adjusted = adjust(p_values, self.correction)
        lost = (adjusted < self.alpha) & (behind > 0.0)
        return drop_worse(ranks.candidates, best, others[lost], adjusted[lost])

    def _all_pairs(self, ranks: RunningRanks) -> tuple[Drop, ...]:
        from scipy.special import bdtrc, ndtr  # noqa: PLC0415

        n, m, deviation = ranks.n, len(ranks.candidates), ranks.sums.deviation
        if self.posthoc == "sign":
            better, worse = clear_pairs(ranks.wins, n, "sign", self.alpha)
            won, lost = ranks.wins[better, worse], ranks.wins[worse, better]
            p_values = np.asarray(bdtrc(won - 1, won + lost, 0.5), dtype=np.float64)
        else:
            gap = (deviation[None, :] - deviation[:, None]) / n
            better, worse = np.nonzero(gap > 0.0)
            z = -gap[better, worse] / mean_rank_scale(n, m)
            p_values = np.asarray(ndtr(z), dtype=np.float64)
        adjusted = p_values
        if self.correction is not None:
            family = np.ones(m * (m - 1) // 2)  # pairs not listed cannot become significant
            family[: len(p_values)] = p_values
            adjusted = adjust(family, self.correction, n_candidates=m)[: len(p_values)]

        accepted = np.flatnonzero(adjusted < self.alpha)
        gap_of = deviation[worse[accepted]] - deviation[better[accepted]]
        order = np.lexsort((worse[accepted], better[accepted], -gap_of, adjusted[accepted]))
        accepted = accepted[order]
        return drop_losers(
            ranks.candidates,
            deviation,
            better[accepted],
            worse[accepted],
            adjusted[accepted],
            "p-value",
        )
