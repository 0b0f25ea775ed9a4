"""Which columns of a table are labels, and which are scores."""

from __future__ import annotations

import math
import re
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import is_one_of
from racer.errors import ScoresError, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence


# names by which columns are known, in lower case without blanks, dashes and underscores
DATA_SET = (
    *("dataset", "instance", "problem", "item", "question", "task", "example", "benchmark"),
    *("environment", "env", "data", "ds", "db", "block", "function", "func", "userinput"),
)
_ID = re.compile(r"(^|[ _.-])[iI][dD]$|[a-z]I[dD]$")
_INDEX = re.compile(r"(Unnamed: \d+|level_\d+|index|)$")  # as pandas calls an index made a column
ALGORITHM = (
    *("algorithm", "classifier", "method", "model", "optimizer", "optimiser", "solver"),
    *("estimator", "regressor", "learner", "agent", "llm", "policy", "framework", "approach"),
    *("algo", "alg", "clf", "prompt", "provider", "system", "flow"),
)
FOLD = (
    *("fold", "cvfold", "split", "run", "repetition", "repeat", "replicate", "replication", "rep"),
    *("seed", "randomseed", "randomstate", "trial"),
)
METRICS = ("metric", "measure", "evaluationmeasure", "scorer", "function")
STATUS = ("status", "runstatus", "solverstatus", "outcome", "exitstatus")
_AFTER = re.compile(r"(name|id|label|no|nr|number|index)$")  # a name's last word that adds nothing
_LONGEST = 100  # letters of a number
# texts that say that there is no score
_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "?"})


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
    levels: Sequence[str] = (),
) -> Columns:
    """Return which columns are labels; `counted`: a first column that counts rows is one too.

    A long table needs a column of data sets. `levels` were levels of the index: they hold labels,
    never scores.
    """
    for role, name in given._asdict().items():
        if name is not None and not is_one_of(name, list(frame)):
            raise SettingError(
                f"{role}={name!r}: there is no such column, only {', '.join(frame.columns)}"
            )
    found = _by_usual_names(frame, given, levels)
    if found.algorithm is not None:
        return _long(frame, found, given, levels=levels)
    if found.score is not None:
        raise ScoresError(f"no column of algorithms beside score={found.score!r}: algorithm=..")
    first = str(frame.columns[0])
    if found.data_set is None and first != found.fold and _labels(frame, found, counted=counted):
        found = found._replace(data_set=first)
    spare = [level for level in levels if level not in found]
    if found.data_set is None and spare:
        rest = frame.drop(columns=spare)
        found = recognised(rest, found, counted=counted) if rest.size else found
        found = found if found.data_set is not None else _by_level(found, spare)
    return found


def _by_level(found: Columns, levels: Sequence[str]) -> Columns:
    """Name the data sets of a wide table by the level of its index; ScoresError if it has several."""
    if len(levels) > 1:
        raise ScoresError(
            f"the index has levels {', '.join(map(repr, levels))}: name those of data sets and of "
            f"folds, data_set={levels[0]!r}, fold={levels[1]!r}, or leave them out"
        )
    return found._replace(data_set=levels[0])


def numbered(frame: pd.DataFrame, given: Columns, *, counted: bool) -> str | None:
    """Return the column of numbers that names the data sets, if there is one and none is given.

    An index that became a column does not count: `row_numbers` finds it.
    """
    if frame.empty or given.data_set is not None or row_numbers(frame, given) is not None:
        return None
    name = recognised(frame, given, counted=counted).data_set
    return name if name is not None and is_numeric(frame[name]) else None


def column_notes(
    frame: pd.DataFrame, given: Columns, found: Columns, levels: Sequence[str] = ()
) -> list[str]:
    """Return notes on columns of numbers in a wide table that are taken for labels."""
    if found.algorithm is not None:
        return []
    notes, data_set, fold = [], found.data_set, found.fold
    meant = {None, given.data_set, given.fold, row_numbers(frame, given), *levels}
    if data_set not in meant and is_numeric(frame[data_set]) and not _ID.search(str(data_set)):
        is_called = bool(called(frame[[data_set]], DATA_SET))
        remedy = "rename it" if is_called else "put a column of names before it"
        if not is_called or data_set != frame.columns[0]:
            notes.append(
                f"Column {data_set!r}, of numbers, names the data sets and is not an algorithm; were "
                f"it one, {remedy}."
            )
    if fold not in meant and not repeats(frame, [str(data_set or fold)]):
        notes.append(
            f"Column {fold!r} numbers folds or runs and is not an algorithm; were it one, rename it."
        )
    return notes


def row_numbers(frame: pd.DataFrame, given: Columns, levels: Sequence[str] = ()) -> str | None:
    """Return the first column, levels aside, if it is an index of numbers made a column."""
    first = next((name for name in map(str, frame.columns) if name not in levels), None)
    named = [name for name in given if isinstance(name, str)]  # others are refused with the roles
    if first is None or first in named or _INDEX.match(first) is None:
        return None
    return first if frame.shape[1] > 1 and is_numeric(frame[first]) else None


def _by_usual_names(frame: pd.DataFrame, given: Columns, levels: Sequence[str]) -> Columns:
    """Fill the roles not given by columns with usual names, if their values may be labels."""
    found = given
    if found.algorithm is None:
        # a column of numbers is an algorithm of that name, unless the table is known to be long
        is_long = found.score is not None
        names = called(frame, ALGORITHM, found)
        for name in sorted(names, key=lambda own: is_numeric(frame[str(own)])):
            level = name in levels and len(levels) > 1
            if is_long or level or (not is_numeric(frame[name]) and may_label(frame[name])):
                found = found._replace(algorithm=name)
                break
    for role, words in (("fold", FOLD), ("data_set", DATA_SET)):
        if getattr(found, role) is not None:
            continue
        keys = [name for name in (found.algorithm, found.fold) if name is not None]
        known = [
            name
            for name in called(frame, words, found)
            if name in levels
            or may_label(frame[name])
            # in a long table, whose scores are elsewhere, also decimals that repeat
            or (found.algorithm is not None and repeats(frame, [name]))
        ]
        if role == "data_set":  # one that tells all scores apart, if there is one
            known.sort(key=lambda name: repeats(frame, [*keys, name]))
        found = found._replace(**{role: next(iter(known), None)})
    if found.algorithm is None and found.data_set is not None:
        keys = [name for name in (found.data_set, found.fold) if name is not None]
        for name in called(frame, ALGORITHM, found):
            is_shared = bool(frame[name].value_counts().min() > 1)
            if is_shared and repeats(frame, keys) and not repeats(frame, [*keys, name]):
                return found._replace(algorithm=name)
    return found


def may_label(column: pd.Series[Any]) -> bool:
    """Return whether the values may be labels: text or whole numbers.

    Decimals are scores, also beside text such as "timeout".
    """
    numbers = [number_in(str(value)) for value in column.dropna()]
    return all(n is None or math.isnan(n) or n.is_integer() for n in numbers)


def repeats(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    """Return whether rows have the same values in all these columns."""
    return bool(frame[[*names]].astype(str).duplicated().any())


def number_in(text: str) -> float | None:
    """Return the number that a text is, NaN for a missing one, None if no float is that."""
    if text.strip().casefold() in _MISSING:
        return float("nan")
    try:
        number = float(text)
    except ValueError:
        return None
    return None if "_" in text or len(text) > _LONGEST or is_too_large(text) else number


def is_too_large(text: str) -> bool:
    """Return whether a text is a finite number, but infinite as a float."""
    try:
        return math.isinf(float(text)) and any(map(str.isdigit, text))
    except ValueError:
        return False


def _labels(frame: pd.DataFrame, found: Columns, *, counted: bool) -> bool:
    """Return whether the first column of a wide table names its data sets."""
    column, *others = (frame[name] for name in map(str, frame) if name != found.fold)
    if not is_numeric(column):
        return is_text(column)
    if _ID.search(str(column.name)) is not None:
        return may_label(column)
    counts = counted and len(others) > 1 and _counts(column)
    return counts and not all(map(_counts, others))


def _long(frame: pd.DataFrame, found: Columns, given: Columns, *, levels: Sequence[str]) -> Columns:
    """Return the columns of a long table, which must be all there."""
    if found.data_set is None:
        texts = [n for n in map(str, frame) if n not in found and is_text(frame[n])]
        # an index that is different in each row numbers them
        again = [n for n in levels if n not in found and frame[n].duplicated().any()]
        known = texts or again
        found = found._replace(data_set=known[0] if len(known) == 1 else None)
    if found.score is None:
        rest = [str(name) for name in frame if name not in found and name not in levels]
        if len(rest) != 1:
            rest = [name for name in rest if not is_text(frame[name])] or rest
        if len(rest) != 1:
            raise ScoresError(
                f"the table is long (column {found.algorithm!r}), with {rest or 'nothing'} beside "
                "the labels: name the column of scores, score=.., or remove others; if its columns "
                f"are data sets, transpose it: scores.set_index({found.algorithm!r})[[..]].T, of these"
            )
        found = found._replace(score=rest[0])
    if found.data_set is None:
        folds = f", such as data_set={found.fold!r}" if found.fold else ""
        raise ScoresError(
            f"no column of data sets among {', '.join(frame.columns)}: name it, data_set=..{folds}; "
            "independent samples have none: scipy.stats.kruskal compares these"
            if repeats(frame, [str(found.algorithm)])
            else f"each value of column {found.algorithm!r} has one score: give scores on several data "
            "sets, items or folds, and a column that names these"
        )
    if found.fold not in {None, given.fold} and not repeats(frame, [str(found.fold)]):
        keys = [name for name in found[:2] if name is not None]
        found = found if repeats(frame, keys) else found._replace(fold=None)  # numbers scores
    chosen = [name for name in found if name is not None]
    if len(set(chosen)) < len(chosen):
        raise SettingError(f"data_set, algorithm, fold, score name a column twice: {chosen}")
    return found


def called(
    frame: pd.DataFrame, known: Sequence[str], taken: Sequence[str | None] = ()
) -> list[str]:
    """Return the columns with one of the known names, in the names' order, unless taken."""
    short = {
        str(name): re.sub(r"^(params|config)[./]|[\W_]", "", str(name).lower())
        for name in frame.columns
    }
    return [
        name
        for word in known
        for name, own in short.items()
        if name not in taken and word in {own, _AFTER.sub("", own)}
    ]


def is_numeric(column: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers, such as Fractions or a database's Decimals, not text."""
    if pd.api.types.is_numeric_dtype(column):
        return True
    kind = pd.api.types.infer_dtype(column, skipna=True)
    is_mixed = kind == "mixed"  # of types that pandas does not know
    return kind == "decimal" or (is_mixed and all(isinstance(v, Number) for v in column.dropna()))


def is_text(column: pd.Series[Any]) -> bool:
    """Return whether a column holds names: text, dates or other scalars, but no number.

    One of text with numbers in it, or of lists, holds scores gone wrong.
    """
    values = column.dropna()
    if is_numeric(column) or any(
        isinstance(value, Number) or pd.api.types.is_list_like(value) for value in values
    ):
        return False
    numbers = [number_in(str(value)) for value in values]
    return None in numbers and all(n is None or math.isnan(n) for n in numbers)


def _counts(column: pd.Series[Any]) -> bool:
    """Return whether a column holds whole numbers >= 0, more than one and all different."""
    if not is_numeric(column) or len(column) < 2:
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
    return bool(whole.all()) and column.is_unique
