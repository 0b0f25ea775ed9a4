"""The race to the Pareto front: candidates worse than another one in every metric leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from racer.deciders.decider import Blocks, Drop, Goal, PerCandidate, Setting, Verdict
from racer.deciders.parts.e_processes import Bets, as_e_values, with_frozen
from racer.deciders.parts.horizon import Horizon
from racer.deciders.parts.plans import blocks_left, used_after
from racer.deciders.parts.several import exact_means, required_goal
from racer.deciders.parts.verdicts import drops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FULL = 3.0  # the largest relative size of a difference
_SHARE = 0.7  # of the wealth, in the bets for the number of blocks that is known
_BEFORE = 10  # one of so many blocks goes before these bets
_LEAST = 30  # blocks, with fewer there are none


@dataclass
class _State:
    goal: Goal
    setting: Setting
    candidates: NDArray[np.intp]
    bets: list[Bets | None]  # one per metric; None: known exactly
    horizon: Horizon | None
    log_e_eliminated: Floats  # (m,), of the sum of E_ij over eliminated j, weights included
    sums: Floats  # (m, d), of the costs of successful cells
    counts: NDArray[np.int64]  # (m,)
    n: int = 0
    used: int = 0
    log_e: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # at the last test

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Freeze the E_ij against eliminated opponents, unless there are margins."""
        before = self.log_e_eliminated
        has_margins = any(self.goal.margins)
        self.log_e_eliminated = (
            before[kept] if has_margins else with_frozen(before, self.log_e, kept)
        )
        self.candidates, self.sums = self.candidates[kept], self.sums[kept]
        self.counts = self.counts[kept]
        for bets in self.bets:
            if bets is not None:
                bets.keep(kept)
        if self.horizon is not None:
            self.horizon.keep(kept)


def _standing(state: _State, against: Floats) -> Floats:
    """Return places by the evidence against each, (m,); where that is equal, by ranks of means."""
    means = state.sums / np.maximum(state.counts, 1)[:, None]
    ranks = means.argsort(axis=0, kind="stable").argsort(axis=0).sum(axis=1)
    places = np.empty(len(against))
    places[np.lexsort((ranks, against))] = np.arange(len(against))
    return places


@dataclass(frozen=True)
class FrontRace(PerCandidate):
    """Drop a candidate when the evidence that another is better in every metric reaches 1 / alpha.

    For each opponent and metric an e-process bets that the candidate costs more, as in
    `AnytimeRace`; the smallest of an opponent's is an e-process of "better in every metric" (the
    hypothesis against it is a union over metrics), and their weighted mean over opponents one of
    "some candidate is". So a candidate that is on the front is *ever* dropped with
    probability `alpha` at most, for any number of metrics, their dependence, the number of
    tests, and when the race stops.

    Where the number of blocks is known, a part of the bets is made for their end: sized so that the
    evidence is most probable to suffice then. They begin after a tenth of the blocks, which chooses
    the opponents that they weigh.

    The verdict is `settled` once for each ordered pair still in the evidence that the first
    is better in some metric reaches 1 / alpha. A metric that is known exactly raises no objection
    where the opponent's mean is not larger. With a margin, it is enough that an opponent is
    nowhere worse by more than that; evidence against candidates that have left does not count then.

    Hypotheses are about medians, as in `AnytimeRace`. A failed cell is the worst in every metric.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, over the whole race, of dropping a candidate that is on the front.
    familywise : bool
        Ask for (number still in) / alpha instead of 1 / alpha: then with probability 1 - alpha no
        candidate of the front is dropped at all.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no objective `racer.Pareto`.

    References
    ----------
    Ramdas, Grünwald, Vovk, Shafer: Game-theoretic statistics and safe anytime-valid inference
    (Statistical Science 2023); Zhang, Georgiopoulos, Anagnostopoulos: S-Race (GECCO 2013), for
    the problem.

    Examples
    --------
    >>> import racer
    >>> def evaluate(size, instance, seed):
    ...     return {"error": 1.0 / size + seed % 7 / 100.0, "seconds": 30.0 if size == 9 else size}
    >>> result = racer.race(
    ...     [1, 2, 4, 9, 12], evaluate, budget=2000, seed=1, decider="front",
    ...     goal={"error": "min", "seconds": "min"},
    ... )
    >>> result.ended.value, sorted(result.config(c) for c in result.survivors)
    ('settled', [1, 2, 4, 12])
    """

    ends_itself = True
    objectives: ClassVar[tuple[str, ...]] = ("front",)

    def start(self, setting: Setting) -> _State:
        goal, m = required_goal(setting, "front"), setting.n_candidates
        noisy = [not exact for exact in goal.exact]
        ends = blocks_left(setting, m, 0, 0)
        horizon = None
        if ends is not None and ends >= _LEAST and m > 1:
            horizon = Horizon(
                *(m, sum(noisy)),
                begins=ends // _BEFORE,
                ends=ends,
                level=self.alpha,
                share=_SHARE,
                largest=_FULL,
            )
        return _State(
            goal,
            setting,
            np.arange(m),
            [
                None if exact else Bets(m, margin)
                for exact, margin in zip(goal.exact, goal.margins, strict=True)
            ],
            horizon,
            log_e_eliminated=np.full(m, -np.inf),
            sums=np.zeros((m, goal.n_metrics)),
            counts=np.zeros(m, dtype=np.int64),
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            state.keep(np.searchsorted(state.candidates, blocks.candidates))
        for row in np.asarray(blocks.metrics):
            self._add(state, row)
        state.used = used_after(state.used, blocks)
        m = len(blocks.candidates)
        state.log_e = self._log_e(state)
        against = np.logaddexp(state.log_e_eliminated, np.logaddexp.reduce(state.log_e, axis=1))
        if m == 1:
            return state, Verdict((), int(blocks.candidates[0]), np.zeros(1), settled=True)
        dropped = self._dropped(state, against)
        verdict = Verdict(
            dropped,
            None,
            _standing(state, against),
            {"largest_e_value": float(as_e_values(against.max()))},
            settled=not dropped and self._is_settled(state),
            undecided=not dropped and self._is_undecided(state),
        )
        return state, verdict

    def _add(self, state: _State, row: Floats) -> None:
        """Settle the bets of a block, costs (m, d)."""
        known = np.isfinite(row).all(axis=1)
        state.sums[known] += row[known]
        state.counts += known
        for bets, costs in zip(state.bets, row.T, strict=True):
            if bets is not None:
                bets.add(costs)
        if state.horizon is not None:
            state.horizon.add(np.array([b.signed for b in state.bets if b is not None]))
        state.n += 1

    def _needed(self, alive: int) -> float:
        """Return the logarithm of the e-value at which a candidate is dropped."""
        return float(np.log(self.needed(alive)))

    def _log_e(self, state: _State, more: int = 0) -> Floats:
        """Return log E_ij times its weight, (m, m), of "j is better than i in every metric"."""
        noisy = [bets.log_e(more) for bets in state.bets if bets is not None]
        found = np.minimum.reduce(noisy) - np.log(max(state.setting.n_candidates - 1, 1))
        if state.horizon is not None:
            found = np.logaddexp(
                found + np.log(1.0 - _SHARE), state.horizon.log_e(more) + np.log(_SHARE)
            )
        for d, margin in enumerate(state.goal.margins):
            if state.goal.exact[d]:
                means = exact_means(state.sums[:, d], state.counts)
                found = np.where(means[None, :] <= means[:, None] + margin, found, -np.inf)
        np.fill_diagonal(found, -np.inf)
        return np.asarray(found)

    def _dropped(self, state: _State, against: Floats) -> tuple[Drop, ...]:
        """Drop candidates with sufficient evidence against them, strongest first, never all."""
        needed, m = self._needed(len(against)), len(against)
        order = [i for i in np.argsort(-against, kind="stable").tolist() if against[i] >= needed]
        stays, gone = np.ones(m, dtype=np.bool_), []
        for i in order[: m - 1]:
            if any(state.goal.margins):  # two may each be nowhere worse than the other
                here = np.logaddexp.reduce(state.log_e[i][stays])
                if np.logaddexp(state.log_e_eliminated[i], here) < needed:
                    continue
            stays[i] = False
            gone.append(i)
        out = np.array(gone, dtype=np.intp)
        opponents = np.where(stays, state.log_e[out], -np.inf).argmax(axis=1)
        values = as_e_values(against[out])
        return drops(state.candidates, out, "dominated", opponents, values, "e-value")

    def _is_settled(self, state: _State) -> bool:
        """Return whether each one left is known to be better than each other in some metric."""
        m, d = len(state.candidates), state.goal.n_metrics
        found = np.full((m, m), -np.inf)  # of "i is better than j in some metric"
        for k, bets in enumerate(state.bets):
            if bets is None:
                means = exact_means(state.sums[:, k], state.counts)
                found = np.where(means[:, None] < means[None, :], np.inf, found)
            elif not bets.margin:
                found = np.logaddexp(found, bets.log_e().T)
        np.fill_diagonal(found, np.inf)
        return bool((found - np.log(d) >= self._needed(1)).all())

    def _is_undecided(self, state: _State) -> bool:
        """Return whether no outcome of the remaining blocks can drop a candidate."""
        left = blocks_left(state.setting, len(state.candidates), state.n, state.used)
        if left is None:
            return False
        at_most = np.logaddexp.reduce(self._log_e(state, max(left, 0)), axis=1)
        at_most = np.logaddexp(state.log_e_eliminated, at_most)
        return bool((at_most < self._needed(len(at_most))).all())
