"""The Bayesian race to the Pareto front: by the posterior of all means, behind a gate per metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from racer._checks import check_fraction
from racer.deciders.decider import Blocks, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.gates import Evidence, Gate, Omnibus, as_gate
from racer.deciders.parts.ranking import RunningRanks
from racer.deciders.parts.several import required_goal
from racer.deciders.parts.verdicts import drops
from racer.errors import SettingError
from racer.stats.several import Means, on_front

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Goal

_SETTLED = 0.95  # the probability of each that is left to be on the front, at which a race ends


@dataclass
class _State:
    goal: Goal
    n_blocks: int | None
    ranks: list[RunningRanks]  # one per metric
    gates: list[Omnibus]
    costs: list[NDArray[np.float64]]  # (m, d) per block


@dataclass(frozen=True)
class BayesianFront(Scheduled):
    """Drop candidates that are, jointly with probability `confidence`, not on the front.

    At each test: in every metric with noise an omnibus test of "all equal" (the gate). If all of
    them reject, the posterior of the expected costs in all metrics (`racer.stats.front_posterior`,
    of the candidates still in) gives for each candidate the probability that another is better
    in every metric; the longest list is dropped, surest first, of which that holds jointly. The
    verdict is `settled` once each that is left is on the front with probability 0.95.

    Failures count as in `racer.stats.best_posterior`, in every metric with noise. Margins are not
    for this decider: `FrontRace` takes them.

    More are dropped than by `FrontRace`, and how often one of the front is dropped is not bounded
    over the race: it is calibrated if candidates differ by the posterior's model.

    Parameters
    ----------
    confidence : float in (0.5, 1)
        Of the statements of a test together, and 1 - the level of the gates.
    gate : {"sign-flip", "friedman"} or False
        The omnibus test: see `FRace`.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no objective `racer.Pareto`.

    Examples
    --------
    >>> import racer
    >>> def evaluate(size, instance, seed):
    ...     return {"error": 1.0 / size + seed % 7 / 100.0, "seconds": 30.0 if size == 9 else size}
    >>> result = racer.race(
    ...     [1, 2, 4, 9, 12], evaluate, budget=2000, seed=1, decider="bayesian-front",
    ...     goal={"error": "min", "seconds": "min"},
    ... )
    >>> sorted(result.config(c) for c in result.survivors)
    [1, 2, 4, 12]
    """

    tests = "growing"  # its error is spent at each test
    objectives: ClassVar[tuple[str, ...]] = ("front",)

    confidence: float = 0.99
    gate: Gate | bool = "sign-flip"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.confidence, "confidence", low=0.5)
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))

    def start(self, setting: Setting) -> _State:
        goal, seed = required_goal(setting, "front"), int(setting.rng.integers(2**63))
        if any(goal.margins):
            raise SettingError("decider='bayesian-front' takes no margins: give 'front'")
        level, metrics = 1.0 - self.confidence, range(goal.n_metrics)
        return _State(
            goal,
            setting.n_blocks,
            [RunningRanks(setting.n_candidates) for _ in metrics],
            [
                Omnibus(
                    self.gate if not goal.exact[d] else False,
                    level,
                    seed,
                    generalize=setting.generalize,
                )
                for d in metrics
            ],
            [],
        )

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        metrics = np.asarray(blocks.metrics)
        for d, ranks in enumerate(state.ranks):
            shown = Blocks(blocks.candidates, metrics[:, :, d], instances=blocks.instances)
            kept = ranks.update(shown)
            if kept is not None and d == 0:
                state.costs = [row[kept] for row in state.costs]
        state.costs.extend(metrics)
        m, first = len(blocks.candidates), state.ranks[0]
        if m == 1:
            return state, Verdict((), int(blocks.candidates[0]), np.zeros(1), settled=True)
        asked = [gate.ask(ranks) for gate, ranks in zip(state.gates, state.ranks, strict=True)]
        worst = max(float(found.get("p_value", 0.0)) for _, found in asked)
        evidence: Evidence = {"gate": str(self.gate or "none"), "p_value": worst}
        standing = np.sum([ranks.means for ranks in state.ranks], axis=0)
        if first.n < 2 or not all(is_open for is_open, _ in asked):
            return state, Verdict((), None, standing, evidence)
        costs = np.stack(state.costs).transpose(2, 0, 1)
        exact = np.array(state.goal.exact)
        drawn = Means(costs, exact, by_block=True, n_blocks=state.n_blocks).drawn()
        fronts = on_front(drawn)
        dropped = self._dropped(blocks.candidates, drawn, fronts)
        settled = not dropped and float(fronts.mean(axis=0).min()) >= _SETTLED
        return state, Verdict(dropped, None, -fronts.mean(axis=0), evidence, settled=settled)

    def _dropped(
        self,
        candidates: NDArray[np.intp],
        drawn: NDArray[np.float64],
        fronts: NDArray[np.bool_],
    ) -> tuple[Drop, ...]:
        """Drop the longest list, surest first, that is jointly not on the front."""
        order = np.argsort(fronts.mean(axis=0), kind="stable")[:-1]
        jointly = np.logical_and.accumulate(~fronts[:, order], axis=1).mean(axis=0)
        gone = order[: np.count_nonzero(jointly > self.confidence)]
        stay = np.delete(np.arange(len(candidates)), gone)
        worse = [(drawn[:, [i]] > drawn[:, stay]).all(axis=2).mean(axis=0) for i in gone.tolist()]
        against = stay[np.argmax(worse, axis=1)] if worse else gone
        out = 1.0 - fronts[:, gone].mean(axis=0)
        return drops(candidates, gone, "dominated", against, out, "posterior")
