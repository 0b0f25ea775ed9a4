"""irace's parameter files, after the description of the format in its user guide."""

from __future__ import annotations

import json
import warnings

import pytest

from racer import (
    CandidateError,
    Categorical,
    Integer,
    Ordinal,
    RacerWarning,
    Real,
    Space,
    SpaceFileError,
)

# The parameters of ACOTSP: names, switches, ranges and conditions as its scenario lists them.
ACOTSP = """
# name       switch            type   values                  [conditions (R syntax)]
algorithm    "--"              c      (as, mmas, eas, ras, acs)
localsearch  "--localsearch "  c      (0, 1, 2, 3)
alpha        "--alpha "        r      (0.00, 5.00)
beta         "--beta "         r      (0.00, 10.00)
rho          "--rho  "         r      (0.01, 1.00)
ants         "--ants "         i,log  (5, 100)
nnls         "--nnls "         i      (5, 50)                 | localsearch %in% c(1, 2, 3)
q0           "--q0 "           r      (0.0, 1.0)              | algorithm == "acs"
dlb          "--dlb "          c      (0, 1)                  | localsearch %in% c(1,2,3)
rasrank      "--rasranks "     i      (1, "min(ants, 10)")    | algorithm == "ras"
elitistants  "--elitistants "  i      (1, ants)               | algorithm == 'eas'

[forbidden]
(alpha == 0.0) & (beta == 0.0)   # nothing would guide the ants

[global]
digits = 2
"""


def one(values, kind="c", more=""):
    """Return the parameter p of a file of its own."""
    return Space.from_irace(f'p "-p" {kind} {values}\n{more}').parameters["p"]


def test_the_whole_of_acotsp(tmp_path):
    path = tmp_path / "parameters.txt"
    path.write_text(ACOTSP, encoding="utf-8")
    space = Space.read_irace(path)
    assert space == Space.from_irace(ACOTSP)
    assert list(space.parameters)[:2] == ["algorithm", "localsearch"]
    assert space.parameters["algorithm"] == Categorical(("as", "mmas", "eas", "ras", "acs"))
    assert space.parameters["localsearch"] == Categorical(("0", "1", "2", "3"))
    assert space.parameters["rho"] == Real(0.01, 1.0, digits=2)
    assert space.parameters["ants"] == Integer(5, 100, log=True)
    assert space.switches["rho"] == "--rho  "
    for config in space.sample(300, seed=1):
        assert ("q0" in config) is (config["algorithm"] == "acs")
        assert ("nnls" in config) is ("dlb" in config) is (config["localsearch"] != "0")
        assert config.get("rasrank", 1) <= min(config["ants"], 10)
        assert config.get("elitistants", 1) <= config["ants"]
        assert round(config["alpha"], 2) == config["alpha"]
    with pytest.raises(CandidateError, match="is forbidden"):
        space.check(
            {"algorithm": "as", "localsearch": "0", "alpha": 0, "beta": 0, "rho": 0.1, "ants": 5}
        )
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space


@pytest.mark.parametrize(
    ("values", "kind", "parameter"),
    [
        ("(0,1)", "r", Real(0, 1, digits=4)),
        ("(1e-3, 1E+2)", "r,log", Real(0.001, 100, digits=4, log=True)),
        ("( -5 , +5 )", "i", Integer(-5, 5)),
        ("(1, 10L)", "i", Integer(1, 10)),
        ('("1", "2*5")', "i", Integer(1, 10)),
        ("(a)", "c", Categorical(("a",))),
        ("""("a, b", 'c d', "", "say \\"x\\"", -0.5, --on, TRUE)""", "c", None),
        ("(low,very-high)", "o", Ordinal(("low", "very-high"))),
        ('("a#b", c) # comment', "c", Categorical(("a#b", "c"))),
        ("(é, ü)", "c", Categorical(("é", "ü"))),
    ],
)
def test_types_and_values(values, kind, parameter):
    parameter = parameter or Categorical(("a, b", "c d", "", 'say "x"', "-0.5", "--on", "TRUE"))
    assert one(values, kind) == parameter


def test_digits_come_from_the_file_or_the_caller():
    text = 'x "" r (0, 0.001)\n'
    assert Space.from_irace(text).parameters["x"] == Real(0, 0.001, digits=4)
    assert Space.from_irace(text, digits=6).parameters["x"] == Real(0, 0.001, digits=6)
    text += "[global]\ndigits=3\n"
    assert Space.from_irace(text, digits=6).parameters["x"] == Real(0, 0.001, digits=3)


def exists(condition, **values):
    """Say whether a parameter with that condition exists for some of a, b, x and n."""
    space = Space.from_irace(
        f'child "" c (1) | {condition}\n'
        'a "" c (as, acs, eas)\nb "" c (0, 1, 2, 10) | a != "eas"\n'
        'x "" r (0, 10)\nn "" i (1, 9)\nflag "" c (TRUE, FALSE)\nts-length "" i (1, 9)\n'
    )
    config = {"a": "as", "b": "1", "x": 2.5, "n": 3, "flag": "TRUE", "ts-length": 4, **values}
    config = {name: value for name, value in config.items() if value is not None}
    here = {"child": "1", **config} in space
    assert here is not (config in space)
    return here


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('a == "as"', True),
        ('"as" == a', True),
        ('a %in% c("acs", "as")', True),
        ('!a %in% c("acs")', True),
        ('a %in% "as"', True),
        ("b == 1", True),
        ("b == 1.0", True),
        ("b %in% 1:2", True),
        ('b %in% c(0, "1")', True),
        ("n %in% c(1:3, 7)", True),
        ("n %in% -1:2", False),
        ("flag == TRUE", True),
        ("flag != T", False),
        ("FALSE || T", True),
        ("x > 2 & x <= 2.5 && n >= 3", True),
        ("x < 2 | n == 3", True),
        ("!(x < 2) & !!(n == 3)", True),
        ("x < 2 | n == 3 & a == 'acs'", False),
        ("(x < 2 | n == 3) & a == 'as'", True),
        ("-n < -2", True),
        ("2 ^ n == 8", True),
        ("-2 ^ 2 == -4", True),
        ("2 ^ -1 == 0.5", True),
        ("10 ^ (x * 200) > 1e300", True),  # infinite, as in R
        ("(n - 3) ^ -1 > 1e300", True),
        ("n * 2 + 1 == 7", True),
        ("1 - 1 - 1 == -1", True),
        ("8 / 2 / 2 == 2", True),
        ("n %% 2 == 1", True),
        ("n %/% 2 == 1", True),
        ("-7 %% 3 == -1", False),
        ("-(7 %% 3) == -1", True),
        ("min(n, x) == 2.5 & max(n, x) == 3", True),
        ("round(x) == 2 & floor(x) == 2 & ceiling(x) == 3 & trunc(-x) == -2", True),
        ("round(x / 3, 1) == 0.8", True),
        ("abs(-x) == x", True),
        ("`ts-length` == 4", True),
        ("as.numeric(b) > 0", True),
        ("2 > as.integer(b)", True),
        ("as.numeric(n) == 3", True),
        ("!is.na(b)", True),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is never true:racer.RacerWarning")
def test_conditions_in_r(condition, expected):
    assert exists(condition) is expected


@pytest.mark.filterwarnings("ignore:.*is never true:racer.RacerWarning")
def test_what_is_missing_behaves_as_in_r():
    absent = {"a": "eas", "b": None}
    assert not exists('b == "1"', **absent)
    assert not exists('b != "1"', **absent)
    assert not exists('!(b == "1")', **absent)
    assert not exists("b %in% c(1)", **absent)
    assert exists("!(b %in% c(1))", **absent)
    assert exists("is.na(b)", **absent)
    assert exists('b == "1" | a == "eas"', **absent)
    assert not exists('b == "1" & a == "eas"', **absent)


def test_a_value_that_cannot_be_is_warned_of():
    with (
        pytest.warns(RacerWarning, match="the condition of 'child', .* is never true"),
        pytest.warns(RacerWarning, match="line 1, column 23: a is never 'acss': its values are"),
    ):
        assert not exists('a == "acss"')
    with pytest.warns(RacerWarning, match="column 30: b is never '1e.05'"):
        assert exists("b %in% c(1, 100000)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert exists("b %in% c(1, 10)")


def test_choices_that_look_like_numbers_are_ordered_only_where_text_agrees():
    text = 'a "" c (0, 1, 2, 3)\nb "" i (1, 9) | a > 1\n'
    space = Space.from_irace(text)
    assert sorted({c["a"] for c in space.sample(40, seed=1) if "b" in c}) == ["2", "3"]


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", None, None, "no parameters"),
        ("p", 1, 2, "the switch of 'p' in quotes"),
        ('p "', 1, 3, "the switch of 'p' in quotes"),
        ('p "\\q" c (a)', 1, 3, r"the escape \\q"),
        ('p "" x (1, 2)', 1, 6, "a type"),
        ('p "" c,log (1, 2)', 1, 6, "log is for r and i"),
        ('p "" c a, b', 1, 8, r"'\(' and the values"),
        ('p "" c ()', 1, 9, "a value"),
        ('p "" c (a "b")', 1, 11, "',' or .* is expected"),
        ('p "" c ("a)', 1, 9, "the end of the quotes"),
        ('p "" c (a, a)', 1, 12, "'a' is there already"),
        ('p "" c (a) or', 1, 12, "'|' and a condition"),
        ('p "" c (a)\np "" c (a)', 2, 1, "'p' is a parameter already"),
        ('p "" r (1)', 1, 10, "',' is expected"),
        ('p "" r (1, 2, 3)', 1, 13, r"'\)' is expected"),
        ('p "" r (1, )', 1, 12, "a bound"),
        ('p "" r (2, 1)', 1, 9, "p: Real with low=2.0 above"),
        ('p "" r,log (0, 1)', 1, 13, "p: Real with low=0.0 has no logarithm"),
        ('p "" r (0, 1e999)', 1, 12, "1e999 is too large"),
        ('p "" r (0.00001, 1)', 1, 9, "has more than 4 decimals"),
        ('p "" r (0, q)', 1, 12, "'q' is not a parameter"),
        ('p "" r (0, "1 +")', 1, 16, "instead of 'the end'"),
        ('p "" r (0, system("ls"))', 1, 12, r"system\(..\) with 1 values is not known"),
        ('c "" c (1)\np "" r (0, c)', 2, 12, "'c' is text in R, not a number"),
        ('p "" c (a) | ', 1, 13, "a value or a name"),
        ('p "" c (a) | q == 1', 1, 14, "'q' is not a parameter"),
        ('p "" i (-9,9)\nq "" i (1,2) | p<-3', 2, 17, "'<-' is an assignment in R"),
        ('p "" c (a)\nq "" i (1,2) | p = "a"', 2, 18, "'=' is not expected here"),
        ('p "" c (a)\nq "" i (1,2) | p == "a', 2, 21, "a string that does not end"),
        ('p "" c (a)\nq "" i (1,2) | (p == "a"', 2, 25, r"'\)' is expected"),
        ('p "" c (a)\nq "" i (1,2) | p == "a")', 2, 24, "an operator or the end"),
        ('p "" i (1,9)\nq "" i (1,2) | 1 < p < 3', 2, 22, "one comparison at a time"),
        ('p "" i (1,9)\nq "" i (1,2) | p', 2, 16, "'p' is not a condition"),
        ('p "" i (1,9)\nq "" i (1,2) | p == "a"', 2, 21, "'a' is not a number"),
        ('p "" i (1,9)\nq "" i (1,2) | p %in% c("a")', 2, 25, "a number is expected"),
        ('p "" i (1,9)\nq "" i (1,2) | p %in% 1:5000', 2, 24, "up to 1000 numbers"),
        ('p "" c (a)\nq "" i (1,2) | p > "a"', 2, 20, "orders these as text"),
        ('p "" c (9, 10)\nq "" i (1,2) | p > 9', 2, 20, "orders these as text"),
        ('p "" c (a)\nq "" c (b)\nr "" i (1,2) | p < q', 3, 16, "order of two texts"),
        ('p "" c (a)\nq "" i (1,2) | p == p + 1', 2, 23, "a number is expected instead of"),
        ('p "" c (1, a)\nq "" i (1,2) | as.numeric(p) > 1', 2, 27, "not all values of 'p'"),
        ('p "" c (a)\n[forbiden]\np == "a"', 2, 1, r"\[forbiden\] is not known"),
        ('p "" c (a)\n[forbidden\np == "a"', 2, 1, r"\[forbidden\] or \[global\]"),
        ('p "" c (a, b)\n[forbidden]\np == a', 3, 6, "'a' is not a parameter"),
        ('p "" c (a)\n[global]\ndigits = many', 3, 1, '"digits = " and a number'),
        ('p "" c (a)\nq "" i (1,2) | ' + "(" * 500 + "TRUE" + ")" * 500, 2, 46, "too deep"),
        ('a "" i (1, b)\nb "" i (1, a)', 1, 9, "are circular: a -> b -> a"),
        ('x "" r (0, 1)\ny "" r (0, 1) | y > 0.5', 2, 17, "are circular: y -> y"),
        ('p "" c (a)\n[forbidden]\np == "a"', None, None, "leaves no configuration"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, line, column, says):
    with pytest.raises(SpaceFileError, match=says) as raised:
        Space.from_irace(text)
    assert (raised.value.line, raised.value.column) == (line, column)
    if line is not None:
        assert f"line {line}, column {column}: " in str(raised.value)
        assert text.splitlines()[line - 1].rstrip() in str(raised.value)


def test_long_chains_are_read():
    text = 'p "" i (1, 9)\nq "" i (1, 2) | ' + " | ".join(["p == 3"] * 5000)
    space = Space.from_irace(text)
    assert {"p": 3, "q": 1} in space
    assert Space.from_json(space.to_json()) == space


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SpaceFileError, match=r"missing\.txt: the file cannot be read"):
        Space.read_irace(tmp_path / "missing.txt")
    with pytest.raises(SpaceFileError, match="the file cannot be read"):
        Space.read_irace(tmp_path)
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b'p "" c (a)\xff\xfe')
    with pytest.raises(SpaceFileError, match="not UTF-8"):
        Space.read_irace(binary)
    windows = tmp_path / "windows.txt"
    windows.write_bytes(b'\xef\xbb\xbfp "" c (a, b)\r\n\r\n[global]\r\ndigits = 2\r\n')
    assert Space.read_irace(windows).parameters["p"] == Categorical(("a", "b"))
    assert list(Space.from_irace(windows.read_text(encoding="utf-8")).parameters) == ["p"]


def test_a_number_is_never_a_text_that_looks_like_it_as_in_spears_example():
    text = 'p "" o (0.1, 0.0001)\nq "" i (1, 2) | p %in% c(0.1, 0.0001)'
    with pytest.warns(
        RacerWarning, match=r"line 2, column .*: '1e-04' is never '0.0001': R compares text"
    ):
        space = Space.from_irace(text)
    assert space.check({"p": "0.1", "q": 1})
    assert space.check({"p": "0.0001"})


def test_values_without_quotes_go_up_to_the_comma():
    space = Space.from_irace('x "" c (RANDOM --max-velocity 6, a  b ,"c, d")')
    assert tuple(space.parameters["x"].choices) == ("RANDOM --max-velocity 6", "a  b", "c, d")
