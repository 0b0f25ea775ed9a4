"""Section 4: which of two classifiers is better, decided from 30 accuracies by three tests.

X ~ N(0, 0.12^2) and Y ~ N(Delta, 0.12^2) independent, Delta from -0.07 to 0.07. H1 is that Y is
better, Delta > 0; to prefer Y although it is not costs l1, to prefer X although Y is better l0 = 1.
The figures are areas under the curves of the mean loss over Delta, which is what the printed ones
are: an average would be 7 times as large. At Delta = 0 the curves jump, and each half ends there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import joblib
import numpy as np
from scipy.integrate import trapezoid

from racer.seeding import rng_for
from racer.stats import bayesian_signed_rank_test, signed_rank_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["L1", "Curve", "area", "deltas", "figure_2", "percentages", "play", "play_one", "tables"]

L1 = (1, 2, 4, 9, 19)
N, SIGMA, ALPHA = 30, 0.12, 0.05
Figures = dict[str, dict[int, float]]


class Curve(NamedTuple):
    """What the tests said at one Delta, in each repetition."""

    delta: float
    probability: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    p_value: NDArray[np.float64]

    def y_preferred(self, test: str, l1: int) -> NDArray[np.bool_]:
        """Return in which repetitions a test prefers Y."""
        if test == "wilcoxon":
            return np.asarray(self.p_value < ALPHA)
        return np.asarray(self.probability > l1 / (1 + l1))

    def determinate(self, l1: int) -> NDArray[np.bool_]:
        """Return in which repetitions the IDP test decides (eq. 9 for all priors)."""
        threshold = l1 / (1 + l1)
        return np.asarray((self.lower > threshold) | (self.upper < threshold))


def deltas(steps: int) -> NDArray[np.float64]:
    """Return -0.07 to 0.07 in so many steps each side of 0; 0 stands there twice."""
    half = np.linspace(0.0, 0.07, steps + 1)
    return np.concatenate([-half[::-1], half])


def play_one(
    delta: float, repetitions: int = 300, draws: int = 1000, seed: int = 1, rho: float = 0.0
) -> Curve:
    """Return the answers at one Delta."""
    answers = np.empty((4, repetitions))
    for repetition in range(repetitions):
        rng = rng_for(seed, "scores", f"{delta:.6f}", repetition)
        x, y = rng.normal(0.0, SIGMA, N), rng.normal(delta, SIGMA, N)
        if rho:
            y = delta + rho * x + np.sqrt(1.0 - rho**2) * (y - delta)
        bayes = bayesian_signed_rank_test(y, x, draws=draws, seed=repetition, maximize=True)
        wilcoxon = signed_rank_test(y, x, alternative="better", maximize=True)
        answers[:, repetition] = bayes.probability, bayes.lower, bayes.upper, wilcoxon.p_value
    return Curve(delta, *answers)


def play(
    steps: int, repetitions: int, draws: int, seed: int, jobs: int, rho: float = 0.0
) -> list[Curve]:
    """Return the answers at each Delta of `deltas`; X and Y are correlated by rho."""
    one = joblib.delayed(play_one)
    return list(
        joblib.Parallel(n_jobs=jobs)(
            one(float(delta), repetitions, draws, seed, rho) for delta in deltas(steps)
        )
    )


def area(curves: list[Curve], of: Callable[[Curve, bool], float]) -> float:
    """Return the area under a curve; `of` gets the answers and whether Y is better."""
    half = len(curves) // 2
    return sum(
        float(trapezoid([of(curve, truth) for curve in part], [curve.delta for curve in part]))
        for truth, part in ((False, curves[:half]), (True, curves[half:]))
    )


def loss(curves: list[Curve], test: str, l1: int, *, determinate: bool) -> float:
    """Return the loss of a test, where asked for in the cases that the IDP test decides."""

    def mean(curve: Curve, truth: bool) -> float:
        prefers = curve.y_preferred(test, l1)
        if determinate:
            prefers = prefers[curve.determinate(l1)]
        wrong = float(np.mean(prefers != truth))
        return wrong if truth else l1 * wrong

    return area(curves, mean)


def figure_2(curves: list[Curve], l1: int) -> list[dict[str, float]]:
    """Return the curves of Figure 2: at each Delta the losses, and how often IDP does not decide."""
    rows = []
    for place, curve in enumerate(curves):
        truth, decided = place >= len(curves) // 2, curve.determinate(l1)
        cost = 1.0 if truth else float(l1)
        wrong = {test: curve.y_preferred(test, l1) != truth for test in ("dp_s0", "wilcoxon")}
        losses = {test: cost * float(each.mean()) for test, each in wrong.items()}
        idp = cost * float(wrong["dp_s0"][decided].mean()) if decided.any() else np.nan
        rows.append({"delta": curve.delta, **losses, "idp": idp, "open": 1.0 - decided.mean()})
    return rows


def percentages(curves: list[Curve], test: str, l1: int) -> tuple[float, float]:
    """Return the percentages of decisions for X (H0) and for Y (H1) where IDP does not decide.

    As the caption of Table 3 has it, averaged over Delta; values without such a case are left out.
    """
    said = [c.y_preferred(test, l1)[~c.determinate(l1)] for c in curves]
    for_y = 100.0 * float(np.mean([part.mean() for part in said if len(part)] or [np.nan]))
    return 100.0 - for_y, for_y


def tables(curves: list[Curve]) -> dict[int, Figures]:
    """Return Tables 1 to 3, with lines named as in the published files."""
    tests = ("dp_s0", "wilcoxon")
    first = {t: {l1: loss(curves, t, l1, determinate=False) for l1 in L1} for t in tests}
    second = {t: {l1: loss(curves, t, l1, determinate=True) for l1 in L1} for t in tests}
    third: Figures = {}
    for test in tests:
        pairs = {l1: percentages(curves, test, l1) for l1 in L1}
        third[f"{test}_H0_percent"] = {l1: pair[0] for l1, pair in pairs.items()}
        third[f"{test}_H1_percent"] = {l1: pair[1] for l1, pair in pairs.items()}
    return {1: first, 2: {"idp": second["dp_s0"], **second}, 3: third}
