"""Files of scores: CSV, results of promptfoo, samples of lm-evaluation-harness."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import reprlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import is_real
from racer._files import as_path, read_bytes
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
from racer.direction import LARGER_IS_BETTER, larger_is_better
from racer.errors import ScoresError, SettingError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import StrPath
    from numpy.typing import NDArray

    Record = dict[str, Any]

__all__ = ["read_csv", "read_scores", "score_table"]

COLUMNS = ("algorithm", "instance", "score")
_SIGN = r"\s*(?:±|\+/?-|\\pm)\s*"
_WITH_SPREAD = re.compile(rf"([-+]?\d[\d.,eE+-]{{0,98}}?){_SIGN}[\d.,]+%?")  # 61.8 ± 1.2
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
    "vars": dict,
    "testCase": dict,
    "namedScores": dict,
    "doc_id": int | str,
    "filter": str,
    "metrics": list,
}


class _Row(NamedTuple):
    """A score as a file has it."""

    algorithm: str | tuple[str, ...]  # a name, or of promptfoo prompt, provider and column
    item: str | None  # what the record says of its item; None if nothing but its place
    instance: str
    score: float
    larger: bool | None  # is better, as the file or the score's name says


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
        Files or folders, whose scores are put together by what records say of their items. CSV:
        wide or long, as for ``racer compare``; folds are averaged; numbers that are taken for
        labels are a RacerWarning. ``.json`` or ``.jsonl`` of ``promptfoo eval -o``: an algorithm is
        a prompt with a provider, an instance a test, known by its vars, whose repeats are averaged;
        an answer that never came (an error of the provider) is a missing score.
        ``samples_*.jsonl`` of ``lm_eval --log_samples``, or the folder that holds them: an
        algorithm is the folder of a model, an instance ``task/doc_id``, known by its doc_hash; of
        several runs of a task by a model, the latest counts. Files that do not name their
        algorithm, one each, give it their own name.
    score : str, optional
        Which score, where there are several: a column of a long table; a name of promptfoo's
        ``namedScores``, by default its score; a metric of lm-evaluation-harness, if need be with
        its filter, ``"exact_match,strict-match"``.
    algorithm, data_set, fold : str, optional
        Columns of a CSV file; by default found by usual names.

    Returns
    -------
    DataFrame
        Columns ``algorithm``, ``instance``, ``score``: a row for each score that is known. Its
        ``attrs["larger_is_better"]`` is there if the files say so: promptfoo's scores are larger,
        lm-evaluation-harness's as the ``results_*.json`` beside the samples says, and all by the
        name of the score, in a wide table of all its columns. `racer.compare` takes it from there.

    Raises
    ------
    ScoresError
        A file that cannot be read, is none of these, or has no such score; a score twice; larger
        scores are better in some of the files, and smaller in others.

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
    files = [file for path in paths for file in _files(Path(as_path(path, "path")))]
    rows = [(n, *row) for n, file in enumerate(files) for row in _rows(file, columns)]
    frame = _named(pd.DataFrame(rows, columns=["file", *_Row._fields]), files)
    if frame.empty:
        what = "score" if score is None else f"score {score!r}"
        raise ScoresError(f"{', '.join(map(str, paths))}: there is no {what} in it")
    first = {row[-1]: files[row[0]] for row in reversed(rows)}
    if len(first) == 1:
        frame.attrs = {LARGER_IS_BETTER: rows[0][-1]}
    elif first.keys() >= {True, False}:
        raise ScoresError(
            f"{first[True]}: larger scores are better, but smaller ones in {first[False]}: give "
            "files of one metric, or its name, score=.."
        )
    return frame


def _named(rows: pd.DataFrame, files: list[Path]) -> pd.DataFrame:
    """Return the mean score of each algorithm on each item; items have the names of their first."""
    names = _short_names({who for who in rows["algorithm"] if isinstance(who, tuple)})
    rows["algorithm"] = [names.get(who, who) for who in rows["algorithm"]]
    rows = rows.dropna(subset="score")
    by_number = {n for n, item in zip(rows["file"], rows["item"], strict=True) if item is None}
    if by_number and len(files) > 1:
        raise ScoresError(
            f"{files[min(by_number)]}: its scores have no names of items, only places in the file, "
            "which other files may not share: name the items, or give one file"
        )
    cells = ["algorithm", "item"]
    rows["item"] = rows["item"].fillna(rows["instance"])
    found = rows.groupby(["file", *cells], sort=False, as_index=False).agg(
        {"instance": "first", "score": "mean"}
    )
    if found.duplicated(cells).any() and found.groupby("file")["algorithm"].nunique().max() == 1:
        # a file for each algorithm, whose records do not name it
        found["algorithm"] = found["file"].map(dict(enumerate(_names_of(files))))
    for again in found[found.duplicated(cells)].itertuples():
        raise ScoresError(
            f"more than one score of {again.algorithm!r} on {again.instance!r}: give each file once, "
            "and other names where two are the same"
        )
    items: dict[str, str] = {}
    taken: dict[str, int] = {}  # how many items have a name
    for item, name in zip(found["item"], found["instance"], strict=True):
        if item not in items:
            taken[name] = taken.get(name, 0) + 1
            items[item] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    found["instance"] = found["item"].map(items)
    return found[list(COLUMNS)]


def _names_of(files: list[Path]) -> list[str]:
    """Return names of files, or of the folders of samples, by what they do not share."""
    own = [f.parent if _SAMPLES.fullmatch(f.name) else f.with_suffix("") for f in files]
    root = os.path.commonpath([file.absolute().parent for file in own])
    return [str(file.absolute().relative_to(root)) for file in own]


def score_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return scores as a table of instances x algorithms, in their order; NaN where unknown."""
    wide = frame.pivot(index="instance", columns="algorithm", values="score")  # noqa: PD010
    return wide.reindex(index=frame["instance"].unique(), columns=frame["algorithm"].unique())


def is_csv(path: Path) -> bool:
    """Return whether a path is read as CSV."""
    return path.suffix not in {".json", ".jsonl"} and not path.is_dir()


def _files(path: Path) -> list[Path]:
    """Return the files of scores in a folder: the latest of each task and model, or one per model."""
    if not path.is_dir():
        return [path]
    samples = [file for file in sorted(path.rglob("*.jsonl")) if _SAMPLES.fullmatch(file.name)]
    latest = {(file.parent, _task_of(file)): file for file in samples}
    files = [file for file in sorted(path.iterdir()) if file.suffix in {".csv", ".json", ".jsonl"}]
    if not latest and not files:
        raise ScoresError(
            f"{path}: no samples_*.jsonl in this folder (run lm_eval with --log_samples), and no "
            "other file of scores"
        )
    return [*latest.values()] or files


def _rows(path: Path, columns: Columns) -> Iterator[_Row]:
    """Yield the scores of a file."""
    if is_csv(path):
        yield from _of_csv(path, columns)
        return
    if columns._replace(score=None) != Columns():
        raise SettingError(f"{path} is not CSV: algorithm, data_set and fold are columns of CSV")
    records = _lines_of_json(path) if path.suffix == ".jsonl" else _results(path)
    yield from _of_records(path, records, columns.score)


def _of_records(path: Path, records: list[Record], score: str | None) -> Iterator[_Row]:
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


def _of_promptfoo(path: Path, records: list[Record], score: str | None) -> Iterator[_Row]:
    """Yield promptfoo's scores: of prompts and providers on tests, which are known by their vars."""
    who: dict[int, tuple[str, str]] = {}
    for record in records:
        prompt, provider = record.get("prompt") or {}, record.get("provider") or {}
        label = str(prompt.get("label") or prompt.get("raw") or "?")
        by = str(provider.get("label") or provider.get("id") or "?")
        who[record["promptIdx"]] = label, by
    twice = {column for column in who.values() if [*who.values()].count(column) > 1}
    larger = larger_is_better(score or "") is not False
    for record in sorted(records, key=lambda record: (record["testIdx"], record["promptIdx"])):
        never_came = record.get("failureReason") == 2
        found = (record.get("namedScores") or {}).get(score) if score else record.get("score")
        if found is None and score:  # asserted in some tests only
            continue
        where = f"{path}, test {record['testIdx']}"
        column, index = who[record["promptIdx"]], record["promptIdx"]
        more = f" (column {index})" if column in twice else ""
        number = math.nan if never_came else _number(found, "score", where)
        yield _Row((*column, more), _test_of(record), str(record["testIdx"]), number, larger)


def _test_of(record: Record) -> str | None:
    """Return what a record says of its test, by its vars or else its case; None if nothing."""
    test = record.get("testCase") or {}
    given = record.get("vars") or test.get("vars") or {}
    said: Record = {k: v for k, v in given.items() if not k.startswith("_") and k != "sessionId"}
    said = said or {k: test[k] for k in ("description", "assert") if test.get(k)}
    return json.dumps(said, sort_keys=True) if said else None


def _short_names(labels: set[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return names of prompts with providers, without what all have in common."""
    if not labels:
        return {}
    prompts, providers, _ = (set(part) for part in zip(*labels, strict=True))
    names: dict[tuple[str, ...], str] = {}
    for prompt, provider, more in labels:
        both = f"[{provider}] {prompt}" if len(providers) > 1 else prompt
        name = provider if len(prompts) == 1 < len(providers) else both
        names[prompt, provider, more] = name + more
    return names


def _task_of(path: Path) -> str:
    """Return the task of a file of samples."""
    match = _SAMPLES.fullmatch(path.name)
    return match[1] if match else path.stem.removeprefix("samples_")


def _of_lm_eval(path: Path, records: list[Record], score: str | None) -> Iterator[_Row]:
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
    larger = _said_of(path, task, metric)
    for record in records:
        if record["filter"] == by:
            name = f"{task}/{record['doc_id']}"
            number = _number(record.get(metric), metric, f"{path}, doc_id {record['doc_id']}")
            doc = record.get("doc_hash") or record.get("doc")
            item = f"{task}/{json.dumps(doc, sort_keys=True)}" if doc else None
            yield _Row(model, item, name, number, larger)


def _said_of(path: Path, task: str, metric: str) -> bool | None:
    """Return whether larger is better, by the results of lm_eval beside samples, or the name."""
    for results in sorted(path.parent.glob("results*.json"), reverse=True):
        document = _parsed(_text(results), str(results))
        said = document.get("higher_is_better") if isinstance(document, dict) else None
        of_task = said.get(task) if isinstance(said, dict) else None
        larger = of_task.get(metric) if isinstance(of_task, dict) else None
        if isinstance(larger, bool):
            return larger
    return larger_is_better(metric)


def _number(value: Any, name: str, where: str) -> float:
    """Return a score; ScoresError if it is no number."""
    if isinstance(value, bool) or is_real(value):
        return float(value)
    raise ScoresError(f"{where}: {name} is {reprlib.repr(value)}, not a number")


def _of_csv(path: Path, columns: Columns) -> Iterator[_Row]:
    """Yield the scores of a CSV file, means over folds."""
    table, roles, notes = read_csv(path).labelled(columns)
    for note in notes:
        warn(f"{path}: {note}")
    found = tables.read_scores(table, roles, maximize=False, least=1)
    named = roles.data_set is not None
    only = found.algorithms[0] if len(found.algorithms) == 1 else ""  # a file of one model
    larger = larger_is_better(roles.score or only)
    for algorithm, column in zip(found.algorithms, found.costs.T.tolist(), strict=True):
        for name, value in zip(found.data_sets, column, strict=True):
            yield _Row(algorithm, name if named else None, name, value, larger)


class CsvTable(NamedTuple):
    """A CSV file, whose columns of numbers are numbers."""

    table: pd.DataFrame
    texts: dict[str, Sequence[str]]  # its columns as they stand in the file
    indexed: bool  # whether an index without a name stood before it
    path: Path
    delimiter: str

    def labelled(
        self, given: Columns, *, paired: bool = True
    ) -> tuple[pd.DataFrame, Columns, list[str]]:
        """Return the table with labels as in the file (1.10 is not 1.1), which they are, and notes.

        ScoresError names a score that may have thousands, such as 1,234.
        """
        asked = given
        if paired and (ids := numbered(self.table, given, counted=not self.indexed)):
            given = given._replace(data_set=ids)
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

    The delimiter is the one of comma, semicolon and tab that gives the header most fields. Numbers
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
