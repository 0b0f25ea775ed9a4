"""Tables of configurations, as irace has them."""

import pytest

import racer
from racer.errors import SettingError, SpaceFileError
from racer.space.irace.table import read_configurations, written_configurations

SPACE = racer.Space.from_irace("""
alg "--alg " c (as, "a b")
x   "--x="   r (0, 1) | alg == "as"
n   "-n "    i (1, 9)
k   ""       c (only)
""")


def test_tables_of_configurations(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text('n alg x # order is free\n3 "a b" NA\n"2" 4 as 0.5\n')
    found = read_configurations(path, SPACE)
    assert found == [
        {"alg": "a b", "n": 3, "k": "only"},
        {"alg": "as", "x": 0.5, "n": 4, "k": "only"},
    ]
    written = written_configurations(found, SPACE.parameters)
    assert written == 'alg x n k\n"a b" NA 3 only\nas 0.5 4 only\n'
    path.write_text(written)
    assert read_configurations(path, SPACE) == found
    with pytest.raises(SettingError, match="configurations that are dicts"):
        written_configurations([3], ["x"])


@pytest.mark.parametrize(
    "values",
    [[(1, 2), (3,)], ["a\nb", "c\rd", "\\n", "e\x85f", "\u2028"], [None, True, "NA", "<NA>"]],
)
def test_each_value_is_read_as_it_was_written(tmp_path, values):
    space = racer.Space({"a": racer.Categorical(values), "b\n": racer.Integer(1, 9)})
    configs = [{"a": value, "b\n": 1} for value in values]
    path = tmp_path / "table.txt"
    path.write_text(written_configurations(configs, space.parameters), newline="")
    assert read_configurations(path, space) == configs


def test_values_of_the_same_text_cannot_be_told_apart(tmp_path):
    space = racer.Space({"a": racer.Categorical([1, "1", 2])})
    path = tmp_path / "table.txt"
    path.write_text("a\n2\n")
    assert read_configurations(path, space) == [{"a": 2}]
    path.write_text("a\n2\n1\n")
    with pytest.raises(SpaceFileError, match=r"line 3, .*a = 1 is 1 or '1': a table cannot tell"):
        read_configurations(path, space)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no header"),
        ("n alg\n", "there is no column for the parameter 'x'"),
        ("n alg x y\n", "the column 'y' is not a parameter"),
        ("n n alg x\n", "'n' is there twice"),
        ("n alg x\n1 as\n", "2 values are there for 3 columns"),
        ("n alg x\n10 as 1\n", "line 2, column 1: n=10"),
        ('n alg x\n1 "as 1\n', "a value, or its closing quote, is expected"),
        ("n alg x\n1 as NA\n", "line 2, column 1"),
        ('n alg x\n1 as "NA"\n', "x='NA'"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, text, said):
    path = tmp_path / "table.txt"
    path.write_text(text)
    with pytest.raises(SpaceFileError) as caught:
        read_configurations(path, SPACE)
    assert said in str(caught.value)


def test_more_decimals_than_the_space_has_are_rounded_and_told(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("n alg x\n1 as 0.123456\n")
    with pytest.warns(racer.RacerWarning, match=r"line 2: x = 0.123456 is rounded to 4 decimals"):
        assert read_configurations(path, SPACE)[0]["x"] == 0.1235
