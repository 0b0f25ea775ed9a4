"""F-Race: the Friedman test, then a post-hoc comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from racer._checks import check_fraction
from racer.deciders.decider import Blocks, Drop, Verdict
from racer.deciders.drops import best_of, drop_losers, drop_worse
from racer.deciders.gates import Gate, Omnibus, as_gate
from racer.deciders.rank_tests import CriticalWins, two_sided_sign
from racer.deciders.ranking import RunningRanks
from racer.errors import SettingError
from racer.stats.multiplicity import Correction, adjust, check_correction
from racer.stats.posthoc import conover_p_values, mean_rank_scale
from racer.stats.signed_rank import signed_rank_test

Posthoc = Literal["conover", "sign", "mean-rank"]
LastTwo = Literal["signed-rank", "sign"]


@dataclass
class _State:
    ranks: RunningRanks
    omnibus: Omnibus
    critical: CriticalWins


@dataclass(frozen=True)
class FRace:
    """Drop what a post-hoc test finds worse, once an omnibus test rejects "all equal".

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
        What decides between two. "signed-rank" (default of the post-hoc "conover", as F-Race is
        used): Wilcoxon's test of their costs, two-sided, whatever the gate; where one lost every
        block, the one-sided sign test, so that five blocks are enough at 0.05. The one with the
        better mean rank stays. "sign" (default of the other two): the two-sided sign test is the
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
    >>> result = racer.race(costs, lambda *cell: cell[0], decider=decider, budget=200, seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 1)
    """

    each_test: ClassVar = "growing"  # its error is spent at each test

    posthoc: Posthoc = "conover"
    alpha: float = 0.05
    gate: Gate | bool = "sign-flip"
    correction: Correction | None = None
    last_two: LastTwo | None = None

    def __post_init__(self) -> None:
        check_fraction(self.alpha, "alpha", high=0.5)
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))
        if self.posthoc not in ("conover", "sign", "mean-rank"):
            raise SettingError(f"posthoc={self.posthoc!r}: choose 'conover', 'sign' or 'mean-rank'")
        check_correction(self.correction, all_pairs=self.posthoc != "conover")
        if self.last_two is not None and self.last_two not in get_args(LastTwo):
            raise SettingError(f"last_two={self.last_two!r}: choose 'signed-rank' or 'sign'")

    def start(self, n_candidates: int, rng: np.random.Generator) -> _State:
        """Return the state of a race in which nothing is known yet."""
        omnibus = Omnibus(self.gate, self.alpha, int(rng.integers(2**63)))
        return _State(RunningRanks(n_candidates), omnibus, CriticalWins("sign", self.alpha))

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        """Take in new blocks and say which candidates to eliminate."""
        ranks = state.ranks
        ranks.update(blocks)
        standing = ranks.sums.deviation / max(ranks.n, 1)
        best = best_of(blocks.candidates, standing)
        if ranks.n < 2 or len(blocks.candidates) < 2:
            return state, Verdict((), best, standing, {})
        dropped: tuple[Drop, ...] = ()
        if len(blocks.candidates) == 2 and self._asks_signed_rank:
            dropped, evidence = self._of_two(ranks)
            return state, Verdict(dropped, best, standing, evidence)
        opened, evidence = state.omnibus.ask(ranks)
        if opened and self.posthoc == "conover":
            dropped = self._against_best(ranks)
        elif opened:
            dropped = self._all_pairs(state)
        return state, Verdict(dropped, best, standing, evidence)

    @property
    def takes_capped(self) -> bool:
        """Whether it goes by ranks and signs alone, to the last two."""
        return not self._asks_signed_rank

    @property
    def _asks_signed_rank(self) -> bool:
        return self.last_two == "signed-rank" or (
            self.last_two is None and self.posthoc == "conover"
        )

    def _of_two(self, ranks: RunningRanks) -> tuple[tuple[Drop, ...], dict[str, float | str]]:
        test = signed_rank_test(*ranks.costs.T)
        loser = int(test.rank_sum_better > test.rank_sum_worse)
        p_value = test.p_value
        if ranks.n in (test.n_better, test.n_worse):  # one lost every block
            p_value = 0.5**ranks.n
        evidence: dict[str, float | str] = {"gate": "signed-rank", "p_value": p_value}
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

    def _all_pairs(self, state: _State) -> tuple[Drop, ...]:
        from scipy.special import bdtrc, ndtr  # noqa: PLC0415

        ranks = state.ranks
        n, m, deviation = ranks.n, len(ranks.candidates), ranks.sums.deviation
        if self.posthoc == "sign":
            better, worse = state.critical.pairs(ranks.wins, n)
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
        if not len(accepted):
            return ()
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
