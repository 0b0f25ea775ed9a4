"""The omnibus test that is asked before anyone is dropped on ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.stats.friedman import friedman

if TYPE_CHECKING:
    from racer.deciders.ranking import RunningRanks

__all__ = ["friedman_gate", "two_sided_sign"]


def friedman_gate(
    ranks: RunningRanks, alpha: float, *, ask: bool
) -> tuple[bool, dict[str, float | str]]:
    """Say whether the Friedman test rejects "all equal", and what it said, for the record.

    The tie-corrected chi-square; with two candidates the two-sided sign test. Where it is not
    to be asked, the gate is open.
    """
    if not ask:
        return True, {"gate": "none"}
    if len(ranks.candidates) == 2:
        p_value = two_sided_sign(ranks)
        return p_value < alpha, {"gate": "sign", "p_value": p_value}
    statistic, p_value = friedman(ranks.sums)
    return p_value < alpha, {"gate": "friedman", "statistic": statistic, "p_value": p_value}


def two_sided_sign(ranks: RunningRanks) -> float:
    """Return the p-value of the two-sided sign test of two candidates."""
    from scipy.special import bdtrc  # noqa: PLC0415

    won, lost = int(ranks.wins[0, 1]), int(ranks.wins[1, 0])
    more = max(won, lost)
    return min(1.0, 2.0 * float(bdtrc(more - 1, won + lost, 0.5))) if more else 1.0
