"""PCS files and ConfigSpace's JSON, against the ConfigSpace package."""

import json
import warnings

import numpy as np
import pytest
from ConfigSpace import Configuration, ConfigurationSpace

import racer
from racer import Categorical, Integer, Ordinal, Param, Real, SettingError, Space, SpaceFileError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from ConfigSpace.read_and_write import pcs, pcs_new

NEW = """
a categorical {x, y, z} [y]   # a comment
b real [0.1, 10] [1.0] log
c integer [1,10] [5]
o ordinal {lo, mid, hi} [lo]
e integer [1, 1000] [10] log
d real [-1, 1] [0]
b | a in {x, y} && c > 4
o | c == 3 || c < 2
d | a != y
{a=x, o=lo}
"""
OLD = """
a {x, y} [y]
b [0.1, 10] [1.0]l
c [1,10] [5]i
k {0, 1} [1]
e [1,1000] [10]il
Conditionals:
b | a in {x}
e | a in {y}
Forbidden:
{a=y, k=0}
"""
SPACE = Space(
    {
        "a": Categorical(["x", "y", 3, True]),
        "b": Real(0.1, 10, log=True),
        "c": Integer(1, 10),
        "d": Ordinal(["lo", "mid", "hi"]),
        "e": Categorical([5]),
        "f": Integer(0, 5),
    },
    conditions={
        "b": (Param("a") == "x") & (Param("c") > 4),
        "f": (Param("d").is_in(["lo", "mid"])) | (Param("c") != 3),
    },
    forbidden=[(Param("a") == "y") & (Param("c").is_in([1, 2])), Param("f") > Param("c")],
    default={"a": "y", "b": 1.0, "c": 5, "d": "lo", "e": 5, "f": 2},
)


def plain(config):
    return {name: v.item() if isinstance(v, np.generic) else v for name, v in dict(config).items()}


def agree(ours, theirs, n=1000):
    """Say whether two spaces are the same: names, default, and what each samples."""
    assert {*ours.parameters} == {*theirs}
    assert ours.default == ours.check(plain(theirs.get_default_configuration()))
    for config in ours.sample(n, seed=1):
        Configuration(theirs, values=config)  # raises if it is not one of theirs
    theirs.seed(1)
    for config in theirs.sample_configuration(n):
        ours.check(plain(config))
    for name, parameter in theirs.items():
        domain = ours.parameters[name].domain({})
        if hasattr(parameter, "lower"):
            ends = (domain.decode(0.0), domain.decode(1.0))
            assert ends == pytest.approx((parameter.lower, parameter.upper))
            assert ours.parameters[name].log == parameter.log


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("text", "module"), [(NEW, pcs_new), (OLD, pcs)])
def test_pcs_files_mean_what_configspace_reads(tmp_path, text, module):
    (tmp_path / "a.pcs").write_text(text)
    lines = [line for line in text.splitlines() if line]
    agree(Space.read_pcs(tmp_path / "a.pcs"), module.read(lines))


def test_its_json_is_read_and_written(tmp_path):
    theirs = SPACE.to_configspace()
    assert isinstance(theirs, ConfigurationSpace)
    agree(SPACE, theirs)
    theirs.to_json(tmp_path / "a.json")
    again = Space.read_configspace(tmp_path / "a.json")
    agree(again, theirs, n=200)
    assert again.default == SPACE.default
    assert {n: again.parameters[n] for n in SPACE.parameters} == dict(SPACE.parameters)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "a real [0, 1] [0.5]\na real [0, 1] [0.5]",
            "line 2, column 1: 'a' is a parameter already",
        ),
        ("a real [1, 0] [0.5]", "exchange them"),
        ("a real [0, w] [0.5]", "'w' is not a number"),
        ("a integer [0, 9.5] [1]", "give whole bounds"),
        ("a real [0, 1] [0.5]\nb | a > 0", "'b' is not a parameter"),
        ("a real [0, 1] [0.5]\na | c > 0", "'c' is not a parameter"),
        ("a real [0, 1] [0.5]\na | a ~ 0", "is not a condition"),
        ("a real [0, 1] [0.5]\n{a + 1 > 0}", "only {parameter=value, ..}"),
        ("a real [0, 1] [0.5]\nwhat is this", "neither a parameter"),
        ("a {x, y} [z]", "the default is not allowed"),
        ("", "there are no parameters"),
    ],
)
def test_pcs_files_that_cannot_be_read(tmp_path, line, said):
    (tmp_path / "a.pcs").write_text(line)
    with pytest.raises(SpaceFileError) as caught:
        Space.read_pcs(tmp_path / "a.pcs")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{", "Expecting"),
        ("[]", "no JSON of ConfigSpace"),
        (
            '{"hyperparameters": [{"name": "a", "type": "normal_float", "default_value": 0}]}',
            "normal",
        ),
        (
            '{"hyperparameters": [{"name": "a", "type": "ordinal", "weights": [1, 2]}]}',
            "weights cannot be kept",
        ),
    ],
)
def test_json_that_cannot_be_read(tmp_path, data, said):
    (tmp_path / "a.json").write_text(data)
    with pytest.raises(SpaceFileError, match=said):
        Space.read_configspace(tmp_path / "a.json")


@pytest.mark.parametrize(
    "space",
    [
        Space({"n": Integer(1, 9), "k": Integer(1, Param("n"))}),
        Space({"x": Real(0, 1, step=0.25)}),
        Space({"n": Integer(1, 9), "k": Integer(1, 2)}, conditions={"k": Param("n") * 2 > 3}),
        Space({"n": Integer(1, 9)}, forbidden=[Param("n") > 7]),
    ],
)
def test_what_configspace_cannot_say(space):
    with pytest.raises(SettingError, match="ConfigSpace"):
        space.to_configspace()


def test_a_default_is_a_configuration_of_the_space():
    space = Space({"x": Real(0, 1), "k": Categorical(["a", "b"])}, default={"x": 0.5, "k": "a"})
    assert space.default == {"x": 0.5, "k": "a"}
    assert Space.from_json(json.loads(json.dumps(space.to_json()))).default is None
    with pytest.raises(SettingError, match="the default is not allowed: x=2"):
        Space({"x": Real(0, 1)}, default={"x": 2})
    with pytest.raises(SettingError, match="no value for 'x'"):
        Space({"x": Real(0, 1)}, default={})


def test_a_scenario_begins_with_the_default(tmp_path):
    from racer.scenario.scenario import Scenario

    (tmp_path / "a.pcs").write_text(NEW)
    found = Scenario({"space": f"{tmp_path}/a.pcs", "command": ["echo"], "budget": 300}).arguments()
    assert found["initial"] == [{"a": "y", "b": 1.0, "c": 5, "e": 10}]
    assert isinstance(found["evaluate"], racer.Command)
