"""ConfigSpace's spaces and their JSON, against the ConfigSpace package."""

import copy
import json

import ConfigSpace as theirs  # noqa: N813
import numpy as np
import pytest

import racer
from racer import Categorical, Integer, Ordinal, Param, Real, SettingError, Space, SpaceFileError

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


def agree(ours, space, n=1000):
    """Say whether two spaces are the same: names, default, and what each samples."""
    assert {*ours.parameters} == {*space}
    assert ours.default == ours.check(plain(space.get_default_configuration()))
    for config in ours.sample(n, seed=1):
        theirs.Configuration(space, values=config)  # raises if it is not one of space
    space.seed(1)
    for config in space.sample_configuration(n):
        ours.check(plain(config))
    for name, parameter in space.items():
        domain = ours.parameters[name].domain({})
        if hasattr(parameter, "lower"):
            ends = (domain.decode(0.0), domain.decode(1.0))
            assert ends == pytest.approx((parameter.lower, parameter.upper))
            assert ours.parameters[name].log == parameter.log


def test_its_json_is_read(tmp_path):
    a = theirs.Categorical("a", ["x", "y", 3, True], default="y")
    b = theirs.Float("b", (0.1, 10.0), log=True, default=1.0)
    c = theirs.Integer("c", (1, 10), default=5)
    d = theirs.OrdinalHyperparameter("d", ["lo", "mid", "hi"], default_value="lo")
    f = theirs.Integer("f", (0, 5), default=2)
    space = theirs.ConfigurationSpace()
    space.add(a, b, c, d, theirs.Constant("e", 5), f)
    above = theirs.GreaterThanCondition(b, c, 4)
    space.add(theirs.AndConjunction(theirs.EqualsCondition(b, a, "x"), above))
    unequal = theirs.NotEqualsCondition(f, c, 3)
    space.add(theirs.OrConjunction(theirs.InCondition(f, d, ["lo", "mid"]), unequal))
    few = theirs.ForbiddenInClause(c, [1, 2])
    space.add(theirs.ForbiddenAndConjunction(theirs.ForbiddenEqualsClause(a, "y"), few))
    space.add(theirs.ForbiddenGreaterThanRelation(f, c))
    agree(SPACE, space)
    space.to_json(tmp_path / "a.json")
    again = Space.read_configspace(tmp_path / "a.json")
    agree(again, space, n=200)
    assert again == Space.from_configspace(space)
    assert again.default == SPACE.default
    assert {n: again.parameters[n] for n in SPACE.parameters} == dict(SPACE.parameters)


CATEGORY = (
    '{"hyperparameters": [{"name": "a", "type": "categorical", "choices": ["x", "y"],'
    ' "default_value": %s}, {"name": "b", "type": "constant", "value": 1}],'
    ' "conditions": [{"type": "EQ", "child": "b", "parent": "a", "value": "x"}]}'
)
CONDITION = (CATEGORY % '"x"').replace('"type": "EQ"', '"type": "%s"').replace('"value": "x"', "%s")
FORBIDDEN = (CATEGORY % '"x"')[
    :-1
] + ', "forbiddens": [{"type": "EQUALS", "name": "a", "value": {}}]}'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{", "Expecting"),
        ("[]", "no JSON of ConfigSpace"),
        (
            '{"hyperparameters": [], "hyperparameters": []}',
            "the key 'hyperparameters' is there twice",
        ),
        ("{}", "in format 0.4: it has no list of hyperparameters$"),
        ('{"hyperparameters": [{"type": "constant"}]}', "in format 0.4: 'name' is missing$"),
        (
            '{"hyperparameters": [{"name": "a", "type": "normal_float", "default_value": 0}]}',
            "normal",
        ),
        (
            '{"hyperparameters": [{"name": "a", "type": "ordinal", "weights": [1, 2]}]}',
            "weights cannot be kept",
        ),
        (CONDITION % ("EQ", '"value": {}'), "{} cannot be used in a condition"),
        (CONDITION % ("IN", '"values": [[{}]]'), r"\[{}\] cannot be used in a condition"),
        (FORBIDDEN, "{} cannot be used in a condition"),
        (CATEGORY % '{"a": 1}', "a={'a': 1}: give text, a number"),
    ],
)
def test_json_that_cannot_be_read(tmp_path, data, said):
    (tmp_path / "a.json").write_text(data)
    with pytest.raises(SpaceFileError, match=said):
        Space.read_configspace(tmp_path / "a.json")


def test_a_file_that_is_not_there_is_named_once(tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(SpaceFileError) as refused:
        Space.read_configspace(path)
    assert str(refused.value) == f"{path}: the file cannot be read: No such file or directory"


def test_what_is_no_configuration_space_is_refused():
    with pytest.raises(SettingError, match=r"\{'x': \(0, 1\)\} is no ConfigurationSpace"):
        Space.from_configspace({"x": (0, 1)})


SOMETIMES = [
    (theirs.CategoricalHyperparameter("b", ["x", "y", "z"]), "y"),
    (theirs.CategoricalHyperparameter("b", [True, False]), True),
    (theirs.OrdinalHyperparameter("b", [1, 2, 3]), 2),
    (theirs.Integer("b", (0, 2)), 1),
    (theirs.Float("b", (0.0, 1.0)), 0.5),
]


@pytest.mark.parametrize(("parameter", "value"), SOMETIMES)
def test_what_does_not_exist_is_unequal_for_configspace(parameter, value):
    space, b = theirs.ConfigurationSpace(), copy.copy(parameter)
    a, c = theirs.Categorical("a", ["x", "y"], default="y"), theirs.Float("c", (0.0, 1.0))
    space.add(a, b, c)
    space.add(theirs.EqualsCondition(b, a, "y"))
    space.add(theirs.NotEqualsCondition(c, b, value))
    ours = Space.from_configspace(space)
    assert ours.check({"a": "x", "c": 0.5})
    agree(ours, space, n=50)


def test_a_default_is_a_configuration_of_the_space():
    space = Space({"x": Real(0, 1), "k": Categorical(["a", "b"])}, default={"x": 0.5, "k": "a"})
    assert space.default == {"x": 0.5, "k": "a"}
    assert Space.from_json(json.loads(json.dumps(space.to_json()))).default == space.default
    assert Space(space.parameters) == space
    with pytest.raises(SettingError, match="the default is not allowed: x=2"):
        Space({"x": Real(0, 1)}, default={"x": 2})
    with pytest.raises(SettingError, match="no value for 'x'"):
        Space({"x": Real(0, 1)}, default={})
    with pytest.raises(SettingError, match=r"the default is not allowed: k=\{\}: give text"):
        Space(space.parameters, conditions={"x": {"k": "a"}}, default={"x": 1, "k": {}})


def test_a_scenario_begins_with_the_default(tmp_path):
    from racer.scenario.scenario import Scenario

    (tmp_path / "a.json").write_text(CATEGORY % '"y"')
    found = Scenario(
        {"space": f"{tmp_path}/a.json", "command": ["echo"], "budget": 300}
    ).arguments()
    assert found["space"].default == {"a": "y"}
    assert isinstance(found["evaluate"], racer.Command)
