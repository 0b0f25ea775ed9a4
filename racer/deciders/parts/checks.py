"""Checks of verdicts, where they are received from a decider."""

from __future__ import annotations

import math
import reprlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import is_real, is_whole
from racer._numerics import with_ties
from racer.deciders.decider import Blocks, Decider, Drop, Judge, Verdict
from racer.errors import SettingError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def checked_verdict(
    decider: Decider, state: Any, blocks: Blocks, n_candidates: int
) -> tuple[Any, Verdict]:
    """Return a decider's next state and its verdict on new blocks; SettingError if unusable.

    Costs that differ only by rounding are shown to it as equal.
    """
    answer: Any = decider.decide(state, _with_ties(blocks))
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise _refused(decider, f"decide() returned {reprlib.repr(answer)}")
    state, verdict = answer
    return state, _checked(decider, verdict, blocks.candidates, n_candidates)


def _with_ties(blocks: Blocks) -> Blocks:
    """Return blocks in which costs, and metrics, that differ only by rounding are equal."""
    if blocks.metrics is None:
        return replace(blocks, costs=with_ties(blocks.costs))
    by_metric = [with_ties(blocks.metrics[:, :, d]) for d in range(blocks.metrics.shape[2])]
    return replace(blocks, costs=by_metric[0], metrics=np.stack(by_metric, axis=2))


def checked_drop(
    decider: Decider, judge: Judge, own: NDArray[np.float64], others: NDArray[np.float64]
) -> Drop | None:
    """Return the answer of `decider.judge` to costs (n,) and (n, k); SettingError if unusable."""
    drop = judge(own, others)
    if drop is None:
        return None
    k = others.shape[1]
    return _checked_drop(decider, drop, {k}, k)


def _refused(decider: object, problem: str) -> SettingError:
    return SettingError(
        f"the decider {type(decider).__name__} gave a verdict that cannot be used: {problem}. "
        "decide() must return (state, Verdict(dropped, best, standing, evidence)); `dropped` "
        "holds Drops of candidates in `blocks.candidates`, each once and never all of them, "
        "`best` is one of `blocks.candidates` or None, and `standing` has one number for each "
        "of them, without NaN"
    )


def _checked(
    decider: object, verdict: Any, candidates: NDArray[np.intp], n_candidates: int
) -> Verdict:
    """Return a verdict if it can be used, numbers as plain numbers; this runs at every test."""
    if not isinstance(verdict, Verdict):
        raise _refused(decider, f"{reprlib.repr(verdict)} is not a Verdict")
    given: Any = verdict  # whatever an outsider filled it with
    best, ends = given.best, (given.undecided, given.settled)
    if best is not None and (
        (type(best) is not int and not is_whole(best)) or best not in candidates.tolist()
    ):
        raise _refused(decider, f"best={reprlib.repr(best)} is not among the candidates")
    for name, flag in zip(("undecided", "settled"), ends, strict=True):
        if not isinstance(flag, bool | np.bool_):
            raise _refused(decider, f"{name}={reprlib.repr(flag)} is not True or False")
    array = _checked_standing(decider, given.standing, len(candidates))
    if given.dropped == () and array is given.standing and (best is None or type(best) is int):
        return verdict
    drops = _checked_drops(decider, given.dropped, candidates.tolist(), n_candidates)
    best = None if best is None else int(best)
    undecided, settled = map(bool, ends)
    return replace(
        verdict, dropped=drops, best=best, standing=array, undecided=undecided, settled=settled
    )


def _checked_standing(decider: object, standing: Any, m: int) -> NDArray[np.float64]:
    try:
        array = np.asarray(standing, dtype=np.float64)
    except (TypeError, ValueError):
        raise _refused(decider, f"standing={reprlib.repr(standing)} is not numbers") from None
    if array.shape != (m,):
        raise _refused(decider, f"`standing` has shape {array.shape} for {m} candidates")
    if math.isnan(np.minimum.reduce(array)):
        raise _refused(decider, "`standing` has a NaN")
    return array


def _checked_drops(
    decider: object, dropped: Any, alive: list[int], n_candidates: int
) -> tuple[Drop, ...]:
    if not isinstance(dropped, tuple | list):
        raise _refused(decider, f"dropped={reprlib.repr(dropped)} is not a tuple of Drops")
    if not dropped:
        return ()
    among = set(alive)
    drops = tuple(_checked_drop(decider, drop, among, n_candidates) for drop in dropped)
    eliminated = {drop.candidate for drop in drops}
    if len(eliminated) < len(drops):
        raise _refused(decider, "it eliminates a candidate twice")
    if len(eliminated) == len(alive):
        raise _refused(decider, f"it eliminates all {len(alive)} candidates")
    return drops


def _checked_drop(decider: object, drop: Any, alive: set[int], n_candidates: int) -> Drop:
    """Return a Drop of one of `alive` if it can be used, numbers as plain numbers."""
    if not isinstance(drop, Drop):
        raise _refused(decider, f"{reprlib.repr(drop)} is not a Drop")
    given: Any = drop
    candidate, against, probability = given.candidate, given.against, given.probability
    if not is_whole(candidate) or candidate not in alive:
        what = "eliminated already, or never was" if is_whole(candidate) else "not a number"
        raise _refused(
            decider, f"it eliminates candidate {reprlib.repr(candidate)}, which is {what}"
        )
    if not is_whole(against) or not 0 <= against < n_candidates or against == candidate:
        raise _refused(
            decider,
            f"it eliminates candidate {candidate} against {reprlib.repr(against)}, which is not "
            "another candidate of the race",
        )
    for name, text in (("reason", given.reason), ("measure", given.measure)):
        if not isinstance(text, str) or not text:
            raise _refused(decider, f"the {name} {reprlib.repr(text)} is not text")
    if not is_real(probability) or not math.isfinite(probability):
        raise _refused(decider, f"probability={reprlib.repr(probability)} is not a finite number")
    return Drop(
        candidate=int(candidate),
        reason=str(drop.reason),
        against=int(against),
        probability=float(probability),
        measure=str(drop.measure),
    )
