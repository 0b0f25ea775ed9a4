"""The Friedman test with its post-hoc tests, as a method of `racer.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.comparison.data import OmnibusTest
from racer.comparison.methods.base import (
    Analysis,
    Settings,
    behind,
    compared,
    complete_costs,
    encounters,
    left_out,
    places,
    rank_frame,
    refuse,
)
from racer.errors import ScoresError, SettingError
from racer.stats import conover_posthoc, friedman_test
from racer.stats.friedman import iman_davenport_df, rank_sums
from racer.stats.multiplicity import adjust
from racer.stats.pairs import pair_ranks
from racer.stats.posthoc import mean_rank_scale, range_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.comparison.data import Posthoc
    from racer.comparison.scores import Scores
    from racer.stats.multiplicity import Correction
    from racer.stats.pairs import PairRanks


class PairTest(NamedTuple):
    """A test of pairs: in words, its correction, and its sources."""

    title: str
    correction: Correction | None
    references: tuple[str, ...]


POSTHOCS: dict[Posthoc, PairTest] = {
    "wilcoxon-holm": PairTest(
        "Wilcoxon's signed-rank test, Holm's correction", "holm", ("wilcoxon1945", "holm1979")
    ),
    "wilcoxon-hochberg": PairTest(
        "Wilcoxon's signed-rank test, Hochberg's correction",
        "hochberg",
        ("wilcoxon1945", "hochberg1988"),
    ),
    "wilcoxon-shaffer": PairTest(
        "Wilcoxon's signed-rank test, Shaffer's correction",
        "shaffer",
        ("wilcoxon1945", "shaffer1986"),
    ),
    "nemenyi": PairTest("Nemenyi's test", None, ("nemenyi1963",)),
    "conover": PairTest("Conover's test, Holm's correction", "holm", ("conover1999", "holm1979")),
}
_BY_RANKS = ("nemenyi", "conover")  # of the Friedman test, on complete data sets


def friedman(scores: Scores, settings: Settings) -> Analysis:
    """Test whether all are alike by Iman and Davenport's F, then compare pairs."""
    refuse(settings, "friedman", "rope", "local_rope")
    name = _checked(settings)
    posthoc, names = POSTHOCS[name], scores.algorithms
    costs = complete_costs(scores, "the Friedman test")
    test = friedman_test(costs)
    used = costs if name in _BY_RANKS else scores.costs
    i, j = places(compared(len(names), settings.control))
    ranks = pair_ranks(used, i, j, test=name not in _BY_RANKS)
    p_values = adjust(
        _p_values(name, used, i, j, ranks), posthoc.correction, n_candidates=len(names)
    )
    rejected = test.f_p_value <= settings.alpha
    open_gate = rejected or len(names) == 2  # the only pair's test needs no other before it
    gap = 0.0 if name in _BY_RANKS else ranks.better - ranks.worse
    leads = (gap > 0) | ((gap == 0) & (test.mean_ranks[i] <= test.mean_ranks[j]))
    first, second = np.where(leads, (i, j), (j, i))
    frame = encounters(names, used, first, second, ranks.turned(~leads))
    frame["rank_difference"] = test.mean_ranks[second] - test.mean_ranks[first]
    frame["p_value"] = p_values
    frame["decision"] = np.where(p_values <= settings.alpha, "better", "undecided").tolist()
    notes = left_out(scores)
    if name not in _BY_RANKS and not scores.complete.all():
        notes.append("Wilcoxon's tests use all data sets on which both of a pair have a score.")
    found = Analysis(
        title=f"Friedman test (Iman-Davenport F), then {posthoc.title}",
        ranking=rank_frame(names, mean_rank=test.mean_ranks),
        order="mean rank",
        pairs=frame.sort_values("p_value", kind="stable", ignore_index=True),
        meaning=f"an adjusted p-value of at most {settings.alpha:g}",
        references=("demsar2006", "friedman1937", "iman1980", *posthoc.references),
        notes=notes,
        omnibus=OmnibusTest(
            "Iman-Davenport F",
            test.f_statistic,
            test.f_p_value,
            rejected,
            iman_davenport_df(*costs.shape),
        ),
        details=test,
    )
    return behind(found, settings.alpha, is_open=open_gate)


def _checked(settings: Settings) -> Posthoc:
    """Return the post-hoc test asked for."""
    name = settings.posthoc or "wilcoxon-holm"
    if name not in POSTHOCS:
        raise SettingError(f"posthoc={name!r}: choose from {', '.join(POSTHOCS)}")
    if settings.control is not None and name in ("nemenyi", "wilcoxon-shaffer"):
        raise SettingError(
            f"posthoc={name!r} is for all pairs: with a control choose 'wilcoxon-holm', "
            "'wilcoxon-hochberg' or 'conover'"
        )
    return name


def _p_values(
    name: Posthoc,
    costs: NDArray[np.float64],
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    ranks: PairRanks,
) -> NDArray[np.float64]:
    """Return the p-value of each pair, before any correction."""
    if name == "nemenyi":
        return _nemenyi(costs, i, j)
    if name == "conover":
        if len(costs) < 2:
            raise ScoresError(
                "posthoc='conover' needs two data sets with scores of all algorithms, there is one"
            )
        return np.asarray(conover_posthoc(costs).p_values[i, j])
    return ranks.p_values


def _nemenyi(
    costs: NDArray[np.float64], i: NDArray[np.intp], j: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return p-values by the law of the studentised range (Demsar 2006, section 3.2.2)."""
    sums, _ = rank_sums(costs, maximize=False, min_blocks=1)
    gap = np.abs(sums.deviation[i] - sums.deviation[j]) / sums.n
    return range_tail(np.sqrt(2.0) * gap / mean_rank_scale(sums.n, sums.m), sums.m)
