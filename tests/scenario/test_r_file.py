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
    }


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("targetRunner <- function(experiment, scenario)", 17, "evaluate = 'module:function'"),
        ("repairConfiguration = function(c, p) {", 23, "racer.Space"),
        ("require(matlabr, quietly=TRUE)", 1, "code of R"),
        ("if (x) { y = 1 }", 1, "name = value"),
        ("seed = sample(10, 1)", 8, "write the value itself"),
        ("seed = other", 8, "'other' is R"),
        ("seed = 1 / 0", 10, "no finite number"),
        ('seed = "a" + 1', 8, "a number is expected"),
        ("seed = 1 2", 10, "expected instead"),
        ("seed", 1, "name = value"),
        ('seed = "a', 8, "does not end"),
    ],
)
def test_what_is_code_is_refused_with_its_place(tmp_path, line, column, said):
    with pytest.raises(SpaceFileError) as caught:
        values(tmp_path, f"# first\n{line}\n")
    assert (caught.value.line, caught.value.column) == (2, column)
    assert said in str(caught.value)
