"""A race on mean scores that have bounds: items answered right or wrong, grades."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_bounds, check_strength, flag
from racer.deciders.decider import AtLevel, Blocks, Drop, Setting, Verdict
from racer.deciders.parts.e_processes import as_e_values, with_frozen
from racer.deciders.parts.verdicts import best_of, drops
from racer.errors import SettingError
from racer.stats._bets import MeanBets, difference_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_REPLACED = 0.1  # of alpha, with a margin: for replacing the candidate that stands for others
_ROUNDING = 1e-9  # of the width of the bounds


@dataclass
class _State:
    n_candidates: int  # at the start
    bounds: tuple[float, float]  # of costs
    n_blocks: int | None
    candidates: NDArray[np.intp]
    bets: MeanBets  # on the differences of costs, i - j
    sums: Floats  # (m,)
    log_e_eliminated: Floats  # (m,), of the sum of the weighted evidence of eliminated opponents
    log_e: Floats  # (m, m), weighted, that i is worse than j, at the last test
    n: int = 0
    anchor: int | None = None  # the candidate that others have left for as nearly as good

    def keep(self, candidates: NDArray[np.intp]) -> None:
        """Forget all but these candidates; freeze the evidence of the others."""
        kept = np.searchsorted(self.candidates, candidates)
        if len(kept) == len(self.candidates):
            return
        self.log_e_eliminated = with_frozen(self.log_e_eliminated, self.log_e, kept)
        self.bets.keep(kept)
        self.sums, self.candidates = self.sums[kept], candidates

    @property
    def is_over(self) -> bool:
        """Whether all items have been seen."""
        return self.n_blocks is not None and self.n >= self.n_blocks


@dataclass(frozen=True)
class MeanRace(AtLevel):
    """Find the candidate with the best mean of scores that have bounds, as right or wrong answers.

    Against each opponent, a candidate's e-process multiplies bets that its mean is worse, sized so
    that nothing but the bounds is assumed of the scores. A candidate is dropped when the mean of
    its e-values, over all opponents it started with, reaches 1 / alpha. So the best one is *ever*
    dropped with probability `alpha` at most, for any number of tests.

    The means are over *these* items: each is used once, in random order, and the rest of
    them bounds the mean. So the race ends decided, at the latest by the true means on
    all items. With `population`, the items are a sample of a population, whose means are meant.

    With a `margin`, a candidate also leaves when another is not worse by more than that, and the
    last one's mean is within the margin of the best with probability 1 - alpha. All that leave so
    do it beside the same candidate, which is replaced only by a candidate shown to be better.

    A failed cell has the worst score. A score outside the bounds is an error.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, over the whole race, of losing the best candidate (by more than the margin).
    margin : float >= 0
        Difference of means, in units of the score, that does not matter.
    bounds : (float, float)
        The smallest and the largest score, where the metric has no ``racer.Metric(bounds=)``.
    population : bool
        The instances are a sample; their population's means are compared.
    familywise : bool
        Ask for (number still in) / alpha instead of 1 / alpha: then, of several candidates that are
        equally good, with probability 1 - alpha none is dropped for being worse. Takes longer.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no bounds of the costs.

    References
    ----------
    Waudby-Smith, Ramdas: Confidence sequences for sampling without replacement (NeurIPS 2020);
    Estimating means of bounded random variables by betting (JRSS B 2024).

    Examples
    --------
    >>> import racer
    >>> def evaluate(prompt, item, seed):
    ...     return float(item % 10 < prompt)  # right on so many of ten
    >>> how = {"goal": "max", "decider": "mean", "seed": 1}
    >>> result = racer.race([5, 8, 6], evaluate, range(400), budget=1200, **how)
    >>> result.best, result.ended.value, result.evaluations < 600
    (8, 'decided', True)
    """

    by_means = True
    ends_itself = True

    margin: float = 0.0
    bounds: tuple[float, float] = (0.0, 1.0)
    population: bool = False
    familywise: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.population, "population")
        flag(self.familywise, "familywise")
        check_strength(self.margin, "margin")
        object.__setattr__(self, "bounds", check_bounds(self.bounds))

    def start(self, setting: Setting) -> _State:
        m, n_blocks = setting.n_candidates, None if self.population else setting.n_blocks
        if setting.bounds is None:
            raise SettingError(
                f"{self!r} is for the scores of items in a race, and needs their bounds: give it to "
                "racer.race, or Setting(.., bounds=)"
            )
        bets = MeanBets(
            *((m, m), (0.0, -self.margin) if self.margin else (0.0,)),
            bounds=difference_bounds(setting.bounds),
            n_blocks=n_blocks,
        )
        nothing = np.full((m, m), -np.inf)
        return _State(
            *(m, setting.bounds, n_blocks, np.arange(m), bets),
            *(np.zeros(m), nothing[0], nothing),
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        state.keep(blocks.candidates)
        for row in blocks.costs:
            costs = np.clip(row, *state.bounds)  # a failed cell is the worst
            state.bets.add(costs[:, None] - costs[None, :])
            state.sums += costs
            state.n += 1
        means = state.sums / state.n
        if len(means) < 2:
            return state, Verdict((), int(blocks.candidates[0]), means)
        if state.is_over:
            return state, self._by_all_items(state, means)
        state.log_e = self._weighted(state, 0)
        dropped = self._dropped(state, means)
        best = best_of(blocks.candidates, means)
        return state, Verdict(dropped, best, means, {"gate": "none"})

    def _weighted(self, state: _State, null: int) -> Floats:
        """Return log E_ij of a null by the weight of an opponent, (m, m), -inf on the diagonal."""
        # with a margin, alpha pays for two ways to leave and for changes of the anchor
        weight = (1.0 - _REPLACED) / 2.0 if self.margin else 1.0
        log_e = state.bets.log_e(null) + math.log(weight / (state.n_candidates - 1))
        np.fill_diagonal(log_e, -np.inf)
        return log_e

    def _dropped(self, state: _State, means: Floats) -> tuple[Drop, ...]:
        """Return the drops on evidence: of inferior ones, and beside the anchor."""
        total = np.logaddexp(state.log_e_eliminated, np.logaddexp.reduce(state.log_e, axis=1))
        needed = math.log((len(means) if self.familywise else 1.0) / self.alpha)
        first = int(means.argmin())
        out = total >= needed
        out[first] = False
        anchor = first
        if self.margin:
            anchor, near = self._anchor(state, first, out), self._weighted(state, 1)[:, anchor]
            total = np.where(out, total, np.logaddexp(total, near))
            nearly = ~out & (total >= needed)
            nearly[anchor] = False
            if nearly.any():
                state.anchor = int(state.candidates[anchor])
        else:
            nearly = np.zeros_like(out)
        stays = ~out & ~nearly
        order = np.argsort(-total, kind="stable")
        gone = order[~stays[order]]
        opponents = np.where(stays, state.log_e[gone], -np.inf).argmax(axis=1)
        against = np.where(out[gone], opponents, anchor)
        reasons = ["inferior" if worse else "not better" for worse in out[gone].tolist()]
        values = as_e_values(total[gone])
        return drops(state.candidates, gone, reasons, against, values, "e-value")

    def _anchor(self, state: _State, first: int, out: NDArray[np.bool_]) -> int:
        """Return the place of the candidate that others may leave for; note if it is replaced.

        It is dropped, in `out`, only for a candidate shown to be better, among all ordered pairs.
        """
        places = np.flatnonzero(state.candidates == state.anchor)
        if not len(places):
            return first
        anchor, m = int(places[0]), state.n_candidates
        out[anchor] = False
        log_e = np.where(out, -np.inf, state.bets.log_e()[anchor])
        log_e[anchor] = -np.inf
        better = int(log_e.argmax())
        if log_e[better] < math.log(m * (m - 1) / (_REPLACED * self.alpha)):
            return anchor
        out[anchor] = True
        state.anchor = int(state.candidates[better])
        return better

    def _by_all_items(self, state: _State, means: Floats) -> Verdict:
        """Return the last verdict: the means over all items are known."""
        first = int(means.argmin())
        low, high = state.bounds
        behind = means - means[first]
        order = np.argsort(-behind, kind="stable")
        gone = order[order != first]
        is_worse = (behind[gone] > _ROUNDING * (high - low)).tolist()
        reasons = ["inferior" if worse else "indistinguishable" for worse in is_worse]
        dropped = drops(state.candidates, gone, reasons, first, behind[gone], "difference of means")
        return Verdict(dropped, int(state.candidates[first]), means, {"gate": "none"})
