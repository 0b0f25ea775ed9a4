"""The Bradley-Terry race: strengths from a win table, and how probably each is best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import check_draws, check_fraction, flag
from racer._numerics import one_blas_thread
from racer.deciders.decider import Blocks, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.gates import Evidence, Gate, Omnibus, as_gate, gated
from racer.deciders.parts.ranking import Order, RunningRanks
from racer.deciders.parts.verdicts import drops
from racer.seeding import rng_for
from racer.stats._likelihoods import EvenLikelihood, GivenScale, Likelihood
from racer.stats._sampling.engine import weigh
from racer.stats._sampling.model import climb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.stats._sampling.model import Laplace, Model

_MANY = 64  # candidates, from which on logarithms of products pay most


class Chances(NamedTuple):
    """The probability of each of being the best, (m,), and how many draws that is worth."""

    best: NDArray[np.float64]
    effective_draws: float


@dataclass
class _State:
    ranks: RunningRanks
    gate: Omnibus
    mode: NDArray[np.float64]  # (m,), of the last test
    seed: int


@dataclass(frozen=True)
class BradleyTerryRace(Scheduled):
    """Drop candidates that are too unlikely to be the best by the Bayesian Bradley-Terry model.

    At each test: an omnibus test (the gate); if it rejects "all equal", the posterior of
    the strengths beta from the wins among those still in, P(i beats j) = 1 / (1 +
    exp(beta_j - beta_i)) and beta ~ Normal(0, sigma). A candidate is dropped when the
    probability that its strength is the largest of all m is below threshold / m: so the best
    one is dropped, by that posterior, with probability `threshold` at most. One that has the
    best mean rank, or ties for it, stays.

    Differences from `racer.stats.bradley_terry`, all for speed or for races: sigma is given, at
    the median of its prior there; a tie is half a win for either, not rounded up; and the
    meetings of a block count for less (see `independent`). The posterior is sampled anew at each
    test by importance around its mode, which Newton's method finds from the mode of the test
    before; the win table is all that it needs to know of a race.

    Parameters
    ----------
    threshold : float in (0, 1)
        Divided by the number of candidates still in; also the level of the gate. Per test: a
        race tests many times.
    sigma : float in (0, 1e6)
        Standard deviation of the prior of strengths; smaller draws the strengths closer together.
    independent : bool
        Let the m(m-1)/2 meetings of a block count as if they were independent, as Wainer does.
        They are made of m costs only, and the posterior is then far too sure of itself with many
        candidates. By default each counts 3 / (m + 1), which gives scores of equal candidates
        the variance they have (a composite likelihood).
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
    Wainer: A Bayesian Bradley-Terry model to compare multiple ML algorithms on multiple data
    sets (JMLR 2023), eq. 2; Varin, Reid, Firth: An overview of composite likelihood methods
    (Statistica Sinica 2011).

    Examples
    --------
    >>> import racer
    >>> race = racer.race([3, 0, 7], lambda x, i, s: abs(x - i % 2), range(60), budget=180,
    ...                   decider=racer.deciders.BradleyTerryRace(), seed=1)
    >>> race.best, race.ended.name
    (0, 'DECIDED')
    """

    tests = "growing"  # its error is spent at each test
    takes_capped = True

    threshold: float = 0.05
    sigma: float = 1.0
    independent: bool = False
    gate: Gate | bool = "sign-flip"
    draws: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.threshold, "threshold")
        check_fraction(self.sigma, "sigma", high=1e6)
        flag(self.independent, "independent")
        object.__setattr__(self, "gate", as_gate(self.gate, Gate))
        check_draws(self.draws)

    def start(self, setting: Setting) -> _State:
        seed = int(setting.rng.integers(2**63))
        m = setting.n_candidates
        gate = Omnibus(self.gate, self.threshold, seed, generalize=setting.generalize)
        return _State(RunningRanks(m), gate, np.zeros(m), seed)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        ranks = state.ranks
        kept = ranks.update(blocks)
        if kept is not None:
            state.mode = state.mode[kept]
        return state, gated(state.gate, ranks, ranks.means, partial(self._compare, state))

    def _compare(self, state: _State) -> tuple[tuple[Drop, ...], Evidence]:
        ranks, standing = state.ranks, state.ranks.means
        if not standing.any():  # all tie
            return (), {}
        m, order = len(standing), Order.sorted_from(ranks)
        places = order.places
        wins = ranks.wins[np.ix_(places, places)]
        spread = np.asarray(
            0.5 * (ranks.n + wins - wins.T), dtype=np.float64
        )  # half a tie to either
        np.fill_diagonal(spread, 0.0)
        if not self.independent:
            spread *= 3.0 / (m + 1.0)
        kind = EvenLikelihood if m >= _MANY else Likelihood
        model = GivenScale(kind(spread, np.zeros((m, m))), self.sigma, state.mode[places])
        with one_blas_thread():
            laplace = climb(model)
        state.mode[places] = laplace.mode
        found = chances(model, laplace, self.draws, state.seed)
        probability = order.averaged(found.best)
        dropped = _drop_unlikely(ranks.candidates, standing, probability, self.threshold)
        return dropped, {"effective_draws": found.effective_draws}


def chances(model: Model, laplace: Laplace, draws: int, seed: int) -> Chances:
    """Return how probably each of m has the largest strength."""
    m = len(laplace.mode)
    with one_blas_thread():
        points, weights = weigh(model, laplace, draws, rng_for(seed, "points", m))
    best = np.bincount(np.argmax(points, axis=1), weights, minlength=m)
    return Chances(best.astype(np.float64), float(1.0 / (weights**2).sum()))


def _drop_unlikely(
    candidates: NDArray[np.intp],
    standing: NDArray[np.float64],
    best: NDArray[np.float64],
    threshold: float,
) -> tuple[Drop, ...]:
    """Drop whose probability of being best is below threshold / m, but none that stands first."""
    eliminated = (best < threshold / len(best)) & (standing > standing.min())
    order = np.lexsort((-standing, best))
    order = order[eliminated[order]]
    leader = int(standing.argmin())
    return drops(candidates, order, "unlikely", leader, best[order], "posterior")
