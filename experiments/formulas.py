"""Random formulas for solvers of satisfiability."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["formula"]


def formula(rng: np.random.Generator, variables: int, clauses: int) -> str:
    """Return a random formula with three literals in each clause, in DIMACS format."""
    lines = [f"p cnf {variables} {clauses}"]
    for _ in range(clauses):
        names = rng.choice(variables, size=3, replace=False) + 1
        signs = rng.choice((-1, 1), size=3)
        lines.append(" ".join(map(str, (names * signs).tolist())) + " 0")
    return "\n".join(lines) + "\n"
