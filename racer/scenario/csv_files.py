"""Tables in CSV files: delimiters, decimal commas, marks of thousands, spreads behind numbers."""

from __future__ import annotations

import csv
import io
import re
import reprlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import repeated
from racer._files import read_bytes
from racer.comparison import scores as tables
from racer.comparison.columns import (
    Columns,
    column_notes,
    is_numeric,
    number_in,
    numbered,
    recognised,
    row_numbers,
)
from racer.comparison.votes import of_votes
from racer.direction import LARGER_IS_BETTER
from racer.errors import ScoresError, warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_SIGN = r"\s*(?:±|\+/?-|\\pm)\s*"
_WITH_SPREAD = re.compile(rf"([-+]?\d[\d.,eE+-]{{0,98}}?){_SIGN}[\d.,]+%?")  # 61.8 ± 1.2
_WITH_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_WITH_MARK = re.compile(r"[-+]?\d*([.,])\d+(?:[eE][-+]?\d+)?")
_WHOLE = re.compile(r"[-+]?\d+(\.0)?")  # also as a float is written
_AS_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")  # 1,234
_ANSWER = re.compile(r"\[(PASS|FAIL|ERROR)\]")  # begins an answer in promptfoo's CSV
_UNNAMED = "Unnamed: 0"  # a column of numbers without a name: an index, as pandas reads it


class CsvTable(NamedTuple):
    """A CSV file, whose columns of numbers are numbers."""

    table: pd.DataFrame
    texts: dict[str, Sequence[str]]  # its columns as they stand in the file
    indexed: bool  # whether an index without a name stood before it
    path: Path
    delimiter: str

    def labelled(self, given: Columns) -> tuple[pd.DataFrame, Columns, list[str]]:
        """Return the table with labels as in the file (1.10 is not 1.1), which they are, and notes.

        ScoresError names a score that may have thousands, such as 1,234.
        """
        asked = given
        if ids := numbered(self.table, given, counted=not self.indexed):
            given = given._replace(data_set=ids)
        index = row_numbers(self.table, given)
        rest = self.table if index is None else self.table.drop(columns=index)
        found = recognised(rest, given)
        if index is not None and found[:3] == (None, None, None):
            found = found._replace(data_set=index)
        table = self.table.copy()
        labels = [*filter(None, (found.data_set, found.algorithm, found.fold))]
        for name in labels:
            texts = [text.strip() for text in self.texts[name]]
            if is_numeric(table[name]):
                if all(map(_WHOLE.fullmatch, filter(None, texts))):
                    texts = [text.removesuffix(".0") for text in texts]
                table[name] = pd.Series(texts, dtype=object).where(table[name].notna(), None)
        scores = [found.score] if found.score else [n for n in map(str, rest) if n not in labels]
        self._check_marks([name for name in scores if is_numeric(rest[name])])
        return table, found, column_notes(self.table, asked, found)

    def _check_marks(self, names: Sequence[str]) -> None:
        """Raise ScoresError if a number in these columns may have a mark of thousands."""
        doubtful = _maybe_thousands([self.texts[name] for name in names], self.delimiter)
        if doubtful is not None:
            other = "," if "." in doubtful else "."
            raise ScoresError(
                f"{self.path}: {doubtful} may be {re.sub('[.,]', '', doubtful)} or have decimals: "
                "leave out the mark of thousands, and for decimals write "
                f"{re.sub('[.,]', other, doubtful)}"
            )


def read_csv(path: Path) -> CsvTable:
    """Return a table with a header.

    The delimiter is whichever of comma, semicolon and tab gives the header most fields. Numbers
    may have a decimal comma, or a spread behind them (61,8 ± 1,2), which is left out with a
    RacerWarning. ScoresError names the line that does not fit.
    """
    delimiter, (names, *rows) = _lines_of_csv(path)
    if len(names) == 1:
        raise ScoresError(
            f"{path}: the header is one column, {reprlib.repr(names[0])}: separate columns by commas, "
            "semicolons or tabs"
        )
    numbers = map(number_in, names)
    if all(number is not None and np.isfinite(number) for number in numbers):
        raise ScoresError(
            f"{path}: the first row is all numbers, so there is no header: add one, with a name "
            "for each column"
        )
    return as_table(names, [*zip(*rows, strict=True)], path, delimiter)


def as_table(names: list[str], fields: list[Sequence[str]], path: Path, delimiter: str) -> CsvTable:
    """Return columns of texts as a table, with numbers where they are such."""
    columns = [_column(*_numbers(texts)) for texts in fields]
    spread = [name for name, texts in zip(names, fields, strict=True) if _has_spread(texts)]
    if spread:
        warn(f"{path}: of columns {', '.join(spread)}, mean ± spread, the means are read alone")
    indexed = names[0] == "" and list(columns[0]) == list(range(len(columns[0])))
    if indexed:  # as a table is written with an index that has no name
        names, columns, fields = names[1:], columns[1:], fields[1:]
    elif names[0] == "":
        names[0] = _UNNAMED if columns[0].dtype == np.float64 else "data set"
    if "" in names:
        raise ScoresError(f"{path}: column {names.index('') + 1} has no name")
    if again := repeated(names):
        raise ScoresError(f"{path}: column {again[0]!r} occurs twice; give each its own name")
    table = of_votes(tables.of_search(pd.DataFrame(dict(zip(names, columns, strict=True)))))
    texts = dict(zip(names, fields, strict=True))
    if LARGER_IS_BETTER in table.attrs:
        texts = {name: [*map(str, table[name])] for name in map(str, table)}
    return CsvTable(table, texts, indexed, path, delimiter)


def csv_lines(path: Path) -> list[list[str]]:
    """Return the fields of all lines that are not empty, as many each; the names first."""
    return _lines_of_csv(path)[1]


def _lines_of_csv(path: Path) -> tuple[str, list[list[str]]]:
    """Return the delimiter, and the fields of all lines that are not empty; the names first."""
    text = text_of(path)
    if path.suffix in {".yaml", ".yml", ".xml", ".html"} or _ANSWER.search(text):
        raise ScoresError(f"{path}: give CSV, or JSON (of promptfoo: promptfoo eval -o out.json)")
    delimiter = max((",", ";", "\t"), key=lambda mark: _n_fields(text, mark))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise ScoresError(f"{path}, line {reader.line_num}: {error}") from None
    if not lines:
        raise ScoresError(f"{path} is empty: give a header and a row per data set")
    header, *rows = lines
    names = [name.strip() for name in header]
    rows = [row for row in rows if any(map(str.strip, row))]  # Excel leaves empty ones
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise ScoresError(
                f"{path}, row {number}: {len(row)} fields, but the header has {len(names)}"
            )
    if not rows:
        raise ScoresError(f"{path} has a header and no rows")
    columns = [(n, *texts) for n, *texts in zip(names, *rows, strict=True) if any((n, *texts))]
    return delimiter, [*map(list, zip(*columns, strict=True))]


def _n_fields(text: str, delimiter: str) -> int:
    """Return the number of fields of a header; 0 if its quotes do not fit the delimiter."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return next((len(line) for line in lines if line), 0)
    except csv.Error:
        return 0


def _has_spread(texts: Sequence[str]) -> bool:
    return any(_WITH_SPREAD.fullmatch(text.strip()) for text in texts)


def _numbers(texts: Sequence[str]) -> tuple[list[str], list[float | None]]:
    """Return texts without spreads, and the numbers they are, be it with a decimal comma."""
    found = [_WITH_SPREAD.sub(r"\1", text.strip()) for text in texts]
    # a comma is a decimal mark only if no number of the column has a point, as 1,234.5 has
    if any("," in text for text in found) and not any("." in text for text in found):
        found = [text.replace(",", ".") if _WITH_COMMA.fullmatch(text) else text for text in found]
    numbers = [*map(number_in, found)]
    return (list(texts) if None in numbers else found), numbers


def _maybe_thousands(columns: Sequence[Sequence[str]], delimiter: str) -> str | None:
    """Return the first number whose mark may be one of thousands: no other has it for decimals."""
    texts = [
        part for column in columns for text in column for part in re.split(_SIGN, text.strip())
    ]
    marked = {text: match[1] for text in texts if (match := _WITH_MARK.fullmatch(text))}
    decimal = {mark for text, mark in marked.items() if not _AS_THOUSANDS.fullmatch(text)}
    if not decimal:
        decimal = {".", ","} if delimiter == ";" else {"."}
    return next((text for text, mark in marked.items() if mark not in decimal), None)


def _column(texts: Sequence[str], numbers: list[float | None]) -> NDArray[Any]:
    """Return numbers if all are, otherwise the texts, None where empty."""
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    return np.array([text.strip() or None for text in texts], dtype=object)


def text_of(path: Path) -> str:
    """Return the text of a file; ScoresError if it cannot be read as text."""
    try:
        # records of whole conversations are large
        text = read_bytes(path, 1_000_000_000).decode("utf-8-sig")
    except OSError as error:
        raise ScoresError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScoresError(f"{path} is not text in UTF-8: save it as CSV in that encoding") from None
    if "\0" in text:
        raise ScoresError(f"{path} is not text: give a CSV file")
    return text
