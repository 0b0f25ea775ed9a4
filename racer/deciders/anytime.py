"""The anytime race: error over the whole race, not per test, by e-processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer.deciders.decider import Blocks, Drop, PerCandidate, Setting, Verdict
from racer.deciders.parts.e_processes import Bets, as_e_values, with_frozen
from racer.deciders.parts.plans import last_blocks, used_after
from racer.deciders.parts.ranking import RunningRanks
from racer.deciders.parts.single_trial import evidence_against
from racer.deciders.parts.verdicts import best_of, drops

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _State:
    ranks: RunningRanks
    bets: Bets
    setting: Setting
    log_e: NDArray[np.float64]  # (m, m), of i against j, at the last test
    log_e_eliminated: NDArray[np.float64]  # (m,), of the sum of E_ij over eliminated j
    used: int = 0  # evaluations

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Freeze the E_ij against eliminated opponents."""
        self.log_e_eliminated = with_frozen(self.log_e_eliminated, self.log_e, kept)
        self.bets.keep(kept)


@dataclass(frozen=True)
class AnytimeRace(PerCandidate):
    """Drop a candidate when the evidence against it, as an e-value, reaches 1 / alpha.

    Against each opponent, a candidate's e-process multiplies bets that it loses the next block:
    fair or unfavourable bets as long as it is not worse. Its e-value is their mean over all
    opponents it started with; values against eliminated ones stay as they were. So a
    candidate that is worse than none is *ever* dropped with probability `alpha` at most,
    however often the race tests and whenever it stops (Ville's inequality). That holds for each
    such candidate: of k equal ones, some are dropped with probability up to k alpha, unless
    `familywise`.

    A bet is sized by the difference of costs over the median of the pair's differences so far.
    The first 256 differences of a pair serve for all later ones, which bounds time and memory: both
    grow with the square of the number of candidates.

    Hypothesis for i and j: given the past, cost i - cost j is symmetric about 0 or about a
    point below. Ties bet nothing; a failed cell loses in the clearest way against a
    success, and ties with another failure.

    Candidates stand in the order of their mean ranks among all still in. The first is not
    dropped, nor are any that tie with it.

    With a budget in evaluations, or instances that are used once, the verdict is `undecided`
    once no candidate could be dropped even if it failed on every block that is left.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, over the whole race, of dropping a candidate that is worse than none.
    familywise : bool
        Ask for (number still in) / alpha instead of 1 / alpha: then with probability 1 - alpha
        no candidate that is worse than none is dropped at all (Holm's argument: at the first
        such drop all of them are still in). Takes longer.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting (JRSS B 2024);
    Ramdas, Ruf, Larsson, Koolen: Admissible anytime-valid sequential inference must rely on
    nonnegative martingales (arXiv:2009.03167, 2020).

    Examples
    --------
    >>> import racer
    >>> decider = racer.deciders.AnytimeRace(alpha=0.01)
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> result = racer.race(costs, lambda c, i, seed: c + seed % 7, decider=decider, budget=400, seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 1)
    """

    ends_itself = True

    def start(self, setting: Setting) -> _State:
        m = setting.n_candidates
        return _State(
            RunningRanks(m),
            Bets(m),
            setting,
            log_e=np.where(np.eye(m, dtype=bool), -np.inf, 0.0),
            log_e_eliminated=np.full(m, -np.inf),
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        kept = ranks.update(blocks)
        if kept is not None:
            state.keep(kept)
        for row in blocks.costs:
            state.bets.add(row)
        state.used = used_after(state.used, blocks)
        standing = ranks.means
        best = best_of(blocks.candidates, standing)
        if len(standing) < 2:
            return state, Verdict((), best, standing)

        state.log_e = state.bets.log_e()
        e_values = _e_values(state, state.log_e)
        eliminated = (e_values >= self.needed(len(standing))) & (standing > standing.min())
        dropped = _drop(state, e_values, eliminated)
        undecided = not dropped and self._is_undecided(state)
        return state, Verdict(dropped, best, standing, {"gate": "none"}, undecided=undecided)

    def judge(self, own: NDArray[np.float64], others: NDArray[np.float64]) -> Drop | None:
        """Compare one candidate with others, on the blocks that it has in common with them.

        Its e-value comes from `evidence_against`; an opponent that has no block in common with
        it does not count. Relations between opponents enter by blocks before only, so that
        nothing is gained by luck. The promise of `decide` holds for this candidate if which blocks
        an opponent has seen depends on blocks before.
        """
        opponents = np.flatnonzero(~np.isnan(others).all(axis=0))
        if not len(opponents):
            return None
        log_e, against = evidence_against(own, others[:, opponents])
        e_value = float(as_e_values(log_e))
        if e_value < self.needed(len(opponents) + 1):
            return None
        return Drop(
            others.shape[1],
            "inferior",
            against=int(opponents[against]),
            probability=e_value,
            measure="e-value",
        )

    def _is_undecided(self, state: _State) -> bool:
        """Return True if no outcome of the remaining blocks can drop a candidate."""
        alive = len(state.log_e_eliminated)
        left = last_blocks(state.setting, alive, state.ranks.n, state.used)
        if left is None:
            return False
        at_most = _e_values(state, state.bets.log_e(left))
        return bool((at_most < self.needed(len(at_most))).all())


def _e_values(state: _State, log_e: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of E_ij over all opponents at the start, at most the largest float."""
    total = np.logaddexp(state.log_e_eliminated, np.logaddexp.reduce(log_e, axis=1))
    return as_e_values(total - np.log(state.setting.n_candidates - 1))


def _drop(
    state: _State, e_values: NDArray[np.float64], eliminated: NDArray[np.bool_]
) -> tuple[Drop, ...]:
    """Drop the `eliminated`, each against the strongest opponent among all that stay."""
    order = np.argsort(-e_values, kind="stable")
    order = order[eliminated[order]]
    against = np.where(eliminated, -np.inf, state.log_e)[order].argmax(axis=1)
    return drops(state.ranks.candidates, order, "inferior", against, e_values[order], "e-value")
