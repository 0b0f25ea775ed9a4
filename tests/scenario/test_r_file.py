"""irace's scenario files: what is read, and what is refused with its place."""

import pytest

from racer.errors import SpaceFileError
from racer.scenario.r_file import read_assignments

REAL = """## a comment
trainInstancesDir = "./Instances"   # another
testInstancesDir <- trainInstancesDir
maxExperiments=1e5
seed = 687L
digits  =  2
elitist = TRUE
deterministic = F
configurationsFile = NULL
maxTime = 60 * 60
softRestartThreshold = NA
targetRunner = file.path(paste0("run", "ners"), 'my "one"')
execDir =
  "./arena"
elites = c(1,
           2)
minus = -5
.base = "./bin"
recoveryFile = file.path(.base, "x")
a = 1; b = "2;3"; # no more
"""


def values(tmp_path, text):
    path = tmp_path / "scenario.txt"
    path.write_text(text)
    return {name: value for name, (value, _) in read_assignments(path).items()}


def test_what_real_files_have(tmp_path):
    assert values(tmp_path, REAL) == {
        "trainInstancesDir": "./Instances",
        "testInstancesDir": "./Instances",
        "maxExperiments": 100000,
        "seed": 687,
        "digits": 2,
        "elitist": True,
        "deterministic": False,
        "configurationsFile": None,
        "maxTime": 3600,
        "softRestartThreshold": None,
        "targetRunner": 'runners/my "one"',
        "execDir": "./arena",
        "elites": [1, 2],
        "minus": -5,
        ".base": "./bin",
        "recoveryFile": "./bin/x",
        "a": 1,
        "b": "2;3",
    }


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('paste0("./", NULL)', "./"),
        ('paste0("a", TRUE, F, NA, 12, 0.5, c("b"), c())', "aTRUEFALSENA120.5b"),
        ('paste0("a", .missing)', "aNA"),
        ('file.path("a", FALSE, -3L)', "a/FALSE/-3"),
        ('paste0("a", 0.1 + 0.2, 123456)', "a0.3123456"),
        ('c("a", NULL)', "a"),
        ("c(1, NULL, c(), 2)", [1, 2]),
        ("c()", None),
    ],
)
def test_values_become_text_as_in_r(tmp_path, expression, value):
    assert values(tmp_path, f".missing = NA\nx = {expression}\n")["x"] == value


def test_comments_need_not_be_utf_8(tmp_path):
    path = tmp_path / "scenario.txt"
    path.write_bytes("# Gom\xe9z\nseed = 1 # a\xf1o\n".encode("latin-1"))
    assert read_assignments(path) == {"seed": (1, 2)}
    path.write_bytes('execDir = "a\xf1o"\n'.encode("latin-1"))
    with pytest.raises(SpaceFileError, match="is not UTF-8 text"):
        read_assignments(path)


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("targetRunner <- function(experiment, scenario)", 17, "evaluate = 'module:function'"),
        ("repairConfiguration = function(c, p) {", 23, "racer.Space"),
        ("require(matlabr, quietly=TRUE)", 1, "code of R"),
        ("seed = sample(10, 1)", 8, "write the value itself"),
        ("seed = other", 8, "'other' is R"),
        ("seed = 1 / 0", 10, "no finite number"),
        ('seed = "a" + 1', 8, "a number is expected"),
        ("seed = 1 2", 10, "expected instead"),
        ("seed", 1, "name = value"),
        ("seed = 1; digits = f(2)", 20, "write the value itself"),
        ('seed = "a', 8, "does not end"),
        ('logFile = paste0("a", c("b", "c"))', 11, "several texts"),
        ('logFile = file.path("a", NULL)', 11, "no text with NULL"),
        ('logFile = paste0("a", 1e5)', 11, "R may write the number 100000 as 1e+05"),
        ('logFile = paste0("a", 0.0001)', 11, "R may write the number 0.0001 as 1e-04"),
    ],
)
def test_what_is_code_is_refused_with_its_place(tmp_path, line, column, said):
    with pytest.raises(SpaceFileError) as caught:
        values(tmp_path, f"# first\n{line}\n")
    assert (caught.value.line, caught.value.column) == (2, column)
    assert said in str(caught.value)
