"""Tables as users have them: what is read as what, and what is refused."""

import io
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from racer.comparison.columns import Columns
from racer.comparison.scores import read_scores
from racer.errors import ScoresError, SettingError


def read(frame, *, maximize=False, **columns):
    return read_scores(frame, Columns(**columns), maximize=maximize)


WIDE = pd.DataFrame({"db": ["x", "y", "z"], "A": [1.0, 2.0, 3.0], "B": [2.0, np.nan, 1.0]})
FOLDS = pd.DataFrame(
    [(d, f, a, v) for d in "xy" for f in (1, 2) for a, v in (("A", f), ("B", f + ord(d) - 119))],
    columns=["Data set", "fold", "classifier", "accuracy"],
)


def same(first, second):
    assert first.algorithms == second.algorithms
    assert first.data_sets == second.data_sets
    np.testing.assert_array_equal(first.costs, second.costs)


def test_a_wide_table():
    scores = read(WIDE)
    assert (scores.algorithms, scores.data_sets) == (("A", "B"), ("x", "y", "z"))
    np.testing.assert_array_equal(scores.costs, [[1, 2], [2, np.nan], [3, 1]])
    assert (scores.n_missing, scores.n_folds, scores.n_uneven) == (1, 1, 0)
    assert scores.complete.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "frame",
    [
        WIDE.set_index("db"),
        WIDE.set_index(WIDE["db"].rename(None)).drop(columns="db"),
        WIDE.rename(columns={"db": "whatever"}),
        WIDE.astype({"db": "category"}),
        WIDE.convert_dtypes(),
        WIDE.melt("db", var_name="Method", value_name="error").dropna(),
    ],
)
def test_other_forms_of_the_same_table(frame):
    same(read(frame), read(WIDE))


@pytest.mark.parametrize("kind", [Fraction, Decimal, lambda n: Fraction(n, 3)])
def test_numbers_of_any_kind_are_scores(kind):
    values = [kind(n) for n in (3, 1, 2)]
    for first in (values, [values[0], 1.5, values[2]], [None, *values[1:]]):
        for name in ("tree", "model"):  # a usual name of the column of algorithms
            frame = pd.DataFrame({name: pd.Series(first, dtype=object), "svm": [1.0, 2.0, 3.0]})
            scores = read(frame)
            assert scores.algorithms == (name, "svm")
            assert scores.costs[2, 0] == float(values[2])


DAYS = [date(2026, 1, day) for day in (1, 2, 3)]


@pytest.mark.parametrize(
    "days",
    [
        DAYS,
        pd.to_datetime(DAYS),
        pd.Series(["x", "y", "z"], dtype="string"),
        pd.Categorical(pd.to_datetime(DAYS)),
    ],
)
def test_dates_are_names(days):
    scores = read(pd.DataFrame({"day": days, "A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 1.0]}))
    assert scores.data_sets == tuple(map(str, days))
    assert scores.algorithms == ("A", "B")


class OtherFrame:
    """A table of another library: names, and all its values as one array."""

    def __init__(self, frame, names):
        setattr(self, names, [*frame])
        self.columns = getattr(self, "columns", [np.zeros(3)] * frame.shape[1])
        self.array = frame.to_numpy(dtype=object)

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("names", ["columns", "column_names"])  # polars, Arrow
def test_frames_of_other_libraries_keep_their_names(names):
    same(read(OtherFrame(WIDE, names)), read(WIDE))
    same(read(OtherFrame(FOLDS, names)), read(FOLDS))


def test_what_excel_leaves_empty_is_left_out():
    empty = pd.DataFrame([[np.nan] * 3], columns=[*WIDE])
    table = pd.concat([WIDE[:1], empty, WIDE[1:], empty, empty], ignore_index=True)
    same(read(table.assign(**{"Unnamed: 3": np.nan})), read(WIDE))
    assert len(read(pd.DataFrame({"A": [1, np.nan, 2], "B": [2, np.nan, 3]})).data_sets) == 3


@pytest.mark.parametrize("value", [[1.0, 2.0], (1.0, 2.0), {"a": 1.0}, np.ones(2)])
def test_lists_among_the_scores_are_refused(value):
    frame = pd.DataFrame({"A": [value] * 3, "B": [1.0, 2.0, 3.0], "C": [2.0, 1.0, 3.0]})
    with pytest.raises(ScoresError, match=r"column 'A' holds .* in row 0, which is not a number"):
        read(frame)


def test_data_sets_without_names_are_numbered():
    assert read(WIDE[["A", "B"]]).data_sets == ("0", "1", "2")
    assert read([[1, 2], [3, 4]]).algorithms == ("0", "1")


def test_larger_is_better_is_turned_round_once():
    np.testing.assert_array_equal(read(WIDE, maximize=True).costs, -read(WIDE).costs)


def test_folds_are_kept_and_averaged():
    scores = read(FOLDS)
    assert scores.n_folds == 2
    np.testing.assert_array_equal(scores.runs[0], [[1, 2], [2, 3]])
    np.testing.assert_array_equal(scores.costs, [[1.5, 2.5], [1.5, 3.5]])
    wide = FOLDS.pivot_table(index=["Data set", "fold"], columns="classifier", values="accuracy")
    same(read(wide), scores)
    same(read(wide.reset_index()), scores)
    same(
        read(FOLDS.sample(frac=1.0, random_state=1).sort_values(["Data set", "classifier"])), scores
    )


def test_a_fold_that_one_algorithm_lacks_is_counted():
    scores = read(FOLDS.iloc[:-1])
    assert (scores.n_uneven, scores.n_missing) == (1, 0)
    assert scores.costs[1, 1] == 3.0


@pytest.mark.parametrize("name", ["id", "ID", "task_id", "openml-id", "TaskID", "dataset id"])
def test_a_first_column_of_ids_names_the_data_sets(name):
    frame = WIDE.assign(db=[3, 11, 7]).rename(columns={"db": name})
    assert read(frame).data_sets == ("3", "11", "7")
    assert read(frame).algorithms == ("A", "B")


def test_other_whole_numbers_in_a_data_frame_are_scores():
    frame = WIDE.assign(db=[3, 11, 7]).rename(columns={"db": "grid"})
    assert read(frame).algorithms == ("grid", "A", "B")


def test_what_names_the_data_sets_is_not_proposed_twice():
    frame = WIDE.assign(notes=["fine", "odd", "fine"])
    for columns in ({"data_set": "db"}, {}):
        with pytest.raises(ScoresError, match="column 'notes' holds 'fine'") as caught:
            read(frame, **columns)
        assert "data_set=" not in str(caught.value)
    with pytest.raises(ScoresError, match="data_set='notes'"):
        read(frame[["A", "B", "notes"]])


@pytest.mark.parametrize("name", ["SEED", "run", "repeat", "block", "data", "Task ID", "fold_no"])
@pytest.mark.parametrize("values", [[0.25, 0.5, 0.75], [0.5, 0.5, 0.7], [1.5, 2, 3]])
def test_a_column_of_decimals_is_an_algorithm_whatever_its_name(name, values):
    for table in (WIDE.assign(A=values), WIDE[["A", "B"]].assign(A=values)):
        named = table.rename(columns={"A": name})
        for order in ([*named], [*named][::-1]):
            scores = read(named[order])
            assert {*scores.algorithms} == {name, "B"}
            assert scores.n_folds == 1
    unsure = WIDE.assign(A=["0.5", "timeout", "1.5"]).rename(columns={"A": name})
    with pytest.raises(ScoresError, match=rf"column '{name}' holds 'timeout'.* write inf"):
        read(unsure)


@pytest.mark.parametrize("name", ["SEED", "run", "block", "data"])
def test_whole_numbers_that_are_taken_for_labels_are_said(name):
    """Following the note, under another name the column is an algorithm."""
    table = WIDE.assign(A=[7, 8, 9], C=1.0).rename(columns={"A": name})
    table = table if name in {"SEED", "run"} else table[["B", name, "C"]]
    (note,) = (note for note in read(table).notes if repr(name) in note)
    assert note.endswith("is not an algorithm; were it one, rename it.")
    assert "A" in read(table.rename(columns={name: "A"})).algorithms


LONG = WIDE.melt("db", var_name="algorithm", value_name="score")
SWE = LONG.assign(dataset="lite", seed=1).rename(columns={"db": "instance_id"})


def test_the_column_that_tells_scores_apart_names_the_data_sets():
    same(read(SWE), read(WIDE))
    same(read(LONG.assign(language="en")), read(WIDE))  # text that is not needed
    numbers = pd.DataFrame({"task": list("xxyyzz"), "model": [1, 2] * 3, "score": [1.0] * 6})
    assert read(numbers).algorithms == ("1", "2")


METRICS = pd.concat([WIDE.assign(kind="acc"), WIDE.assign(kind="f1", A=0.0)])


@pytest.mark.parametrize(
    ("table", "advice", "follow"),
    [
        (
            METRICS,
            r"one of its values \('acc', 'f1'\), without this column$",
            lambda t: read(t[t.kind == "acc"].drop(columns="kind")),
        ),
        (
            pd.concat([WIDE.assign(lap=lap) for lap in (1, 2)]),
            "fold='lap' if they are folds",
            lambda t: read(t, fold="lap"),
        ),
        (
            pd.concat([WIDE, WIDE]),
            "number them in a column, fold=",
            lambda t: read(t.assign(k=[1, 1, 1, 2, 2, 2]), fold="k"),
        ),
        (
            pd.concat([LONG, LONG]).assign(provider=["p"] * 6 + ["q"] * 6),
            "keep .*'p', 'q'.* or join it to column 'db'",
            lambda t: read(t[t.provider == "p"]),
        ),
    ],
)
def test_advice_that_is_followed_leads_to_the_right_table(table, advice, follow):
    with pytest.raises(ScoresError, match=advice):
        read(table)
    found = follow(table)
    assert (found.algorithms, found.data_sets) == (("A", "B"), ("x", "y", "z"))
    np.testing.assert_array_equal(found.costs, read(WIDE).costs)


def test_what_is_equal_but_for_rounding_ties():
    scores = read(pd.DataFrame({"A": [0.1 + 0.2, 1.0], "B": [0.3, 1.0 + 1e-7]}))
    assert (scores.costs[:, 0] == scores.costs[:, 1]).tolist() == [True, False]


NAMED = pd.DataFrame({"A": [11.0, 2.0, 3.0], "B": [2.0, 2.0, 1.0]})


@pytest.mark.parametrize(
    "frame", [NAMED.reset_index(), pd.read_csv(io.StringIO(NAMED.to_csv()))], ids=["index", "csv"]
)
@pytest.mark.parametrize("name", [None, "db"])
def test_an_index_that_became_a_column_is_no_algorithm(frame, name):
    if name is not None:
        frame[name] = ["x", "y", "z"]
    scores = read(frame)
    assert scores.algorithms == ("A", "B")
    assert scores.data_sets == (("0", "1", "2") if name is None else ("x", "y", "z"))
    assert scores.notes == (
        f"Column {frame.columns[0]!r} numbers the rows and is not an algorithm.",
    )
    long = frame.melt(frame.columns[0], ["A", "B"], "algorithm", "value").reset_index()
    assert read(long, data_set=frame.columns[0]).algorithms == ("A", "B")


@pytest.mark.parametrize("level", ["dataset", "openml"])
@pytest.mark.parametrize("name", ["Unnamed: 0", "index"])
def test_nor_is_one_beside_an_index_with_a_name(level, name):
    frame = NAMED.reset_index(names=name).set_index(pd.Index(["x", "y", "z"], name=level))
    scores = read(frame)
    assert (scores.algorithms, scores.data_sets) == (("A", "B"), ("x", "y", "z"))
    assert scores.notes == (f"Column {name!r} numbers the rows and is not an algorithm.",)
    assert read(frame[[name, "A"]].assign(B=1.0), data_set=name).data_sets == ("0", "1", "2")


def test_a_column_called_index_can_be_one_if_the_user_says_so():
    assert read(NAMED.reset_index(), data_set="index").notes == ()


@pytest.mark.parametrize("label", ["mean", "Average", "avg.", "mean rank", "Std"])
def test_a_row_that_sums_up_is_doubted(label):
    frame = NAMED.copy()
    frame.loc[label] = [5.0, 2.0]
    assert read(frame).notes == (
        f"Row {label!r} counts as a data set: leave it out if it sums up others.",
    )
    assert read(frame.rename({label: "meaning"})).notes == ()


def test_a_table_wider_than_long_is_doubted():
    assert any("transpose the table" in note for note in read(NAMED.T).notes)
    assert not any("transpose the table" in note for note in read(NAMED).notes)


def test_decimals_of_a_database_are_numbers():
    decimals = WIDE.assign(**{n: WIDE[n].map(lambda x: Decimal(str(x))) for n in "AB"})
    same(read(decimals), read(WIDE))
    same(read(decimals.assign(B=WIDE["B"])), read(WIDE))
    long = decimals.rename(columns={"db": "name"}).melt("name", var_name="model")
    same(read(long), read(WIDE))
    same(read(decimals.assign(db=[Decimal(n) for n in (1, 2, 3)])), read(WIDE.assign(db=[1, 2, 3])))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(columns=["A", "B"]), "table is empty: 0 rows"),
        (np.ones(3), "give a DataFrame"),
        ([[1, 2], [1]], "rows of different lengths"),
        ({"A": [1, 2], "B": [2, 3]}, r"scores is a dict: give pandas\.DataFrame"),
        ("scores.csv", r"'scores.csv' is a path: give pandas\.read_csv"),
        (
            FOLDS.assign(accuracy=[np.inf, 1, -np.inf, *range(5)]),
            "algorithm 'A' has inf and -inf among its folds on data set 'x'",
        ),
        ([[1], [2]], r"1 algorithm\(s\) \(0\): give at least 2"),
        (WIDE.assign(A=["1", "2", "n/a"]), r"'1' in row 0 \(data set 'x'\), which is not a number"),
        (WIDE.assign(A=pd.date_range("2020", periods=3)), "column 'A' holds Timestamp"),
        (WIDE.assign(A=pd.Series([1, 2, 10**400], dtype=object)), "too large in row 2"),
        (WIDE.assign(A=[Decimal(1), Decimal("1e400"), 2]), "too large in row 1"),
        (WIDE.assign(A=["1", "?", "oops"]), r"column 'A' holds 'oops' in row 2 \(data set 'z'\)"),
        (FOLDS.assign(accuracy=["1"] * 7 + ["x"]), r"holds 'x' in row 7 \(data set 'y'\)"),
        (WIDE.assign(A=np.nan, B=np.nan), "every cell is missing"),
        (WIDE.assign(B=np.nan), "algorithm 'B' has no score at all: leave it out"),
        (WIDE.set_axis(["db", "A", "A"], axis=1), "column 'A' occurs twice"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "column '1' occurs twice"),
        (WIDE.assign(db=["x", "y", "x"]), "more than one row for data set 'x': if they are folds"),
        (
            FOLDS.drop(columns="fold").assign(classifier=[1, 2] * 4),
            "if the numbers in column 'classifier' name algorithms, algorithm='classifier'",
        ),
        (WIDE.assign(db=["x", None, "z"]), "column 'db' has no value in row 1"),
        (FOLDS.drop(columns="fold"), "more than one score for Data set 'x', classifier 'A': if"),
        (pd.concat([FOLDS, FOLDS]), "Data set 'x', fold '1', classifier 'A'|classifier 'A', fold"),
        (FOLDS.drop(columns="accuracy"), "nothing beside the labels"),
        (WIDE.assign(fold=[1, 2, 3]).drop(columns="db"), "folds in column 'fold', and no data"),
    ],
)
def test_what_cannot_be_read_is_said(frame, message):
    with pytest.raises(ScoresError, match=message):
        read(frame)


@pytest.mark.parametrize(
    ("columns", "kind", "message"),
    [
        ({"score": "auc"}, SettingError, "score='auc': there is no such column"),
        ({"score": "A"}, ScoresError, "no column of algorithms"),
        ({"algorithm": "db", "data_set": "db", "score": "A"}, SettingError, "twice"),
    ],
)
def test_columns_that_cannot_be(columns, kind, message):
    with pytest.raises(kind, match=message):
        read(WIDE, **columns)


def test_masked_scores_are_missing():
    costs = np.ma.masked_equal([[1, 2], [3, 999], [5, 4]], 999)
    for given in (costs, list(costs), costs.astype(object)):
        scores = read(given)
        np.testing.assert_array_equal(scores.costs, [[1, 2], [3, np.nan], [5, 4]])
        assert scores.n_missing == 1


@pytest.mark.parametrize(
    ("index", "named"),
    [
        ([31, 37, 44], ("31", "37", "44")),
        ([2, 0, 1], ("2", "0", "1")),
        (pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-01"]), None),
        ([0, 1, 2], ("0", "1", "2")),
    ],
)
def test_an_index_without_a_name_names_the_data_sets(index, named):
    scores = read(WIDE[["A", "B"]].set_index(pd.Index(index)))
    assert scores.data_sets == (tuple(map(str, index)) if named is None else named)
    assert scores.algorithms == ("A", "B")
    same(read(WIDE.set_index(pd.Index(index))), read(WIDE))  # has a column of data sets


@pytest.mark.parametrize("level", [0, 1])
def test_a_table_that_was_pivoted_has_columns_of_several_levels(level):
    wide = FOLDS.pivot(index=["Data set", "fold"], columns="classifier")  # noqa: PD010
    scores = read(wide.reset_index(col_level=level))
    same(scores, read(FOLDS))
    assert scores.n_folds == 2
    counts = FOLDS.groupby(["Data set", "classifier"]).agg({"accuracy": ["mean"]})
    assert read(counts.reset_index()).algorithms == ("A", "B")


def test_levels_in_which_columns_differ_are_kept():
    columns = pd.MultiIndex.from_tuples([("db", ""), ("a", 1), ("a", 2), ("b", 1)])
    scores = read(pd.DataFrame([["x", 1, 2, 3], ["y", 3, 2, 1]], columns=columns))
    assert scores.algorithms == ("('a', 1)", "('a', 2)", "('b', 1)")
    assert scores.data_sets == ("x", "y")


@pytest.mark.parametrize("note", [["new", "old", "new"], ["a", "b", "c"], [[1], [2], [3]]])
def test_a_column_of_text_in_a_wide_table_is_not_taken_for_algorithms(note):
    for frame in (WIDE, WIDE.drop(columns="B")):
        with pytest.raises(
            ScoresError, match=r"data set 'x': if they are folds or runs, n.*one of them$"
        ):
            read(frame.assign(db=["x", "y", "x"], note=note))


def test_an_index_without_a_name_that_repeats_is_refused():
    wide = WIDE[["A", "B"]]
    with pytest.raises(
        ScoresError, match=r"more than one row for data set '0' of the index.*reset"
    ):
        read(pd.concat([wide, wide]))
    levels = pd.MultiIndex.from_product([["x"], [0, 1, 2]])
    with pytest.raises(ScoresError, match=r"2 levels without names.*rename_axis"):
        read(wide.set_index(levels))
    assert read(wide.set_index(levels.set_names(["db", "fold"]))).n_folds == 3
    with pytest.raises(ScoresError, match=r"levels of the index share a name, \['1', '1'\]"):
        read(wide.set_index(levels.set_names([1, "1"])))
    assert len(read(pd.concat([wide, wide]).reset_index(drop=True)).data_sets) == 6
    same(read(pd.concat([FOLDS[:4], FOLDS[4:].reset_index(drop=True)])), read(FOLDS))


@pytest.mark.parametrize(("maximize", "score"), [(True, "inf"), (False, "-inf")])
def test_an_infinite_score_that_is_better_than_all_is_noted(maximize, score):
    table = WIDE.assign(A=[float(score), 2.0, 3.0])
    notes = [note for note in read(table, maximize=maximize).notes if "better than all" in note]
    wanted = f"1 score is {score}, better than all others: if that is a "
    assert notes == [f"{wanted}failure, as in a race, give {-float(score)} or leave it out."]
    assert not any("better than all" in note for note in read(table, maximize=not maximize).notes)


NUMBERED = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 4.0, 1.0]}, index=[3, 31, 44])


@pytest.mark.parametrize("name", ["openml", "did", "row", "size", "id", "model", "index", 7])
def test_an_index_of_numbers_with_a_name_is_no_algorithm(name):
    scores = read(NUMBERED.rename_axis(index=name))
    assert (scores.algorithms, scores.data_sets) == (("A", "B"), ("3", "31", "44"))
    counted = NUMBERED.reset_index(drop=True).rename_axis(index=name)
    assert read(counted).algorithms == ("A", "B")


def test_a_pivoted_table_of_numbered_data_sets():
    long = NUMBERED.rename_axis(index="openml").melt(
        var_name="algo", value_name="score", ignore_index=False
    )
    wide = long.reset_index().pivot_table(index="openml", columns="algo", values="score")
    same(read(wide), read(NUMBERED))
    same(read(long, algorithm="algo"), read(NUMBERED))
    same(read(long.set_index("algo", append=True), algorithm="algo"), read(NUMBERED))


def test_an_index_of_numbers_beside_names_is_not_used():
    named = WIDE.set_index(pd.Index([3, 31, 44], name="openml"))
    same(read(named), read(WIDE))
    assert "Level 'openml' of the index is not used." in read(named).notes
    same(read(named.rename(columns={"db": "whatever"})), read(WIDE))
    long = FOLDS.rename_axis(index="row")
    same(read(long), read(FOLDS))
    same(read(long.drop(columns="fold").iloc[[0, 1, 4, 5]]), read(FOLDS.iloc[[0, 1, 4, 5]]))
    with pytest.raises(ScoresError, match=r"no column of data sets among .*: name it"):
        read(long.drop(columns=["Data set", "fold"]))


def test_levels_of_unknown_names_are_to_be_named():
    levels = pd.MultiIndex.from_product([[3, 31, 44], [0, 1]], names=["x", "y"])
    folds = pd.DataFrame({"A": np.arange(6.0), "B": 1.0}, index=levels)
    with pytest.raises(ScoresError, match=r"levels 'x', 'y': name those .* fold='y'"):
        read(folds)
    found = read(folds, data_set="x", fold="y")
    assert (found.algorithms, found.n_folds) == (("A", "B"), 2)
    same(read(folds.rename_axis(index=["x", "seed"])), found)
    same(
        read(folds.rename_axis(index=["seed", "x"]).swaplevel()),
        read(folds, data_set="y", fold="x"),
    )
    with pytest.raises(ScoresError, match="if they are folds or runs, number them"):
        read(folds.rename_axis(index=["db", "y"]))
