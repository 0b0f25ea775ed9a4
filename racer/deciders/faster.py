"""Which program is faster: signs of paired ratios of times, with a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_fraction, check_strength
from racer.deciders.decider import Blocks, Decider, Setting, Verdict
from racer.deciders.parts.e_processes import log_e_of_signs
from racer.deciders.parts.verdicts import best_of, drops

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FasterRace(Decider):
    """Drop a program when it is slower than another; end when the others are as fast as the first.

    Costs are times, > 0. If the order of the programs in a round is drawn at random, each of two
    equally fast ones takes longer with probability 1/2 given all rounds before, however the clock
    of the machine drifts. So the rounds in which i took longer than c times j make an e-process
    against "the median ratio of i to j is at most c", and rounds in which it took less make one
    against "at least c". A program is dropped by the first with c = 1; two are as fast as each
    other when neither median ratio can be 1 + margin or more.

    With probability 1 - alpha all of these statements, on all pairs and at all times, are true:
    they follow from one confidence sequence per pair, with Bonferroni's correction.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability that any statement of the race is false.
    margin : float >= 0
        0.02: programs whose times differ by 2 % at most are as fast as each other. 0: none are.
    """

    ends_itself = True
    first_test = each_test = 1

    alpha: float = 0.05
    margin: float = 0.02

    def __post_init__(self) -> None:
        check_fraction(self.alpha, "alpha", high=0.5)
        check_strength(self.margin, "margin")

    def log_needed(self, m: int) -> float:
        """Return the log e-value at which a statement on one of m programs holds."""
        return math.log(m * (m - 1) / self.alpha)

    def start(self, setting: Setting) -> NDArray[np.int64]:
        m = setting.n_candidates
        return np.zeros((3, m, m), dtype=np.int64)

    def decide(self, state: NDArray[np.int64], blocks: Blocks) -> tuple[NDArray[np.int64], Verdict]:
        """Decide by the rounds in which i took longer than j, than (1 + margin) j, and less."""
        alive, margin = blocks.candidates, math.log1p(self.margin)
        logs, needed = np.log(blocks.costs), self.log_needed(max(state.shape[1], 2))
        gaps = logs[:, :, None] - logs[:, None, :]
        signs = np.stack([gaps > 0.0, gaps > margin, gaps < margin])
        state[np.ix_(np.arange(3), alive, alive)] += signs.sum(axis=1)
        longer, beyond, within = state[:, alive][:, :, alive]
        standing = (longer - longer.T).sum(axis=1, dtype=np.float64)
        best = best_of(alive, standing)
        against = log_e_of_signs(longer, longer.T)
        slower = np.flatnonzero((against >= needed).any(axis=1))
        if len(slower):
            values = np.exp(np.minimum(against[slower].max(axis=1), 700.0))
            found = drops(
                *(alive, slower, "inferior", against[slower].argmax(axis=1), values, "e-value")
            )
            return state, Verdict(found, best, standing)
        first = int(standing.argmin())
        near = log_e_of_signs(within, beyond) >= needed
        is_near = near[:, first] & near[first]
        is_near[first] = True
        settled = bool(self.margin > 0.0 and is_near.all())
        return state, Verdict((), best, standing, settled=settled)
