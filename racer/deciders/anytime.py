"""AnytimeRace: e-processes, whose error does not grow with the number of looks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer.deciders.decider import Blocks, Drop, Verdict, best_of
from racer.deciders.ranking import RunningRanks
from racer.errors import SettingError
from racer.stats._validation import check_fraction
from racer.stats.dirichlet import RowBuffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AnytimeRace"]

Form = Literal["median", "rank", "sign"]

STAKES = {
    "median": np.array([0.1, 0.2, 0.35, 0.5, 0.75, 1.0])[:, None],
    "rank": np.array([0.5, 0.7, 0.9])[:, None],
}
CAP = 3.0  # medians; a larger difference is no stronger a bet, and a failure is as large as this
LARGEST = np.finfo(np.float64).max
ROWS_AT_ONCE = 32


class _Bets:
    """What has been won by betting on the sign of each difference, sized by its magnitude.

    Pairs are numbered p, each with a first and a second candidate (positions among those in).
    A tie is no bet and leaves no trace.
    """

    def __init__(self, m: int, form: Literal["median", "rank"]) -> None:
        self.form = form
        self.stakes = STAKES[form]
        self.first, self.second = np.triu_indices(m, 1)
        n_pairs = len(self.first)
        self.log_wealth = np.zeros((2, len(self.stakes), n_pairs))  # first worse, second worse
        self._sizes = RowBuffer(n_pairs, np.float64)  # ascending in each column, padded with inf
        self._n = np.zeros(n_pairs, dtype=np.intp)  # sizes without the padding

    def keep(self, m: int, kept: NDArray[np.intp]) -> None:
        """Forget the pairs of candidates that are gone: `kept` of `m` positions stay."""
        renumbered = np.full(m, -1)
        renumbered[kept] = np.arange(len(kept))
        first, second = renumbered[self.first], renumbered[self.second]
        pairs = np.flatnonzero((first >= 0) & (second >= 0))
        self.first, self.second = first[pairs], second[pairs]
        self.log_wealth = self.log_wealth[:, :, pairs]
        self._sizes.keep(columns=pairs)
        self._n = self._n[pairs]

    def add(self, costs: NDArray[np.float64]) -> None:
        """Bet on one block, costs of shape (m,)."""
        difference = self._differences(costs)
        sizes = np.abs(difference)
        if self.form == "median":
            bet = np.clip(self._in_medians(sizes), 0.0, CAP) * np.sign(difference)
            returns = _log_cosh_bet
        else:
            bet = self._relative_ranks(sizes) * np.sign(difference)
            returns = np.log1p
        self.log_wealth[0] += returns(self.stakes * bet)
        self.log_wealth[1] += returns(self.stakes * -bet)

    def log_e(self) -> NDArray[np.float64]:
        """Return the logarithm of the mean wealth over the stakes, shape (2, pairs)."""
        return _log_mean_exp(self.log_wealth, axis=1)

    def _differences(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return cost of the first - cost of the second; 0 if both failed."""
        one, other = costs[self.first], costs[self.second]
        with np.errstate(over="ignore", invalid="ignore"):
            difference = one - other
        difference[np.isnan(difference)] = 0.0
        known = np.isfinite(one) & np.isfinite(other)
        return np.where(known, np.clip(difference, -LARGEST, LARGEST), difference)

    def _in_medians(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sizes over the median size so far, ties and failures left out of the median."""
        finite = (sizes > 0.0) & (sizes < np.inf)
        self._n += finite
        ordered = _insert(self._sizes, np.where(finite, sizes, np.inf))
        pairs = np.arange(len(sizes))
        low = ordered[np.maximum(self._n - 1, 0) // 2, pairs]
        high = ordered[np.minimum(self._n // 2, len(ordered) - 1), pairs]
        told = self._n > 0
        median = np.ones_like(sizes)
        median[told] = low[told] + (high[told] - low[told]) / 2.0
        with np.errstate(over="ignore"):
            return sizes / median

    def _relative_ranks(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mid-ranks of sizes so far, as shares of the largest; ties count for none."""
        told = sizes > 0.0
        self._n += told
        ordered = _insert(self._sizes, np.where(told, sizes, np.inf))
        smaller = np.count_nonzero(ordered < sizes, axis=0)
        not_larger = np.minimum(np.count_nonzero(ordered <= sizes, axis=0), self._n)
        return np.where(told, (smaller + not_larger + 1) / (2.0 * np.maximum(self._n, 1)), 0.0)


@dataclass
class _State:
    ranks: RunningRanks
    log_e: NDArray[np.float64]  # (m, m) of all who started: evidence that row is worse than column
    bets: _Bets | None  # None: the sign form needs no more than the wins


@dataclass(frozen=True)
class AnytimeRace:
    """Drop whom an e-process finds worse: a best candidate is *ever* dropped with probability alpha.

    The other deciders spend their error again at every look. Here, whatever the number of looks
    and wherever the race ends, the probability that a candidate no worse than any other ever goes
    is at most alpha (Ville's inequality), however many candidates race.

    For each ordered pair (i, j) and "i is not worse than j" it bets, block by block, that i costs
    more; E_ij, what a stake of 1 has become, is at most 1 on average if i is not worse. With
    d_t = cost i - cost j of block t, "not worse" means

    - "median", "rank": given its magnitude, d_t is at least as likely negative as positive
      (differences symmetric about zero, or shifted below it);
    - "sign": d_t is at least as likely negative as positive.

    Ties bet nothing, as if the block had not been, and two failed cells tie. Candidate i goes when
    the mean of E_ij over all j it started with reaches 1 / alpha; E_ij stays as it is when j goes.
    If everyone were to go, the candidate with the best mean rank stays.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Of the whole race.
    form : {"median", "rank", "sign"}
        How bets are sized.

        "median": by z = d / median of the magnitudes so far, capped at 3; the mean of
        prod exp(c z) / cosh(c z) over c in {.1, .2, .35, .5, .75, 1}. A failed cell against one
        that is not counts as a difference of 3 medians, and is not part of the median.
        "rank": by r, the rank of the magnitude among those so far, as a share of their number;
        the mean of prod (1 + c r sign d) over c in {.5, .7, .9}. A failed cell against one that is
        not is larger than any other difference.
        "sign": not at all; a uniform mixture over P(d > 0) > 1/2. It looks at ranks only, and
        assumes least.

    Raises
    ------
    SettingError
        A parameter out of range.

    Notes
    -----
    "median" and "rank" keep the magnitudes of all differences: 8 bytes per pair and block. Unlike
    those of the other deciders, verdicts depend on who has been in the race before.

    References
    ----------
    Waudby-Smith and Ramdas: Estimating means of bounded random variables by betting (JRSS B,
    2024); Ramdas, Ruf, Larsson, Koolen: Admissible anytime-valid sequential inference must rely on
    nonnegative martingales (2020); Ville, Etude critique de la notion de collectif (1939).
    """

    alpha: float = 0.05
    form: Form = "median"

    def __post_init__(self) -> None:
        check_fraction(self.alpha, "alpha", high=0.5)
        if self.form not in ("median", "rank", "sign"):
            raise SettingError(f"form={self.form!r}: choose 'median', 'rank' or 'sign'")

    def start(self, n_candidates: int, rng: np.random.Generator) -> _State:  # noqa: ARG002
        """Return the state of a race in which nothing is known yet."""
        log_e = np.zeros((n_candidates, n_candidates))
        np.fill_diagonal(log_e, -np.inf)
        bets = None if self.form == "sign" else _Bets(n_candidates, self.form)
        return _State(RunningRanks(n_candidates), log_e, bets)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        """Take in new blocks and say who may go."""
        ranks, bets = state.ranks, state.bets
        before = len(ranks.candidates)
        kept = ranks.update(blocks)
        standing = ranks.sums.deviation / max(ranks.n, 1)
        best = best_of(blocks.candidates, standing)
        if len(blocks.candidates) < 2:
            return state, Verdict((), best, standing, {})
        alive = ranks.candidates
        if bets is None:
            worse = _log_sign_e(ranks.wins)
            np.fill_diagonal(worse, -np.inf)
            state.log_e[np.ix_(alive, alive)] = worse
        else:
            if kept is not None:
                bets.keep(before, kept)
            for row in blocks.costs:
                bets.add(row)
            first, second = alive[bets.first], alive[bets.second]
            state.log_e[first, second], state.log_e[second, first] = bets.log_e()
        return state, Verdict(self._losers(state, standing), best, standing, {"gate": "none"})

    def _losers(self, state: _State, standing: NDArray[np.float64]) -> tuple[Drop, ...]:
        alive = state.ranks.candidates
        opponents = len(state.log_e) - 1
        # added up in ascending order, so that the order of the candidates does not matter
        evidence = np.sort(state.log_e[alive], axis=1)[:, 1:]
        total = _log_mean_exp(evidence, axis=1)
        loses = total >= -math.log(self.alpha)
        if loses.all():
            loses[standing.argmin()] = False
        if not loses.any():
            return ()
        log_e = state.log_e[np.ix_(alive, alive)]
        told = np.where(log_e > 0.0, np.where(loses, 1, 2), 0)  # best, one that stays
        against = np.where(told == told.max(axis=1)[:, None], log_e, -np.inf).argmax(axis=1)
        order = np.flatnonzero(loses)
        order = order[np.argsort(-total[order], kind="stable")]
        return tuple(
            Drop(
                int(alive[i]),
                "inferior",
                int(alive[against[i]]),
                math.exp(min(float(total[i]), math.log(LARGEST))),
                "e-value",
            )
            for i in order.tolist()
        )


def _log_cosh_bet(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(exp(x) / cosh(x))."""
    return math.log(2.0) - np.log1p(np.exp(-2.0 * x))


def _log_sign_e(wins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log of 2^(w + l) times the mean of p^w (1 - p)^l over p in (1/2, 1), shape (m, m).

    Row i, column j: w of their blocks were won by j, l by i.
    """
    from scipy.special import betainc, betaln  # noqa: PLC0415

    won, lost = wins.T + 1.0, wins + 1.0
    with np.errstate(divide="ignore"):  # far on the other side: no evidence at all
        tail = np.log(betainc(lost, won, 0.5))
    mixture = betaln(won, lost) + tail + (won + lost - 1.0) * math.log(2.0)
    return np.asarray(mixture, dtype=np.float64)


def _log_mean_exp(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    top = values.max(axis=axis, keepdims=True)
    mean = np.exp(values - top).mean(axis=axis)
    return np.asarray(np.log(mean) + top.squeeze(axis), dtype=np.float64)


def _insert(ordered: RowBuffer, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Insert one value into each ascending column; return all, shape (n, width)."""
    ordered.append(np.full_like(values, np.inf))
    rows = ordered.rows
    # each place: what it held, or what comes up from the place before, or the value between them
    for stop in range(len(rows), 0, -ROWS_AT_ONCE):
        start = max(stop - ROWS_AT_ONCE, 1)
        if start < stop:
            from_before = np.maximum(rows[start - 1 : stop - 1], values)
            np.minimum(rows[start:stop], from_before, out=rows[start:stop])
    np.minimum(rows[0], values, out=rows[0])
    return rows
