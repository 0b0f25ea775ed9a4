"""Files of scores: CSV, results of promptfoo, samples of lm-evaluation-harness."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import reprlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import is_real
from racer._files import as_path, read_bytes
from racer.comparison import scores as tables
from racer.comparison.columns import Columns, is_numeric, numbered, recognised, row_numbers
from racer.errors import ScoresError, SettingError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import StrPath
    from numpy.typing import NDArray

    Row = tuple[str, str, float]  # algorithm, instance, score
    Record = dict[str, Any]

__all__ = ["read_csv", "read_scores", "score_table"]

COLUMNS = ("algorithm", "instance", "score")
_SIGN = r"\s*(?:±|\+/?-|\\pm)\s*"
_WITH_SPREAD = re.compile(rf"([-+]?\d[\d.,eE+-]*?){_SIGN}[\d.,]+%?")  # 61.8 ± 1.2
_WITH_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_WITH_MARK = re.compile(r"[-+]?\d*([.,])\d+(?:[eE][-+]?\d+)?")
_WHOLE = re.compile(r"[-+]?\d+(\.0)?")  # also as a float is written
_AS_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")  # 1,234
_SAMPLES = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl")  # task, time
_UNNAMED = "Unnamed: 0"  # a column of numbers without a name: an index, as pandas reads it
_SAMPLE = {"doc_id", "filter", "metrics"}  # what lm_eval writes of each
_RESULT = {"promptIdx", "testIdx"}  # of promptfoo
_TYPES: dict[str, Any] = {  # of what is read in records; None may stand for an object
    "promptIdx": int,
    "testIdx": int,
    "prompt": dict,
    "provider": dict,
    "namedScores": dict,
    "doc_id": int | str,
    "filter": str,
    "metrics": list,
}


def read_scores(
    *paths: StrPath,
    score: str | None = None,
    algorithm: str | None = None,
    data_set: str | None = None,
    fold: str | None = None,
) -> pd.DataFrame:
    r"""Read recorded scores, as `racer.compare` and a race on recorded scores take them.

    Parameters
    ----------
    *paths : path-like
        Files or folders, whose scores are put together. CSV: wide or long, as for
        ``racer compare``, so that a first column of whole numbers, no two alike, names the
        instances, with a RacerWarning; folds are averaged. ``.json`` or ``.jsonl`` of ``promptfoo eval -o``: an
        algorithm is a prompt with a provider, an instance a test; an answer that never came (an
        error of the provider) is a missing score. ``samples_*.jsonl`` of ``lm_eval
        --log_samples``, or the folder that holds them: an algorithm is the folder of a model, an
        instance ``task/doc_id``; of several runs of a task by a model, the latest counts.
    score : str, optional
        Which score, where there are several: a column of a long table; a name of promptfoo's
        ``namedScores``, by default its score; a metric of lm-evaluation-harness, if need be with
        its filter, ``"exact_match,strict-match"``.
    algorithm, data_set, fold : str, optional
        Columns of a CSV file; by default found by usual names.

    Returns
    -------
    DataFrame
        Columns ``algorithm``, ``instance``, ``score``: a row for each score that is known.

    Raises
    ------
    ScoresError
        A file that cannot be read, is none of these, or has no such score; a score twice.

    Examples
    --------
    >>> import racer, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("item,terse,polite\na,1,0\nb,1,1", file=file, flush=True)
    ...     racer.read_scores(file.name)
      algorithm instance  score
    0     terse        a    1.0
    1     terse        b    1.0
    2    polite        a    0.0
    3    polite        b    1.0
    """
    if not paths:
        raise SettingError("read_scores() of no path: give a file or a folder")
    columns = Columns(data_set, algorithm, fold, score)
    rows = [row for path in paths for row in _rows(Path(as_path(path, "path")), columns)]
    if not rows:
        what = "score" if score is None else f"score {score!r}"
        raise ScoresError(f"{', '.join(map(str, paths))}: there is no {what} in it")
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    again = frame[frame.duplicated(["algorithm", "instance"])]
    if len(again):
        first = again.iloc[0]
        raise ScoresError(
            f"more than one score of {first['algorithm']!r} on {first['instance']!r}: give each "
            "file once, and other names where two are the same"
        )
    return frame


def score_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return scores as a table of instances x algorithms, in their order; NaN where unknown."""
    wide = frame.pivot(index="instance", columns="algorithm", values="score")  # noqa: PD010
    return wide.reindex(index=frame["instance"].unique(), columns=frame["algorithm"].unique())


def is_csv(path: Path) -> bool:
    """Return whether a path is read as CSV."""
    return path.suffix not in {".json", ".jsonl"} and not path.is_dir()


def _rows(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the scores of a file or folder."""
    if is_csv(path):
        yield from _of_csv(path, columns)
        return
    if columns._replace(score=None) != Columns():
        raise SettingError(f"{path} is not CSV: algorithm, data_set and fold are columns of CSV")
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*.jsonl")) if _SAMPLES.fullmatch(file.name)]
        latest = {(file.parent, _task_of(file)): file for file in files}
        if not latest:
            raise ScoresError(
                f"{path}: no samples_*.jsonl in this folder; run lm_eval with --log_samples"
            )
        for file in latest.values():
            yield from _of_records(file, _lines_of_json(file), columns.score)
        return
    records = _lines_of_json(path) if path.suffix == ".jsonl" else _results(path)
    yield from _of_records(path, records, columns.score)


def _of_records(path: Path, records: list[Record], score: str | None) -> Iterator[Row]:
    """Yield the scores of promptfoo's results or of lm_eval's samples."""
    keys = records[0].keys() if records else set()
    if keys >= _SAMPLE:
        yield from _of_lm_eval(path, records, score)
    elif keys >= _RESULT:
        yield from _of_promptfoo(path, records, score)
    else:
        raise ScoresError(
            f"{path} is neither output of promptfoo eval -o nor samples of lm_eval, which have "
            f"{', '.join(sorted(_SAMPLE))}: give those, or a CSV file"
        )


def _results(path: Path) -> list[Record]:
    """Return the results of promptfoo in a JSON file; none if it is something else."""
    document = _parsed(_text(path), str(path))
    if isinstance(document, dict) and {"n-samples", "higher_is_better"} <= document.keys():
        raise ScoresError(
            f"{path} has the means of lm_eval only, not the scores of items: run it with "
            "--log_samples, and give the folder"
        )
    results = document.get("results") if isinstance(document, dict) else None
    results = results.get("results") if isinstance(results, dict) else None
    return _objects(results, path) if isinstance(results, list) else []


def _of_promptfoo(path: Path, records: list[Record], score: str | None) -> Iterator[Row]:
    """Yield promptfoo's scores: algorithms named by prompts, providers or both."""
    labels: dict[int, tuple[str, str]] = {}
    for record in records:
        prompt, provider = record.get("prompt") or {}, record.get("provider") or {}
        who = str(provider.get("label") or provider.get("id") or "?")
        labels[record["promptIdx"]] = (str(prompt.get("label") or prompt.get("raw") or "?"), who)
    names = _short_names(labels)
    for record in sorted(records, key=lambda record: (record["testIdx"], record["promptIdx"])):
        # an answer that never came
        if record.get("failureReason") == 2:
            continue
        found = (record.get("namedScores") or {}).get(score) if score else record.get("score")
        if found is None and score:  # asserted in some tests only
            continue
        where = f"{path}, test {record['testIdx']}"
        if (number := _number(found, "score", where)) is not None:
            yield names[record["promptIdx"]], str(record["testIdx"]), number


def _short_names(labels: dict[int, tuple[str, str]]) -> dict[int, str]:
    """Return a name for each column of prompt and provider, with its number if need be."""
    prompts, providers = (set(part) for part in zip(*labels.values(), strict=True))
    names = {}
    for column, (prompt, provider) in labels.items():
        both = f"[{provider}] {prompt}" if len(providers) > 1 else prompt
        names[column] = provider if len(prompts) == 1 < len(providers) else both
    all_names = list(names.values())
    return {c: n if all_names.count(n) == 1 else f"{n} (column {c})" for c, n in names.items()}


def _task_of(path: Path) -> str:
    """Return the task of a file of samples."""
    match = _SAMPLES.fullmatch(path.name)
    return match[1] if match else path.stem.removeprefix("samples_")


def _of_lm_eval(path: Path, records: list[Record], score: str | None) -> Iterator[Row]:
    """Yield one metric of the samples of a task."""
    known: dict[str, tuple[str, str]] = {}  # metric and filter by both their names
    for record in records:
        for metric in record.get("metrics", ()):
            known[f"{metric},{record['filter']}"] = (metric, record["filter"])
    chosen = [both for name, both in known.items() if score in {None, name, both[0]}]
    if len(chosen) != 1:
        raise ScoresError(
            f"{path}: {f'no metric {score!r}' if not chosen else 'several metrics'} among "
            f"{', '.join(known)}: name one, score=.."
        )
    metric, by = chosen[0]
    model, task = path.absolute().parent.name, _task_of(path)
    for record in records:
        if record["filter"] == by:
            where = f"{path}, doc_id {record['doc_id']}"
            if (number := _number(record.get(metric), metric, where)) is not None:
                yield model, f"{task}/{record['doc_id']}", number


def _number(value: Any, name: str, where: str) -> float | None:
    """Return a score, None for NaN; ScoresError for other values."""
    if isinstance(value, bool) or is_real(value):
        return None if math.isnan(value) else float(value)
    raise ScoresError(f"{where}: {name} is {value!r}, not a number")


def _of_csv(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the scores of a CSV file, means over folds."""
    file = read_csv(path)
    ids = numbered(file.table, columns, counted=not file.indexed)
    if ids is not None and numbered(file.table, columns, counted=False) is None:
        warn(
            f"{path}: column {ids!r}, of numbers, names the instances and is not an algorithm; were "
            "it one, put a column of names before it"
        )
    table, roles = file.with_labels(columns._replace(data_set=ids or columns.data_set))
    found = tables.read_scores(table, roles, maximize=False)
    for algorithm, column in zip(found.algorithms, found.costs.T.tolist(), strict=True):
        for data_set, value in zip(found.data_sets, column, strict=True):
            if not np.isnan(value):
                yield algorithm, data_set, value


class CsvTable(NamedTuple):
    """A CSV file, whose columns of numbers are numbers."""

    table: pd.DataFrame
    texts: dict[str, Sequence[str]]  # its columns as they stand in the file
    indexed: bool  # whether an index without a name stood before it
    path: Path
    delimiter: str

    def with_labels(self, given: Columns, *, paired: bool = True) -> tuple[pd.DataFrame, Columns]:
        """Return the table with labels as in the file (1.10 is not 1.1), and which columns they are.

        ScoresError names a score that may have thousands, such as 1,234.
        """
        index = row_numbers(self.table, given)
        rest = self.table if index is None else self.table.drop(columns=index)
        found = recognised(rest, given, paired=paired)
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
        return table, found

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

    The delimiter is the one of comma, semicolon and tab that gives the header most fields. Numbers
    may have a decimal comma, or a spread behind them (61,8 ± 1,2), which is left out with a
    RacerWarning. ScoresError names the line that does not fit.
    """
    delimiter, (names, *rows) = _lines_of_csv(path)
    if len(names) == 1:
        raise ScoresError(
            f"{path}: the header is one column, {names[0]!r}: separate columns by commas, "
            "semicolons or tabs"
        )
    numbers = map(tables.number_in, names)
    if all(number is not None and np.isfinite(number) for number in numbers):
        raise ScoresError(
            f"{path}: the first row is all numbers, so there is no header: add one, with a name "
            "for each column"
        )
    fields = [*zip(*rows, strict=True)]
    columns = [_column(*_numbers(texts)) for texts in fields]
    spread = [name for name, texts in zip(names, fields, strict=True) if _has_spread(texts)]
    if spread:
        warn(f"{path}: of columns {', '.join(spread)}, mean ± spread, the means are read alone")
    indexed = names[0] == "" and list(columns[0]) == list(range(len(rows)))
    if indexed:  # as a table is written with an index that has no name
        names, columns, fields = names[1:], columns[1:], fields[1:]
    elif names[0] == "":
        names[0] = _UNNAMED if columns[0].dtype == np.float64 else "data set"
    if "" in names:
        raise ScoresError(f"{path}: column {names.index('') + 1} has no name")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ScoresError(f"{path}: column {repeated[0]!r} occurs twice; give each its own name")
    table = pd.DataFrame(dict(zip(names, columns, strict=True)))
    return CsvTable(table, dict(zip(names, fields, strict=True)), indexed, path, delimiter)


def csv_lines(path: Path) -> list[list[str]]:
    """Return the fields of all lines that are not empty, as many each; the names first."""
    return _lines_of_csv(path)[1]


def _lines_of_csv(path: Path) -> tuple[str, list[list[str]]]:
    """Return the delimiter, and the fields of all lines that are not empty; the names first."""
    text = _text(path)
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
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise ScoresError(
                f"{path}, row {number}: {len(row)} fields, but the header has {len(names)}"
            )
    if not rows:
        raise ScoresError(f"{path} has a header and no rows")
    return delimiter, [names, *rows]


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
    if any("," in text for text in found) and not any("." in text for text in found):
        found = [text.replace(",", ".") if _WITH_COMMA.fullmatch(text) else text for text in found]
    numbers = [*map(tables.number_in, found)]
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


def _text(path: Path) -> str:
    """Return the text of a file; ScoresError where there is none."""
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


def _lines_of_json(path: Path) -> list[Record]:
    """Return the objects of a file with one on each line."""
    lines = enumerate(_text(path).split("\n"), start=1)  # U+2028 may be within a string
    records = [_parsed(line, f"{path}, line {n}") for n, line in lines if line.strip()]
    return _objects(records, path)


def _objects(records: list[Any], path: Path) -> list[Record]:
    """Return records that are objects, all of one kind."""
    first = records[0].keys() if records and isinstance(records[0], dict) else set()
    needed = first & (_SAMPLE | _RESULT)
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict) or not needed <= record.keys():
            raise ScoresError(f"{path}, record {number} is not like the first one")
        if needed:
            _check_types(record, f"{path}, record {number}")
    return records


def _check_types(record: Record, where: str) -> None:
    """Raise ScoresError for a value that no writer of such records gives."""
    for name, kind in _TYPES.items():
        value = record.get(name)
        is_missing = value is None and (kind is dict or name not in record)
        if not is_missing and not isinstance(value, kind):
            raise ScoresError(f"{where}: {name} is {reprlib.repr(value)}, of another type")
    if not all(isinstance(metric, str) for metric in record.get("metrics", ())):
        raise ScoresError(f"{where}: metrics are {reprlib.repr(record['metrics'])}, not names")


def _parsed(text: str, where: str) -> Any:
    """Return JSON; ScoresError with the place where it is none."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ScoresError(f"{where} is not JSON: {error}") from None
    except RecursionError:
        raise ScoresError(f"{where} is nested too deeply") from None
