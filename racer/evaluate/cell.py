"""A cell (one candidate on one block) and its outcome."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

__all__ = ["Cell", "Outcome", "Status"]

Status = Literal["ok", "failed", "invalid", "killed"]


class Cell(NamedTuple):
    """One evaluation to be made: all that `evaluate` needs to know."""

    block: int
    candidate: int
    config: Any
    instance: Any
    seed: int


class Outcome(NamedTuple):
    """What came of one evaluation.

    Attributes
    ----------
    status : {"ok", "failed", "invalid", "killed"}
        "failed": `evaluate` raised. "invalid": it returned something that is not a finite
        number. "killed": its process died.
    value : float or None
        What `evaluate` returned, in the user's direction; None unless the status is "ok".
    seconds : float
        Wall time of the evaluation, retries included.
    message : str
        Why, unless the status is "ok".
    """

    status: Status
    value: float | None
    seconds: float = 0.0
    message: str = ""
