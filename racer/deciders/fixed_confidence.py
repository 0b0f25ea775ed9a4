"""The race of fixed confidence: it ends when the best is known, by bets against the leader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from racer._checks import check_fraction, choice
from racer.deciders.decider import Blocks, Scheduled, Setting, Verdict
from racer.deciders.parts.e_processes import Duels, Sized, as_e_values
from racer.deciders.parts.plans import last_blocks, used_after
from racer.deciders.parts.ranking import RunningRanks
from racer.deciders.parts.verdicts import best_of, drops

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _State:
    ranks: RunningRanks
    duels: Duels  # of each candidate with the leader of the blocks before
    setting: Setting
    used: int = 0  # evaluations


@dataclass(frozen=True)
class FixedConfidence(Scheduled):
    """End the race when the best candidate is known with a given confidence, at any time.

    Before each block, the candidates still in are ordered by their mean ranks so far (ties, by
    the last block). Each then bets that it loses the block against the first of them, and
    the first against the second. For a candidate that is worse than none, each such bet is fair or
    unfavourable against any opponent, as the opponent is chosen before the block. So its wealth
    is an e-process, and reaches 1 / (1 - confidence) with that probability at most, over the whole
    race (Ville's inequality): then the candidate is dropped. When one candidate is left, it is the
    best with probability `confidence` at least.

    There is one bet per candidate and block, where `AnytimeRace` has one per pair: time and memory
    grow with the number of candidates, not with its square, and no evidence is shared out among
    opponents. A candidate that is not the best may be dropped although it ties with another one
    that is not; of several equally good ones, each is dropped with probability
    1 - confidence at most, and a race between them ends by its budget.

    Assumption: given the past, the difference of costs of a best candidate and any other is
    symmetric about 0 or about a point below. Ties bet nothing; a failed cell loses in the clearest
    way against a success.

    With a budget in evaluations, or instances that are used once, the verdict is `undecided`
    once no candidate could be dropped even if it failed on every block that is left.

    Parameters
    ----------
    confidence : float in (0.5, 1)
        Probability, over the whole race, that a given best candidate is never dropped.
    form : {"median", "rank"}
        Size of a bet: the difference of costs over the median difference so far, or its rank among
        all, which also holds for capped run times.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting (JRSS B 2024).

    Examples
    --------
    >>> import racer
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> result = racer.race(costs, lambda c, i, seed: c + seed % 2, budget=400,
    ...                     decider="fixed-confidence", seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 1)
    """

    ends_itself = True

    confidence: float = 0.95
    form: Sized = "median"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.confidence, "confidence", low=0.5)
        choice(self.form, "form", get_args(Sized))

    @property
    def takes_capped(self) -> bool:
        return self.form == "rank"

    def start(self, setting: Setting) -> _State:
        m = setting.n_candidates
        return _State(RunningRanks(m), Duels(m, self.form), setting)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        kept = ranks.update(blocks)
        if kept is not None:
            state.duels.keep(kept)
        state.used = used_after(state.used, blocks)
        standing = ranks.means
        best = best_of(blocks.candidates, standing)
        if len(standing) < 2:
            return state, Verdict((), best, standing)

        for costs, opponents in zip(
            blocks.costs, _opponents(ranks, len(blocks.costs)), strict=True
        ):
            state.duels.add(costs, costs[opponents])
        e_values = as_e_values(state.duels.log_e()[0])
        eliminated = (e_values >= self._needed) & (standing > standing.min())
        order = np.argsort(-e_values, kind="stable")
        order = order[eliminated[order]]
        leader = int(standing.argmin())
        dropped = drops(ranks.candidates, order, "inferior", leader, e_values[order], "e-value")
        undecided = not dropped and self._is_undecided(state)
        return state, Verdict(dropped, best, standing, {"gate": "none"}, undecided=undecided)

    @property
    def _needed(self) -> float:
        """Return the e-value at which a candidate is dropped."""
        return 1.0 / (1.0 - self.confidence)

    def _is_undecided(self, state: _State) -> bool:
        """Return True if no candidate can be dropped any more, whatever the blocks left bring."""
        left = last_blocks(state.setting, len(state.ranks.means), state.ranks.n, state.used)
        if left is None:
            return False
        return bool((as_e_values(state.duels.log_e(left)[0]) < self._needed).all())


def _opponents(ranks: RunningRanks, new: int) -> NDArray[np.intp]:
    """Return each one's opponent in the last `new` blocks, (new, m), by the blocks before each."""
    n, m = ranks.ranks.shape
    opponents = np.tile(np.arange(m), (new, 1))  # on the first block itself: nothing is bet
    start = max(n - new, 1)
    sums = ranks.sums.deviation - ranks.ranks[start:].sum(axis=0)  # halves: exact
    for block in range(start, n):
        first, second = np.lexsort((ranks.ranks[block - 1], sums))[:2]
        row = opponents[block - n]
        row[:] = first
        row[first] = second
        sums = sums + ranks.ranks[block]
    return opponents
