"""The Plackett-Luce race: weights from whole rankings, and how probably each is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_draws, check_fraction
from racer._numerics import RowBuffer, one_blas_thread
from racer.deciders.decider import Blocks, Decider, Drop, Setting, Verdict
from racer.deciders.parts.gates import Evidence, Gate, Omnibus, as_gate, gated
from racer.deciders.parts.model_based import chances, drop_unlikely
from racer.deciders.parts.ranking import Order, RunningRanks
from racer.stats._likelihoods import ChoiceModel, Choices, sum_to_zero
from racer.stats._rankings import RankingModel
from racer.stats._sampling.model import climb, climb_from_near

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS = 1 << 20  # comparisons held at once
_MANY = 32  # candidates, from which the sets of a ranking are not listed
_DIGITS = 9  # of log weights that candidates are ordered by: beyond, they differ by rounding


class _RunningChoices:
    """The choices so far of m candidates, each set at risk once: few candidates have few sets.

    Of many, rankings without ties and failures are kept as they are: their sets are all different.
    """

    def __init__(self, m: int) -> None:
        self._chosen = np.zeros(m)
        self._sets = RowBuffer(m, np.float64)
        self._times = RowBuffer(1, np.float64)
        self._places: dict[bytes, int] = {}
        self._whole = RowBuffer(m, np.float64)  # costs

    def add(self, costs: NDArray[np.float64]) -> None:
        """Take in the choices of new blocks."""
        m = costs.shape[1]
        if m >= _MANY:
            ordered = np.sort(costs, axis=1)
            is_whole = (ordered[:, 1:] > ordered[:, :-1]).all(axis=1) & np.isfinite(ordered[:, -1])
            whole, costs = costs[is_whole], costs[~is_whole]
            self._whole.extend(whole)
            self._chosen += len(whole) - np.bincount(whole.argmax(axis=1), minlength=m)
        step = max(1, _CELLS // m**2)
        for start in range(0, len(costs), step):
            chosen, rows = choices(costs[start : start + step])
            self._chosen += chosen
            for row in rows:
                place = self._places.setdefault(row.tobytes(), len(self._places))
                if place == len(self._sets):
                    self._sets.append(row)
                    self._times.append(np.zeros(1))
                self._times.rows[place] += 1.0

    def model(self, places: NDArray[np.intp], prior: float) -> ChoiceModel:
        """Return their model, with the candidates in another order."""
        alpha = np.full(len(places), prior)
        known = Choices(
            self._chosen[places], self._sets.rows[:, places], self._times.rows[:, 0].copy()
        )
        if not len(self._whole):
            return ChoiceModel(known, alpha)
        return RankingModel(known, alpha, np.argsort(-self._whole.rows[:, places], axis=1))


@dataclass
class _State:
    ranks: RunningRanks
    gate: Omnibus
    choices: _RunningChoices
    log_weights: NDArray[np.float64]  # (m,), at the mode of the last test
    seed: int


def choices(costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each was chosen, (m,), and the sets at risk, rows of m, by Efron's rule."""
    later = costs[:, None, :] > costs[:, :, None]
    tied = costs[:, None, :] == costs[:, :, None]
    size = np.count_nonzero(tied, axis=2)
    before = np.count_nonzero(np.tril(tied, -1), axis=2)
    made = np.isfinite(costs) & (np.count_nonzero(later, axis=2) + size > 1)
    rows = later + tied * (1.0 - before / size)[:, :, None]
    return made.sum(axis=0).astype(np.float64), rows[made]


@dataclass(frozen=True)
class PlackettLuceRace(Decider):
    """Drop candidates that are too unlikely to be the best by the Bayesian Plackett-Luce model.

    At each test: an omnibus test (the gate); if it rejects "all equal", the posterior of
    the weights w, P(ranking) = prod_i w_i / (sum of the w at risk at place i), w ~
    Dirichlet(prior), from the rankings of those still in. A candidate is dropped when the
    probability that its weight is the largest of all m is below threshold / m: so the best one
    is dropped, by that posterior, with probability `threshold` at most. Candidates stand in the
    order of their log weights at the mode; one that stands first, or ties for it, stays.

    It is the model of `racer.stats.plackett_luce`: Efron's rule for ties, and failed cells come
    after all others, in no order among themselves. The posterior is sampled anew at each test by
    importance around its mode, which Newton's method finds from the mode of the test before. A
    block adds its choices to those known; all different ones are summed at each test, those of
    many candidates by running sums over each ranking.

    Parameters
    ----------
    threshold : float in (0, 1)
        Divided by the number of candidates still in; also the level of the gate. Per test: a
        race tests many times.
    prior : float > 1e-6
        alpha, the same for each; larger draws the weights closer together.
    gate : {"sign-flip", "friedman"} or False
        The omnibus test: see `FRace`.
    draws : int >= 100
        Points of importance sampling.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Calvo, Shir, Ceberio, Doerr, Wang, Back, Lozano: Bayesian performance analysis for black-box
    optimization benchmarking (GECCO 2019), eq. 2 and 3; Efron (JASA 1977) for ties.

    Examples
    --------
    >>> import racer
    >>> race = racer.race([3, 0, 7], lambda x, i, s: abs(x - i % 2), range(60), budget=180,
    ...                   decider="plackett-luce", seed=1)
    >>> race.best, race.ended.name
    (0, 'DECIDED')
    """

    tests = "growing"  # its error is spent at each test
    takes_capped = True

    threshold: float = 0.05
    prior: float = 1.0
    gate: Gate | bool = "sign-flip"
    draws: int = 1000

    def __post_init__(self) -> None:
        check_fraction(self.threshold, "threshold")
        check_fraction(self.prior, "prior", low=1e-6, high=np.inf)
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))
        check_draws(self.draws)

    def start(self, setting: Setting) -> _State:
        m = setting.n_candidates
        seed = int(setting.rng.integers(2**63))
        gate = Omnibus(self.gate, self.threshold, seed, generalize=setting.generalize)
        return _State(RunningRanks(m), gate, _RunningChoices(m), np.zeros(m), seed)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        kept = ranks.update(blocks)
        m = len(ranks.candidates)
        if kept is not None:
            state.log_weights, state.choices = state.log_weights[kept], _RunningChoices(m)
        state.choices.add(blocks.costs if kept is None else ranks.costs)
        if m < 2:
            return state, Verdict((), int(blocks.candidates[0]), np.zeros(1))

        order = Order.sorted_from(ranks)
        places = order.places
        model = state.choices.model(places, float(self.prior))
        basis = sum_to_zero(m)
        model.start = basis.T @ state.log_weights[places]
        with one_blas_thread():
            near = isinstance(model, RankingModel)
            laplace = climb_from_near(model) if near else climb(model)
        state.log_weights[places] = basis @ laplace.mode
        standing = 0.0 - np.round(order.averaged(basis @ laplace.mode), _DIGITS)

        def compare() -> tuple[tuple[Drop, ...], Evidence]:
            found = chances(model, laplace, model.log_weights, self.draws, state.seed)
            probability = order.averaged(found.best)
            dropped = drop_unlikely(ranks.candidates, standing, probability, self.threshold)
            return dropped, {"effective_draws": found.effective_draws}

        return state, gated(state.gate, ranks, standing, compare)
