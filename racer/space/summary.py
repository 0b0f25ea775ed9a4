"""A space as text and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer._checks import counted
from racer.render.sections import Grid
from racer.space.numeric import Bounded
from racer.space.parameters import Categorical, Ordinal

if TYPE_CHECKING:
    from racer.render.sections import Piece
    from racer.space.parameters import Parameter
    from racer.space.structure import Structure


def summary_of(space: Structure, *, is_repaired: bool) -> list[Piece]:
    """Return the parameters of a space in a table, and the forbidden clauses."""
    n, free = len(space.parameters), len(space.free)
    fixed = f", {n - free} of them fixed" if n > free else ""
    columns = 4 if space.conditions else 3
    head = ("parameter", "type", "values", "exists when")[:columns]
    rows = [
        (name, type(p).__name__, _described(p), str(space.conditions.get(name, "")))[:columns]
        for name, p in space.parameters.items()
    ]
    pieces: list[Piece] = [
        f"Space of {counted(n, 'parameter')}{fixed}",
        Grid.of(head, rows, left=head),
    ]
    if space.forbidden:
        clauses = [(str(clause),) for clause in space.forbidden]
        pieces.append(Grid.of(("forbidden",), clauses, left=["forbidden"]))
    if is_repaired:
        pieces.append("Samples are repaired by a function.")
    return pieces


def _described(parameter: Parameter) -> str:
    """Return a parameter's values, in words."""
    if isinstance(parameter, Categorical | Ordinal):
        between = " < " if isinstance(parameter, Ordinal) else ", "
        return between.join(map(str, parameter.domain({}).among))
    if not isinstance(parameter, Bounded):
        return ", ".join(f"{name}={value!r}" for name, value in parameter.to_json().items())
    ends = (parameter.low, parameter.high)
    low, high = (f"{end:.15g}" if isinstance(end, float) else str(end) for end in ends)
    more = [
        name if value is True else f"{name} {value}"
        for name, value in vars(parameter).items()
        if name not in {"low", "high"} and value and (name, value) != ("step", 1)
    ]
    return ", ".join([f"{low} to {high}", *more])
