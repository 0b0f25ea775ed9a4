"""Tables of scores as users have them: wide or long, with folds, with gaps."""

from __future__ import annotations

import itertools
import math
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from racer._checks import counted
from racer._numerics import as_costs, with_ties
from racer.comparison.columns import (
    ALGORITHM,
    DATA_SET,
    FOLD,
    METRICS,
    STATUS,
    Columns,
    called,
    column_notes,
    is_text,
    is_too_large,
    may_label,
    number_in,
    recognised,
    repeats,
    row_numbers,
)
from racer.comparison.input_notes import input_notes
from racer.comparison.votes import LEFT_OUT, VOTES, of_votes
from racer.direction import LARGER_IS_BETTER, Direction, larger_is_better
from racer.errors import ScoresError
from racer.stats._likelihoods import median_of_runs
from racer.stats.wins import over_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_NUMBERS = (Real, Decimal, np.bool_)
# columns of spreads, of extremes as W&B adds them, and of parameters as Optuna and MLflow
_SPREAD = re.compile(r"(?i)(?<![^\W_])(std(dev|err)?|stdev|iqr|variance)(?![^\W_])|__(min|max)$")
_PARAMETER = re.compile(r"(params?|config|(user|system)_attrs)[_.]")
_FAILURE = re.compile(r"(?i)time.?out|mem.?out|oom|fail|error|crash|abort|kill|unknown")


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of K algorithms on n data sets as costs: smaller is better."""

    algorithms: tuple[str, ...]
    data_sets: tuple[str, ...]
    costs: NDArray[np.float64]  # (n, K), over folds; NaN where unknown, inf where it failed
    runs: NDArray[np.float64]  # (n, r, K), the costs as given, by fold; r = 1 without folds
    n_uneven: int  # cells with fewer folds than another algorithm has on the same data set
    over_folds: str = "average"  # or "median"
    notes: tuple[str, ...] = ()  # on how the table was read
    direction: Direction = field(kw_only=True)  # of the scores as given
    votes: tuple[tuple[str, str, float, float], ...] = ()  # of which the costs are means

    def by_medians(self) -> Scores:
        """Return the same scores with medians over folds as costs."""
        medians = median_of_runs(self.runs)[:, 0]
        return replace(self, costs=with_ties(medians), over_folds="median")

    @property
    def n_folds(self) -> int:
        """Folds per cell at most."""
        return int(self.runs.shape[1])

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which cells are known, shape (n, K)."""
        return np.asarray(~np.isnan(self.costs))

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which data sets have all algorithms, shape (n,)."""
        return np.asarray(self.known.all(axis=1))

    @property
    def n_missing(self) -> int:
        """Cells without a score."""
        return int((~self.known).sum())

    @property
    def n_failed(self) -> int:
        """Cells whose cost is infinite."""
        return int(np.isposinf(self.costs).sum())


def read_scores(frame: Any, columns: Columns, *, maximize: bool | None, least: int = 2) -> Scores:
    """Return a wide (n, K) or long table of scores as costs; the only place that negates them.

    `least`: how many algorithms it must have.
    """
    frame, levels, said = _plain(_as_frame(frame))
    notes = []
    index = row_numbers(frame, columns, levels)
    if index is not None:
        notes.append(f"Column {index!r} numbers the rows and is not an algorithm.")
        rest, others = frame.drop(columns=index), [name for name in levels if name != index]
        if recognised(rest, columns, levels=others).data_set is None:
            columns = columns._replace(data_set=index)
        else:
            frame, levels = rest, others
    found = recognised(frame, columns, levels=levels)
    for level in (name for name in levels if name not in found):
        notes.append(f"Level {level!r} of the index is not used.")
        frame = frame.drop(columns=level)
    if found[:3] == (None, None, None):
        frame, found = _by_index(frame, found)
    notes += column_notes(frame, columns, found, levels)
    wide = _widened(frame, found) if found.algorithm is not None else _labelled(frame, found)
    values = wide.to_numpy(dtype=np.float64)
    by_format = said.get(LARGER_IS_BETTER)
    direction = Direction.of(metric_of(frame, found), maximize, by_format=by_format, values=values)
    scores = _scores(wide, direction, least=least)
    notes += input_notes(scores.runs, scores.data_sets, maximize=direction.maximize)
    if left_out := said.get(LEFT_OUT):
        notes.append(f"{counted(left_out, 'vote')} without a winner or a tie left out.")
    return replace(scores, notes=tuple(notes), votes=tuple(said.get(VOTES, ())))


def metric_of(frame: pd.DataFrame, found: Columns) -> str | None:
    """Return the metric's name: a column of metrics', if the scores' column has no direction."""
    for name in called(frame, METRICS, found) if found.algorithm is not None else ():
        if larger_is_better(str(found.score)) is None and is_text(frame[name]):
            said = {str(value): larger_is_better(str(value)) for value in frame[name].dropna()}
            return next(iter(said)) if len({*said.values()}) == 1 else ", ".join(said)
    return found.score


def _as_frame(scores: Any) -> pd.DataFrame:
    """Return the scores as a table; ScoresError with advice if they cannot be read as one."""
    if isinstance(scores, Mapping) and "mean_fit_time" in scores:  # cv_results_ of scikit-learn
        scores = pd.DataFrame(scores)
    if isinstance(scores, pd.DataFrame):
        return of_votes(of_search(_without_blanks(scores)))
    if isinstance(scores, Mapping):
        raise ScoresError("scores is a dict: give pandas.DataFrame(scores)")
    if isinstance(scores, str) or hasattr(scores, "__fspath__"):
        raise ScoresError(
            f"scores={scores!r} is a path: give pandas.read_csv(path), or use the command line, "
            "racer compare FILE"
        )
    names = getattr(scores, "column_names", getattr(scores, "columns", None))
    is_masked = any(isinstance(part, np.ma.MaskedArray) for part in _parts(scores))
    try:
        table = np.ma.array(scores) if is_masked else np.asarray(scores)
    except ValueError:
        raise ScoresError(
            "scores has rows of different lengths: give each data set a score of each algorithm, "
            "NaN where there is none"
        ) from None
    if table.ndim != 2:
        raise ScoresError(
            f"scores of shape {table.shape}: give a DataFrame, or data sets x algorithms"
        )
    try:
        if names is None:
            return pd.DataFrame(table)
        # of polars, Arrow ..: one array has no types of columns
        columns = map(list, table.T)
        return pd.DataFrame({name: [*c] for name, c in zip(names, columns, strict=True)})
    except OverflowError:  # of pandas before 3: later a column is named
        raise ScoresError("scores has an integer too large for a float in some column") from None


def of_search(frame: pd.DataFrame) -> pd.DataFrame:
    """Return results of a scikit-learn search, a row per candidate, as a row per score, else itself.

    Columns: model, split, and the score of each scorer, larger is better.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name in map(str, frame if "params" in frame else ()):
        if match := re.fullmatch(r"(split\d+)_test_(.+)", name):
            for params, value in zip(frame["params"], frame[name], strict=True):
                rows.setdefault((str(params), match[1]), {})[match[2]] = value
    if not rows:
        return frame
    table = type(frame).from_dict(rows, orient="index").rename_axis(["model", "split"])
    table.attrs = {LARGER_IS_BETTER: True}
    return table.reset_index()


def _without_blanks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the empty columns, and below names the empty rows, that Excel leaves."""
    unnamed = [str(name).startswith("Unnamed: ") for name in frame.columns]
    frame = frame.loc[:, ~(frame.isna().all().to_numpy(dtype=bool) & np.array(unnamed, dtype=bool))]
    is_named = any(is_text(frame.iloc[:, place]) for place in range(frame.shape[1]))
    return frame.dropna(how="all") if is_named else frame


def _parts(scores: Any) -> list[Any]:
    """Return the scores, and their rows if they are in a list."""
    return [scores, *scores] if isinstance(scores, list | tuple) else [scores]


def _by_index(frame: pd.DataFrame, found: Columns) -> tuple[pd.DataFrame, Columns]:
    """Name the data sets of a wide table by an index without a name, if it is not 0, 1, 2, ..

    ScoresError if it has several levels, or a label twice.
    """
    index = frame.index
    if index.nlevels > 1:
        raise ScoresError(
            f"the index has {index.nlevels} levels without names: name them, "
            'scores.rename_axis(index=["dataset", "fold"]), or leave them out'
        )
    if list(index) == list(range(len(frame))):
        return frame, found
    if index.has_duplicates:
        label = _label(index[index.duplicated()][0])
        raise ScoresError(
            f"more than one row for data set {reprlib.repr(label)} of the index: if rows are data sets of their "
            "own, give scores.reset_index(drop=True); if they are folds or runs, a column of data "
            "sets and one of folds"
        )
    name = _unused(frame)
    return frame.reset_index(names=name), found._replace(data_set=name)


def _unused(frame: pd.DataFrame) -> str:
    """Return a name for an index that has none, which no column has."""
    return next(name for n in itertools.count() if (name := "data set" + " " * n) not in frame)


def _plain(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str], Mapping[Any, Any]]:
    """Return the table with strings as names of its columns, the named levels of its index, and attrs.

    These levels become its first columns.
    """
    said, frame.attrs = frame.attrs, {}  # pandas copies them at each step
    frame = frame.set_axis(_names_of(frame.columns), axis="columns")
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise ScoresError(f"column {repeated[0]!r} occurs twice: give each algorithm its own name")
    levels = [None if name is None else str(name) for name in frame.index.names]
    named = [name for name in levels if name is not None]
    if named:
        overlap = [name for name in named if name in frame.columns]
        if overlap:
            raise ScoresError(f"{overlap[0]!r} is both a column and a level of the index: drop one")
        if len({*named}) < len(named):
            raise ScoresError(f"levels of the index share a name, {named}: give each its own")
        frame = frame.set_axis(frame.index.set_names(levels)).reset_index(level=named)
    texts = any(isinstance(label, str) for label in frame.index)
    known = any(may_label(frame[name]) for name in called(frame, DATA_SET))
    if not frame.empty and not named and texts and not known:
        named = [_unused(frame)]
        frame = frame.reset_index(names=named)
    if frame.empty:
        raise ScoresError(f"the table is empty: {len(frame)} rows, {frame.shape[1]} columns")
    return frame, named, said


def _names_of(columns: pd.Index[Any]) -> list[str]:
    """Return the names of columns; of several levels, as in a pivoted table, the parts that differ.

    A column that was a level of the index has a name in one level only.
    """
    if columns.nlevels == 1:
        return [str(name) for name in columns]
    own = [[part for part in label if part != ""] for label in columns]
    pivoted = [label for label, parts in zip(columns, own, strict=True) if len(parts) != 1]
    levels = [
        level for level in range(columns.nlevels) if len({label[level] for label in pivoted}) > 1
    ]
    names = []
    for label, parts in zip(columns, own, strict=True):
        shown = parts if len(parts) == 1 else [label[level] for level in levels or [0]]
        names.append(str(shown[0] if len(shown) == 1 else tuple(shown)))
    return names


def _label(value: object) -> str:
    """Return a label as text: numbers that are whole without a decimal point."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _check_labels(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise if a column of labels has a gap."""
    for name in names:
        if frame[name].isna().any():
            row = int(np.flatnonzero(frame[name].isna())[0])
            raise ScoresError(f"column {name!r} has no value in row {row}: every score needs one")


def _numbers(
    column: pd.Series[Any], name: str, data_sets: Sequence[object] | None
) -> NDArray[np.float64]:
    """Return a column of scores; text, times and complex numbers are refused."""
    values = np.full(len(column), np.nan)
    for row, value in enumerate(column):
        if pd.api.types.is_scalar(value) and pd.isna(value):
            continue
        if not isinstance(value, _NUMBERS):
            raise _not_a_number(column, name, data_sets)
        try:
            values[row] = number = float(value)
        except OverflowError:
            number = math.inf
        if math.isinf(number) and number != value:  # a large Decimal becomes inf
            raise ScoresError(f"column {name!r} holds a number too large in row {row}")
    return values


def _not_a_number(
    column: pd.Series[Any], name: str, data_sets: Sequence[object] | None
) -> ScoresError:
    """Return the error for a column; it names the first value that does not even look like a number."""
    others = [
        (row, value)
        for row, value in enumerate(column)
        if not isinstance(value, _NUMBERS)
        and not (pd.api.types.is_scalar(value) and pd.isna(value))
    ]
    worst = (p for p in others if not isinstance(p[1], str) or number_in(p[1]) is None)
    row, value = next(worst, others[0])
    if data_sets is None:
        where, known = "", f"data_set={name!r}, or for a long table algorithm=.., score=.."
        advice = f"; remove the column if it holds no scores, or name its kind ({known})"
    else:
        where = f" (data set {reprlib.repr(_label(data_sets[row]))})"
        advice = "; remove the column if it holds no scores"
    wrong = "too large" if isinstance(value, str) and is_too_large(value) else "not a number"
    return ScoresError(
        f"column {name!r} holds {reprlib.repr(value)} in row {row}{where}, which is {wrong}: correct it; if "
        "the run failed, or ran out of time or memory, write inf (-inf where larger scores are "
        f"better); leave it empty only if nothing was run{advice}"
    )


def _widened(frame: pd.DataFrame, found: Columns) -> pd.DataFrame:
    """Turn a long table into a wide one: index (data set, fold), a column per algorithm."""
    data_set, algorithm, score = (str(found[place]) for place in (0, 1, 3))
    fold = found.fold or "\0fold"
    keys = [data_set, algorithm] if found.fold is None else [data_set, algorithm, fold]
    _check_labels(frame, keys)
    labels = pd.DataFrame({name: [_label(value) for value in frame[name]] for name in keys})
    again = labels[labels.duplicated()]
    if len(again):
        where = ", ".join(f"{name} {reprlib.repr(again.iloc[0][name])}" for name in keys)
        raise ScoresError(f"more than one score for {where}: {_remedy(frame, keys, found)}")
    values = _numbers(frame[score], score, list(frame[data_set]))
    for name in called(frame, STATUS, found):
        told = [bool(_FAILURE.search(str(text))) for text in frame[name].fillna("ok")]
        if is_text(frame[name]) and (np.isfinite(values) & np.array(told)).any():
            raise ScoresError(
                f"column {name!r} says of some runs that they failed, whose scores are numbers: write "
                "inf there (-inf where larger is better), or leave out the column if the scores "
                "have a penalty"
            )
    frame = labels.assign(**{score: values})
    if found.fold is None:
        frame = frame.assign(**{fold: "0"})
    wide = frame.set_index([data_set, fold, algorithm])[score].unstack()  # noqa: PD010
    order = list(dict.fromkeys(labels[algorithm]))
    rows = list(dict.fromkeys(zip(frame[data_set], frame[fold], strict=True)))
    return wide.reindex(index=rows, columns=order)


def _labelled(frame: pd.DataFrame, found: Columns) -> pd.DataFrame:
    """Give a wide table its index (data set, fold)."""
    keys = [name for name in (found.data_set, found.fold) if name is not None]
    _check_labels(frame, keys)
    data_sets = range(len(frame)) if found.data_set is None else frame[found.data_set]
    if found.data_set is None and found.fold is not None:
        raise ScoresError(
            f"folds in column {found.fold!r}, and no data sets: name theirs, data_set=.."
        )
    folds = ["0"] * len(frame) if found.fold is None else frame[found.fold]
    labels = pd.MultiIndex.from_arrays([[_label(d) for d in data_sets], [_label(f) for f in folds]])
    again = labels[labels.duplicated()]
    if len(again):
        fold = f", fold {reprlib.repr(again[0][1])}" if found.fold else ""
        remedy = _remedy(frame, keys, found)
        raise ScoresError(
            f"more than one row for data set {reprlib.repr(again[0][0])}{fold}: {remedy}"
        )
    wide = frame.drop(columns=keys)
    for name in map(str, wide):
        bare = {_SPREAD.sub("", name).strip("_"), _SPREAD.sub("mean", name)} - {name}
        if _PARAMETER.match(name) or bare & {*map(str, wide)}:
            raise ScoresError(
                f"column {name!r} is a parameter, or a spread or an extreme of another one, and no "
                "algorithm: keep a column of scores for each algorithm, or a row for each score, "
                "with columns of instances and algorithms"
            )
    named = None if found.data_set is None else list(data_sets)
    columns = {name: _numbers(wide[name], name, named) for name in map(str, wide)}
    return pd.DataFrame(columns, index=labels)


def _remedy(frame: pd.DataFrame, keys: Sequence[str], found: Columns) -> str:
    """Return advice for rows with the same labels, by the column that tells them apart."""
    rest = [name for name in map(str, frame) if name not in found]
    texts = [name for name in rest if is_text(frame[name])]
    # whole numbers of which each comes again, or they may be scores
    whole = [
        n for n in rest if may_label(frame[n]) and frame[n].astype(str).value_counts().min() > 1
    ]
    apart = [
        name
        for name in dict.fromkeys([*texts, *whole])
        if repeats(frame, [name]) and not repeats(frame, [*keys, name])
    ]
    if not apart:
        numbers = called(frame, ALGORITHM, found) if found.algorithm is None else []
        named = [
            f"; if the numbers in column {n!r} name algorithms, algorithm={n!r}" for n in numbers
        ]
        folds = "".join(f"{n!r}" for n in called(frame, FOLD, found)[:1])
        how = f"fold={folds}" if folds else "number them in a column, fold=.."
        hint = "" if found.fold else f"if they are folds or runs, {how}; "
        return f"{hint}otherwise leave one of them{''.join(named)}"
    name = apart[0]
    values = [*dict.fromkeys(map(_label, frame[name]))]
    shown = ", ".join(map(repr, values[:3])) + (" .." if len(values) > 3 else "")
    advice = [f"keep the rows of one of its values ({shown}), without this column"]
    if found.algorithm is None and len(rest) == 2 and [name] == texts:  # beside one of scores
        both = [*keys[:1], name] if not called(frame, DATA_SET, [name]) else [name]
        advice.insert(
            0, " or ".join(f"algorithm={n!r}" for n in both) + " if that names algorithms"
        )
    elif found.algorithm is None and [name] == texts:
        advice.insert(0, f"algorithm={name!r} if that names algorithms, and score=..")
    if called(frame[[name]], (*ALGORITHM, *DATA_SET)):
        advice.append(f"join it to column {keys[0]!r} if one name needs both")
    elif not found.fold and len({re.sub(r"[\d.]+", "", value) for value in values}) == 1:
        advice.append(f"fold={name!r} if they are folds or runs")
    return f"column {name!r} tells them apart: {', or '.join(advice)}"


def _scores(wide: pd.DataFrame, direction: Direction, *, least: int) -> Scores:
    """Return the scores of a table with index (data set, fold) and a column per algorithm."""
    algorithms = tuple(str(name) for name in wide.columns)
    if len(algorithms) < least:
        raise ScoresError(
            f"{len(algorithms)} algorithm(s) ({', '.join(algorithms)}): give at least 2 to compare"
        )
    places: dict[str, list[int]] = {}
    for row, (data_set, _) in enumerate(wide.index):
        places.setdefault(data_set, []).append(row)
    values = wide.to_numpy(dtype=np.float64)
    if np.isnan(values).all():
        raise ScoresError("there is no score in the table: every cell is missing")
    for name, column in zip(algorithms, values.T, strict=True):
        if np.isnan(column).all():
            raise ScoresError(f"algorithm {name!r} has no score at all: leave it out")
    values = as_costs(values, maximize=direction.maximize)
    runs = np.full((len(places), max(map(len, places.values())), len(algorithms)), np.nan)
    for place, rows in enumerate(places.values()):
        runs[place, : len(rows)] = values[rows]
    opposed = np.isposinf(runs).any(axis=1) & np.isneginf(runs).any(axis=1)
    for place, column in np.argwhere(opposed)[:1].tolist():
        raise ScoresError(
            f"algorithm {algorithms[column]!r} has inf and -inf among its folds on data set "
            f"{reprlib.repr(list(places)[place])}: there is no mean; correct one of them"
        )
    known = (~np.isnan(runs)).sum(axis=1)
    uneven = (known > 0) & (known < known.max(axis=1, keepdims=True))
    costs = with_ties(over_runs(runs.swapaxes(0, 1)).mean)
    return Scores(algorithms, tuple(places), costs, runs, int(uneven.sum()), direction=direction)
