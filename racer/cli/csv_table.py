"""A CSV file of scores as a DataFrame: strictly, so that nothing is read as what it is not."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from racer.comparison.scores import number_in
from racer.errors import ScoresError

if TYPE_CHECKING:
    from pathlib import Path

_DELIMITERS = (",", ";", "\t")


def read_csv(path: Path) -> tuple[pd.DataFrame, bool]:
    """Return a table with a header, and whether an index without a name stood before it.

    The header's most frequent of comma, semicolon and tab separates; ScoresError names the line.
    """
    header, *rows = _lines(path)
    names = [name.strip() for name in header]
    numbers = map(number_in, names)
    if all(number is not None and np.isfinite(number) for number in numbers):
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
    return pd.DataFrame(dict(zip(names, columns, strict=True))), indexed


def _lines(path: Path) -> list[list[str]]:
    """Return the fields of all lines that are not empty, the header first."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScoresError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScoresError(f"{path} is not text in UTF-8: save it as CSV in that encoding") from None
    if "\0" in text:
        raise ScoresError(f"{path} is not text: give a CSV file")
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
    numbers = [number_in(text) for text in texts]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    return np.array([text.strip() or None for text in texts], dtype=object)
