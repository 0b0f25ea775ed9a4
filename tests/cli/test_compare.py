"""`racer compare`, as typed."""

import json
import re
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from typed import typed

import racer

DEMSAR = Path(__file__).parents[1] / "data" / "demsar2006_table6_auc.csv"


run = partial(typed, "compare")


@pytest.fixture(name="scores")
def _scores():
    return pd.read_csv(DEMSAR)


def test_it_prints_what_the_function_says(scores):
    done = run(DEMSAR, "--maximize", "--method", "friedman", "--posthoc", "nemenyi", exits=0)
    expected = racer.compare(scores, "friedman", posthoc="nemenyi", goal="max")
    assert done.stdout == f"{expected}\n"


def test_by_default_it_chooses_and_says_why():
    done = run(DEMSAR, "--maximize", exits=0)
    assert "The Bayesian Friedman test was chosen because all 4 algorithms" in done.stdout


@pytest.mark.parametrize(
    ("option", "form"),
    [
        ("--markdown", racer.Comparison.to_markdown),
        ("--latex", racer.Comparison.to_latex),
        ("--prose", racer.Comparison.prose),
        ("--bibtex", racer.Comparison.cite),
    ],
)
def test_other_forms(option, form, scores):
    done = run(DEMSAR, "--maximize", "--method", "bradley-terry", "--seed", "3", option, exits=0)
    expected = racer.compare(scores, "bradley-terry", goal="max", seed=3)
    assert done.stdout == f"{form(expected)}\n"


def test_json_is_json(tmp_path, scores):
    picture = tmp_path / "out.png"
    args = ("--method", "plackett-luce", "--control", "C4.5", "--rope", "0.1", "--plot", picture)
    done = run(DEMSAR, "--maximize", "--json", *args, exits=0)
    found = json.loads(done.stdout)
    expected = racer.compare(scores, "plackett-luce", goal="max", control="C4.5", rope=0.1)
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"Picture written to {picture}." in done.stderr


def test_pictures_are_chosen(tmp_path):
    heights = []
    for kinds in ((), ("matrix",), ("critical-difference", "matrix")):
        path = tmp_path / "out.png"
        run(
            *(DEMSAR, "--maximize", "--plot", path),
            *(word for kind in kinds for word in ("--picture", kind)),
            exits=0,
        )
        heights.append(int.from_bytes(path.read_bytes()[20:24], "big"))  # of a PNG
    assert heights[2] == pytest.approx(heights[0] + heights[1], abs=2)
    assert "--picture needs --plot" in run(DEMSAR, "--picture", "matrix").stderr
    done = run(DEMSAR, "--maximize", "--report", tmp_path / "paper", exits=0)
    assert f"references written to {tmp_path / 'paper'}." in done.stderr
    assert (tmp_path / "paper" / "table.tex").exists()
    assert "cannot be written" in run(DEMSAR, "--maximize", "--report", path / "paper").stderr
    unknown = run(DEMSAR, "--picture", "pie", "--plot", tmp_path / "out.png", exits=2)
    assert "is not one of" in unknown.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n3\n", "row 3: 1 fields, but the header has 2"),
        (b"a,a\n1,2\n", "column 'a' occurs twice"),
        (b"a,,b\n1,2,3\n", "column 2 has no name"),
        (b"3,.5,.4\n6,.7,.6\n", "the first row is all numbers.*no header"),
        (b"a,b\n1_0,1\n2,3\n", "column 'a' holds '1_0'"),
        (b'a,b\n"1,2\n', "unexpected end of data"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not text in UTF-8"),
        (b"a,b\n1,\x002\n", "is not text"),
        (b"name,a,b\nx,1,2\ny,-1e400,3\n", r"'-1e400' in row 1 \(data set 'y'\), which is too"),
        (b"name,a,b\nx,inf,2\ny,oops,3\n", "'oops' in row 1 .*, which is not a number"),
        (b"one\ntwo\nthree\n", "scores.csv"),
        (b"fold,nr,a,b\n1,3,.5,.4\n2,11,.6,.3\n", "folds in column 'fold', and no data sets"),
        (None, "No such file"),
    ],
)
def test_a_bad_file_is_an_error_with_exit_code_2(tmp_path, content, message):
    path = tmp_path / "scores.csv"
    if content is not None:
        path.write_bytes(content)
    done = run(path, exits=2)
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert re.search(message, done.stderr)
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize(
    "content",
    [
        "a,b,c\n1.5,2,3\n2,1,2\n3,3,1\n",  # not whole
        "a,b,c\n1,2.5,3\n1,1,2\n3,3,1\n",  # not unique
        "a,b,c\n1,5,3\n2,6,2\n3,7,1\n",  # the others are no different
        "a,b,c\n,2.5,3\n1,1,2\n3,3,1\n",  # not all there
        ",a,b,c\n0,1,2.5,3\n1,2,1,2\n2,3,3,1\n",  # an index comes first
    ],
)
def test_a_first_column_of_scores_is_an_algorithm(tmp_path, content):
    path = tmp_path / "scores.csv"
    path.write_text(content, encoding="utf-8")
    done = run(path, "--minimize", "--json", exits=0)
    assert json.loads(done.stdout)["algorithms"] == ["a", "b", "c"]
    assert "of numbers" not in done.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--method", "t-test"), "'t-test' is not one of"),
        (("--control", "Z"), "--control Z: no such algorithm; there are C4.5, C4.5+m"),
        (("--posthoc", "nemenyi", "--method", "signed-rank"), "(--method friedman)"),
        (("--plot", "out.xyz"), "must end in one of"),
        (("--markdown", "--latex"), "--markdown and --latex: one of them at a time"),
        (("--plot", "x.png", "--picture", "nonsense"), "'nonsense' is not one of"),
        (("--plot", "x.png", "--picture", "winning"), "not for this comparison"),
        (
            ("--method", "bradley-terry", "--local-rope", "paired"),
            "name their column, --fold COLUMN",
        ),
        (("--plot", "no/such/directory/out.png"), "there is no directory 'no/such/directory'"),
    ],
)
def test_what_cannot_work_is_said(args, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(DEMSAR, "--maximize", *args, exits=2)
    assert not list(tmp_path.iterdir())
    assert done.stdout == ""
    assert message in done.stderr


def test_without_matplotlib_the_extra_is_named_before_anything_is_computed(tmp_path, monkeypatch):
    for name in list(sys.modules):
        if name.partition(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run(DEMSAR, "--plot", tmp_path / "out.png", exits=2)
    assert done.stdout == ""
    assert "pip install 'racer-tuning[plot]'" in done.stderr


def test_missing_values_as_others_write_them(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("\ufeffname,a,b\nx,1,\ny,NaN,2\nz,1,n/a\nNA,2,3\n", encoding="utf-8")
    done = run(path, "--minimize", "--json", exits=0)
    found = json.loads(done.stdout)
    assert found["n_missing"] == 3
    assert found["data_sets"] == ["x", "y", "z", "NA"]
    assert found["method"] == "bradley-terry"


def test_a_warning_of_the_table_is_one_line(tmp_path):
    path = tmp_path / "spread.csv"
    path.write_text("data;a;b\nd1;61,8 ± 1,2;70,1\nd2;55,2;60\nd3;1,5;2\n", encoding="utf-8")
    done = run(path, "--maximize", exits=0)
    (line,) = done.stderr.splitlines()
    assert line.startswith("racer: ")
    assert line.endswith("of columns a, mean ± spread, the means are read alone")
