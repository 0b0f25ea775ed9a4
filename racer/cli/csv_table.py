"""A CSV file of scores as a DataFrame: strictly, so that nothing is read as what it is not."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from racer.comparison.columns import Columns, is_numeric, recognised
from racer.comparison.scores import number_in
from racer.errors import ScoresError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["numbered", "read_csv"]

_DELIMITERS = (",", ";", "\t")


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table with a header; columns of numbers are numeric, all others text.

    Fields are separated by commas, semicolons or tabs, whichever the header has most of. Empty
    fields, "nan", "NA" and the like are missing.

    Raises
    ------
    ScoresError
        The file cannot be read, or is no such table; the line is named.
    """
    header, *rows = _lines(path)
    names = [name.strip() for name in header]
    if all(map(_is_number, names)):
        raise ScoresError(
            f"{path}: the first row is all numbers, so there is no header: add one, with a name "
            "for each column"
        )
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise ScoresError(
                f"{path}, row {number}: {len(row)} fields, but the header has {len(names)}"
            )
    if not rows:
        raise ScoresError(f"{path} has a header and no rows")
    columns = [_column([row[place] for row in rows]) for place in range(len(names))]
    indexed = False
    if names[0] == "":  # as a table is written with an index that has no name
        if list(columns[0]) == list(range(len(rows))):
            names, columns, indexed = names[1:], columns[1:], True
        else:
            names[0] = "data set"
    if "" in names:
        raise ScoresError(f"{path}: column {names.index('') + 1} has no name")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ScoresError(f"{path}: column {repeated[0]!r} occurs twice; give each its own name")
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    frame.attrs["indexed"] = indexed
    return frame


def numbered(frame: pd.DataFrame, given: Columns) -> str | None:
    """Return the column of numbers that names the data sets, if there is one and none is given.

    It is found by its name, or is the first of a wide table, with whole numbers of which no two
    are alike, when that is not so in all other columns and there are two of them at least.
    """
    if frame.empty or given.data_set is not None:
        return None
    found = recognised(frame, given)
    if found.data_set is not None:
        return found.data_set if is_numeric(frame[found.data_set]) else None
    if found.algorithm is not None or frame.attrs["indexed"]:
        return None
    first, *others = (str(name) for name in frame if name != found.fold)
    if frame.columns[0] != first or len(others) < 2 or not _counts(frame[first]):
        return None
    return None if all(_counts(frame[name]) for name in others) else first


def _counts(column: pd.Series[float]) -> bool:
    """Say whether a column holds whole numbers >= 0, more than one and all different."""
    if not is_numeric(column) or len(column) < 2:
        return False
    values = column.to_numpy()
    whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
    return bool(whole.all()) and column.is_unique


def _lines(path: Path) -> list[list[str]]:
    """Return the fields of all lines that are not empty, the header first."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScoresError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScoresError(f"{path} is no text in UTF-8: save it as CSV in that encoding") from None
    if "\0" in text:
        raise ScoresError(f"{path} is no text: give a CSV file")
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise ScoresError(f"{path}, line {reader.line_num}: {error}") from None
    if not lines:
        raise ScoresError(f"{path} is empty: give a header and a row per data set")
    return lines


def _column(texts: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float64 | np.object_]]:
    """Return numbers if all are, otherwise the texts, None where empty."""
    stripped = [text.strip() for text in texts]
    try:
        return np.array([number_in(text) for text in stripped])
    except ValueError:
        return np.array([text or None for text in stripped], dtype=object)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(number_in(text)))
    except ValueError:
        return False
