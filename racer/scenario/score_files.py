"""Files of scores: CSV, records, results of promptfoo and inspect_ai, samples of lm_eval."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from racer._files import as_path
from racer.comparison import scores as tables
from racer.comparison.columns import Columns
from racer.comparison.votes import VOTES
from racer.direction import LARGER_IS_BETTER, larger_is_better
from racer.errors import ScoresError, SettingError, warn
from racer.scenario.csv_files import CsvTable, as_table, read_csv
from racer.scenario.tool_results import (
    SAMPLES,
    Row,
    content_of,
    is_of_tool,
    rows_of,
    short_names,
    task_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import StrPath

    Record = dict[str, Any]

__all__ = ["read_scores", "score_table"]

COLUMNS = ("algorithm", "instance", "score")
_JSON = {".json", ".jsonl", ".eval"}


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
        Files or folders, whose scores are put together by the items that records name. CSV:
        wide or long, as for ``racer compare``; folds are averaged; numbers that are taken for
        labels are a RacerWarning. ``.json`` or ``.jsonl`` of ``promptfoo eval -o``: an algorithm is
        a prompt with a provider, an instance a test, known by its vars, whose repeats are averaged;
        an answer that never came (an error of the provider) is a missing score.
        ``samples_*.jsonl`` of ``lm_eval --log_samples``, or the folder that holds them: an
        algorithm is the folder of a model, an instance ``task/doc_id``, known by its doc_hash; of
        several runs of a task by a model, the latest counts. ``.eval`` or ``.json`` logs of
        inspect_ai: an algorithm is a model, an instance a sample, known by its id (a number with
        its input), whose epochs are averaged. Other JSON, a list of records: as a table of CSV.
        Files that do not name their algorithm, one each, give it their own name.
    score : str, optional
        Which score, where there are several: a column of a long table; a name of promptfoo's
        ``namedScores``, by default its score; a metric of lm-evaluation-harness, if need be with
        its filter, ``"exact_match,strict-match"``; a scorer of inspect_ai.
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
        A file that cannot be read, has no such format or score; a score twice; larger scores are
        better in some of the files, and smaller in others.

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
    frame = _named(pd.DataFrame(rows, columns=["file", *Row._fields]), files)
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
    names = short_names({who for who in rows["algorithm"] if isinstance(who, tuple)})
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
    """Return names of files, or of the folders of samples: the parts that are not shared."""
    own = [f.parent if SAMPLES.fullmatch(f.name) else f.with_suffix("") for f in files]
    root = os.path.commonpath([file.absolute().parent for file in own])
    return [str(file.absolute().relative_to(root)) for file in own]


def score_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return scores as a table of instances x algorithms, in their order; NaN where unknown."""
    wide = frame.pivot(index="instance", columns="algorithm", values="score")  # noqa: PD010
    return wide.reindex(index=frame["instance"].unique(), columns=frame["algorithm"].unique())


def table_in(path: Path) -> CsvTable | None:
    """Return the table in a file, CSV or a list of records; None of the results of a tool."""
    content = None if path.is_dir() else _content(path)
    return content if isinstance(content, CsvTable) else None


def _content(path: Path) -> CsvTable | list[Record] | Record:
    """Return the table in a file, or the output of a tool."""
    if path.suffix not in _JSON:
        return read_csv(path)
    content = content_of(path)
    if isinstance(content, dict) or is_of_tool(content):
        return content
    return _table_of(content, path)


def _files(path: Path) -> list[Path]:
    """Return the files of scores in a folder: the latest of each task and model, or one per model."""
    if not path.is_dir():
        return [path]
    samples = [file for file in sorted(path.rglob("*.jsonl")) if SAMPLES.fullmatch(file.name)]
    # names end with the time of a run: sorted, the latest run of a task replaces the others
    latest = {(file.parent, task_of(file)): file for file in samples}
    files = [file for file in sorted(path.iterdir()) if file.suffix in {".csv", *_JSON}]
    if not latest and not files:
        raise ScoresError(
            f"{path}: no samples_*.jsonl in this folder (run lm_eval with --log_samples), and no "
            "other file of scores"
        )
    return [*latest.values()] or files


def _rows(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the scores of a file."""
    content = _content(path)
    if isinstance(content, CsvTable):
        yield from _of_table(path, content, columns)
        return
    if columns._replace(score=None) != Columns():
        raise SettingError(f"{path} is no table: algorithm, data_set and fold are its columns")
    yield from rows_of(path, content, columns.score)


def _table_of(records: list[Record], path: Path) -> CsvTable:
    """Return records of single values as a table; nested fields are left out."""
    rows = [{k: v for k, v in one.items() if not isinstance(v, dict)} for one in records]
    names = [*dict.fromkeys(name for row in rows for name in row)]
    fields = [["" if row.get(name) is None else str(row[name]) for row in rows] for name in names]
    return as_table(names, [*fields], path, "\0")


def _of_table(path: Path, read: CsvTable, columns: Columns) -> Iterator[Row]:
    """Yield the scores of a table, means over folds."""
    if VOTES in read.table.attrs:
        raise ScoresError(
            f"{path} has votes on pairs, and no scores of each algorithm: racer compare {path.name}"
        )
    table, roles, notes = read.labelled(columns)
    for note in notes:
        warn(f"{path}: {note}")
    found = tables.read_scores(table, roles, maximize=False, least=1)
    named = roles.data_set is not None
    only = found.algorithms[0] if len(found.algorithms) == 1 else ""  # a file of one model
    metric = tables.metric_of(table, roles) or only
    larger = table.attrs.get(LARGER_IS_BETTER, larger_is_better(metric, found.costs))
    for algorithm, column in zip(found.algorithms, found.costs.T.tolist(), strict=True):
        for name, value in zip(found.data_sets, column, strict=True):
            yield Row(algorithm, name if named else None, name, value, larger)
