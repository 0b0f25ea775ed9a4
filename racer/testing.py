"""A helper for tests: a check of deciders."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

import cloudpickle
import numpy as np

from racer.deciders.decider import Blocks, Decider, Setting, Verdict
from racer.deciders.named import as_decider
from racer.deciders.parts.checks import checked_verdict
from racer.errors import SettingError
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["check_decider"]

_FIRST_TEST = 5  # blocks; later tests have one block each


@dataclass(frozen=True, eq=False)
class _Table:
    """A race on paper: costs, shape (n, m), and which candidates are in at the next test.

    "eliminated": without dropped candidates; "kept": all; "leaving", "leaving first": without the
    last one, or the first, too.
    """

    name: str
    costs: NDArray[np.float64]
    out: Literal["eliminated", "kept", "leaving", "leaving first"] = "eliminated"

    def __str__(self) -> str:
        n, m = self.costs.shape
        return f"the table {self.name!r} ({n} blocks x {m} candidates)"

    def after(self, verdict: Verdict, alive: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the candidates that are in at the next test."""
        if self.out == "kept":
            return alive
        left = alive[~np.isin(alive, [drop.candidate for drop in verdict.dropped])]
        if len(left) < 3 or self.out == "eliminated":
            return left
        return left[1:] if self.out == "leaving first" else left[:-1]


def _tables() -> list[_Table]:
    rng = rng_for(0, "check_decider")

    def noisy(n: int, m: int, effect: float = 0.5) -> NDArray[np.float64]:
        return np.asarray(effect * np.arange(m) + rng.normal(size=(n, m)))

    failing, broken = noisy(20, 5), noisy(20, 4)
    failing[:, 1:][rng.random((20, 4)) < 0.2] = np.inf
    broken[:, 2] = np.inf
    return [
        _Table("a clear winner", noisy(20, 4, effect=9.0)),
        _Table("all tied", np.ones((12, 4))),
        _Table("many ties", np.round(noisy(20, 4))),
        _Table("failed cells (+inf)", failing),
        _Table("a candidate that always fails (+inf)", broken),
        _Table("two candidates", noisy(30, 2)),
        _Table("one block", noisy(1, 3)),
        _Table("many candidates", noisy(8, 40)),
        _Table("blocks of unequal scale", 10.0 ** rng.integers(-6, 7, (20, 1)) * noisy(20, 4)),
        _Table("candidates that stay although eliminated", noisy(12, 5, effect=9.0), "kept"),
        _Table("candidates that leave although not eliminated", noisy(12, 8), "leaving"),
        # numbers are no longer places
        _Table("the first leave, the last is best", noisy(12, 8, effect=-0.2), "leaving first"),
    ]


def check_decider(decider: str | Decider) -> None:
    """Play a decider on a handful of small tables, and check the contract of all deciders.

    It is for the tests of your own decider, and no measure of how well the decider
    decides. Checked are, on tables with ties, failures, few blocks, many candidates and candidates
    that leave:

    - each verdict can be used by a race: see `Verdict` and `Drop`;
    - where all costs are equal, `best` is None, so that no race calls one of equals the best;
    - the same seed gives the same verdicts, also while another race is under way, and from a
      copy of the decider: all knowledge of a race is in the state that `start` and `decide`
      return, and random numbers come from the generator that `start` is given;
    - the decider's own attributes do not change, and it can be copied and pickled;
    - the arrays in `Blocks` are not written to (here they are read-only);
    - nothing is raised, and no warning is given.

    Parameters
    ----------
    decider : str or Decider
        Its `Setting` has the cells of the table as the budget, and its blocks as the instances.

    Raises
    ------
    AssertionError
        A check failed; the message names the table and the fault.

    Examples
    --------
    >>> from racer.deciders import FRace
    >>> check_decider(FRace(alpha=0.01))
    """
    try:
        checked = as_decider(decider)
    except SettingError as error:
        raise AssertionError(str(error)) from None
    name = type(checked).__name__
    try:
        cloudpickle.dumps(checked)
        settings = copy.deepcopy(checked)
    except Exception as error:
        raise AssertionError(
            f"{name} cannot be copied and pickled ({error!r}): keep files, locks and the like "
            "out of its attributes"
        ) from error
    tables = _tables()
    for table, other in zip(tables, [*tables[1:], tables[0]], strict=True):
        _check_table(checked, table, other)
        if not _equal(checked, settings):
            raise AssertionError(
                f"{name} on {table}: its attributes are others afterwards: its knowledge of a "
                "race belongs into the state that start() and decide() return"
            )


def _check_table(decider: Decider, table: _Table, other: _Table) -> None:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        alone = list(_verdicts(decider, table))
        again = list(_verdicts(decider, table))
        both = zip_longest(_verdicts(decider, table), _verdicts(decider, other))
        beside = [verdict for verdict, _ in both if verdict is not None]
        copied = list(_verdicts(copy.deepcopy(decider), table))
    where = f"{type(decider).__name__} on {table}"
    named = [verdict.best for verdict in alone if len(verdict.standing) > 1]
    if (table.costs == table.costs[:, :1]).all() and named != [None] * len(named):
        raise AssertionError(
            f"{where}: all candidates tie, but best={next(b for b in named if b is not None)}: it is "
            "None then, so that no race calls one of equals the best"
        )
    if given:
        at = f"{given[0].filename}, line {given[0].lineno}"
        raise AssertionError(f"{where}: it gives a warning: {given[0].message!r} ({at})")
    for verdicts, how in (
        (again, "a second time"),
        (beside, "while another race is under way"),
        (copied, "from a copy of the decider"),
    ):
        if not _equal(alone, verdicts):
            raise AssertionError(
                f"{where}: the same seed gives other verdicts {how}: draw from the generator "
                "that start() is given, and keep all knowledge of a race in the state"
            )


def _verdicts(decider: Decider, table: _Table) -> Iterator[Verdict]:
    """Yield the verdict of each test on a table, until one candidate is left."""
    where = f"{type(decider).__name__} on {table}"
    n, m = table.costs.shape
    alive, seen, used, test = np.arange(m), 0, 0, 0
    try:
        rng = rng_for(0, "decider")
        state = decider.start(Setting(m, rng, budget=n * m, n_blocks=n, n_instances=n))
        while seen < n and len(alive) > 1:
            test, start = test + 1, seen
            seen = start + (min(_FIRST_TEST, n) if not start else 1)
            costs = table.costs[start:seen, alive]
            used += costs.size
            shown = alive.copy()
            shown.flags.writeable = costs.flags.writeable = False
            state, verdict = checked_verdict(decider, state, Blocks(shown, costs, used=used), m)
            yield verdict
            alive = table.after(verdict, alive)
    except SettingError as error:
        raise AssertionError(f"{where}, test {test}: {error}") from error
    except Exception as error:
        raise AssertionError(f"{where}, test {test}: it raises {error!r}") from error


def _equal(one: Any, other: Any) -> bool:
    """Return whether two verdicts, or the attributes of two deciders, are equal all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if hasattr(one, "__dict__") and not callable(one):
        return _equal(vars(one), vars(other))
    return one is other or bool(cloudpickle.dumps(one) == cloudpickle.dumps(other))
