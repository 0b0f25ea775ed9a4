"""Which columns of a table are labels, and which are scores."""

from __future__ import annotations

import re
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import is_one_of
from racer.errors import ScoresError, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

# names by which columns are known, in lower case without blanks, dashes and underscores
DATA_SET = ("dataset", "data", "instance", "problem", "task", "benchmark", "block", "db")
_ID = re.compile(r"(^|[ _.-])[iI][dD]$|[a-z]I[dD]$")
_INDEX = re.compile(r"(Unnamed: \d+|level_\d+|index|)$")  # as pandas calls an index made a column
ALGORITHM = ("algorithm", "classifier", "method", "model", "optimizer", "optimiser", "solver")
_FOLD = ("fold", "run", "repetition", "repeat", "replicate", "seed", "cvfold")


class Columns(NamedTuple):
    """The names of the columns with each role; None: not given, or not there."""

    data_set: str | None = None
    algorithm: str | None = None
    fold: str | None = None
    score: str | None = None


def recognised(
    frame: pd.DataFrame,
    given: Columns,
    *,
    counted: bool = False,
    paired: bool = True,
    levels: Sequence[str] = (),
) -> Columns:
    """Return which columns are labels; `counted`: a first column that counts rows is one too.

    A long table needs a column of data sets if its scores are `paired` by them. `levels` were
    levels of the index: they hold labels, never scores.
    """
    for role, name in given._asdict().items():
        if name is not None and not is_one_of(name, list(frame)):
            raise SettingError(
                f"{role}={name!r}: there is no such column, only {', '.join(frame.columns)}"
            )
    found = _by_usual_names(frame, given, levels)
    if found.algorithm is not None:
        return _long(frame, found, paired=paired, levels=levels)
    if found.score is not None:
        raise ScoresError(f"no column of algorithms beside score={found.score!r}: algorithm=..")
    first = str(frame.columns[0])
    if found.data_set is None and first != found.fold and _labels(frame, found, counted=counted):
        found = found._replace(data_set=first)
    spare = [level for level in levels if level not in found]
    if found.data_set is None and spare:
        rest = frame.drop(columns=spare)
        found = recognised(rest, found, counted=counted, paired=paired) if rest.size else found
        found = found if found.data_set is not None else _by_level(found, spare, paired=paired)
    return found


def _by_level(found: Columns, levels: Sequence[str], *, paired: bool) -> Columns:
    """Name the data sets of a wide table by the level of its index; ScoresError if it has several."""
    if len(levels) > 1:
        if not paired:
            return found
        raise ScoresError(
            f"the index has levels {', '.join(map(repr, levels))}: name those of data sets and of "
            f"folds, data_set={levels[0]!r}, fold={levels[1]!r}, or leave them out"
        )
    return found._replace(data_set=levels[0])


def numbered(frame: pd.DataFrame, given: Columns, *, counted: bool) -> str | None:
    """Return the column of numbers that names the data sets, if there is one and none is given.

    An index that became a column is none: `row_numbers` finds it.
    """
    if frame.empty or given.data_set is not None or row_numbers(frame, given) is not None:
        return None
    name = recognised(frame, given, counted=counted).data_set
    return name if name is not None and is_numeric(frame[name]) else None


def row_numbers(frame: pd.DataFrame, given: Columns, levels: Sequence[str] = ()) -> str | None:
    """Return the first column that is no level if it is an index of numbers made a column."""
    first = next((name for name in map(str, frame.columns) if name not in levels), None)
    named = [name for name in given if isinstance(name, str)]  # others are refused with the roles
    if first is None or first in named or _INDEX.match(first) is None:
        return None
    return first if frame.shape[1] > 1 and is_numeric(frame[first]) else None


def _by_usual_names(frame: pd.DataFrame, given: Columns, levels: Sequence[str]) -> Columns:
    """Add the columns with usual names to those given; scores have none."""
    found = given
    if found.algorithm is None:
        name = called(frame, ALGORITHM, found)
        # a column of numbers is an algorithm of that name, unless the table is known to be long
        is_long = found.score is not None or (name in levels and len(levels) > 1)
        if name is not None and (is_long or not is_numeric(frame[name])):
            found = found._replace(algorithm=name)
    if found.fold is None:
        found = found._replace(fold=called(frame, _FOLD, found))
    if found.data_set is None:
        found = found._replace(data_set=called(frame, DATA_SET, found))
    return found


def _labels(frame: pd.DataFrame, found: Columns, *, counted: bool) -> bool:
    """Return whether the first column of a wide table names its data sets."""
    column, *others = (frame[name] for name in map(str, frame) if name != found.fold)
    if not is_numeric(column):
        return _names(column)
    if _ID.search(str(column.name)) is not None:
        return True
    counts = counted and len(others) > 1 and _counts(column)
    return counts and not all(map(_counts, others))


def _long(frame: pd.DataFrame, found: Columns, *, paired: bool, levels: Sequence[str]) -> Columns:
    """Return the columns of a long table, which must be all there."""
    if found.data_set is None and paired:
        texts = [n for n in map(str, frame) if n not in found and not is_numeric(frame[n])]
        # an index that is different in each row numbers them
        again = [n for n in levels if n not in found and frame[n].duplicated().any()]
        known = texts or again
        found = found._replace(data_set=known[0] if len(known) == 1 else None)
    if found.score is None:
        rest = [str(name) for name in frame if name not in found and name not in levels]
        if len(rest) != 1:
            raise ScoresError(
                f"the table is long (column {found.algorithm!r}), with {rest or 'nothing'} beside "
                "the labels: name the column of scores, score=.., or remove others; if its columns "
                "are data sets, transpose it"
            )
        found = found._replace(score=rest[0])
    if found.data_set is None and paired:
        raise ScoresError(
            f"no column of data sets among {', '.join(frame.columns)}: name it, data_set=.., or "
            "compare independent samples, design='unpaired'"
        )
    chosen = [name for name in found if name is not None]
    if len(set(chosen)) < len(chosen):
        raise SettingError(f"data_set, algorithm, fold, score name a column twice: {chosen}")
    return found


def called(
    frame: pd.DataFrame, known: Sequence[str], taken: Sequence[str | None] = ()
) -> str | None:
    """Return the first column with one of the known names, except those taken."""
    for name in map(str, frame.columns):
        short = "".join(c for c in name.lower() if c not in " -_.")
        if short in known and name not in taken:
            return name
    return None


def is_numeric(column: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers, such as Fractions or a database's Decimals, not text."""
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_numeric_dtype(column):
        return True
    kind = pd.api.types.infer_dtype(column, skipna=True)
    is_mixed = kind == "mixed"  # of types that pandas does not know
    return kind == "decimal" or (is_mixed and all(isinstance(v, Number) for v in column.dropna()))


def _names(column: pd.Series[Any]) -> bool:
    """Return whether a column holds names: text, dates or other scalars, but no number.

    One of text with numbers in it, or of lists, holds scores gone wrong.
    """
    import pandas as pd  # noqa: PLC0415

    if is_numeric(column) or any(
        isinstance(value, Number) or pd.api.types.is_list_like(value) for value in column.dropna()
    ):
        return False
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # an int that no float holds
        return False
    return bool(column.notna().any() and numbers.isna().all())


def _counts(column: pd.Series[Any]) -> bool:
    """Return whether a column holds whole numbers >= 0, more than one and all different."""
    if not is_numeric(column) or len(column) < 2:
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
    return bool(whole.all()) and column.is_unique
