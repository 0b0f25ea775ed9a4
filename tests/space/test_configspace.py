"""PCS files and ConfigSpace's JSON, against the ConfigSpace package."""

import copy
import json
import warnings

import ConfigSpace as theirs  # noqa: N813
import numpy as np
import pytest

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
# as files of solvers and of auto-sklearn are written
OLD_AS_FOUND = """\
# solver, version 2
# i: whole, l: logarithmic
luby{0,1}[0]
rfirst{5,10,50,100,200}[100]   # restarts, after Goméz
K-val{0.7,0.8,0.9}[0.8]
sp-freq{0, 0.0001, 0.05}[0.0001] # never 0.05, always zero.
@1:F:aspeed {no,yes}[yes]
@1:pca-dims[2,12][7]i
@1:voting:C[0.1,102.4][1.6]l
limit  [100000,200000000][100000000]il       # comparisons
rinc  [1.5,4][2]l
--sp [0,1][0.347]
3resolve  {yes,no}[no]
memory {no}[no]
cuts {-1,0,1,2}[-1]
lm_decr [1.0E-7, 1.0E-6] [5.0E-7]
colnorm [-20.72326583694641, -6.9077552789821368] [-13.815510558]
path {/home/u/a.py, None}[None]
leaf [1,128][16]li

Conditionals:
rfirst|luby in {1}
K-val|luby in {0}    # not both
limit | @1:F:aspeed in {yes}
limit | 3resolve in {no}
rinc | sp-freq in {0.0001, 0.05}

Forbidden:
{luby=1,3resolve=yes}
{cuts = -1, sp-freq = 0, luby = 0}
"""
NEW_AS_FOUND = """
x4 ordinal {red, blue, green, yellow} [red]
x3 integer [0,10] [0]
x5 categorical {yellow}[yellow]
batch integer [8, 256] [16]log
layers integer [1, 10] [2]
rate real [1e-05, 1.0] [0.1]log
units_2 integer [8, 1024] [10]log
weight:log_ratio real [-10.0, 3.0] [0.0]
algorithm categorical {discount, inst_gen, lrs} [lrs]
resolution categorical {off, on} [off]
classifier:__choice__ categorical {adaboost, lda} [adaboost]
n_estimators integer [50, 500] [50]
shrinkage categorical {None, auto} [None]
left integer [0, 10] [6]
right integer [0, 10] [6]
child integer [0, 10] [0]
x3 | x4 > blue
units_2 | layers > 1
weight:log_ratio | algorithm != inst_gen || resolution == on
resolution | algorithm == inst_gen
n_estimators | classifier:__choice__ in {adaboost}
shrinkage | classifier:__choice__ == lda
child | right > 5 && left > 5
{classifier:__choice__=lda, algorithm=lrs}
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("text", "module"),
    [(NEW, pcs_new), (NEW_AS_FOUND, pcs_new), (OLD_AS_FOUND, pcs)],
)
def test_pcs_files_mean_what_configspace_reads(tmp_path, text, module):
    (tmp_path / "a.pcs").write_text(text, encoding="latin-1")
    lines = [line for line in text.splitlines() if line]
    agree(Space.read_pcs(tmp_path / "a.pcs"), module.read(lines))


def test_comparisons_can_be_forbidden_in_pcs_files(tmp_path):
    text = "n integer [1,1] [1]\nlow integer [0, 9] [2]\nhigh integer [0, 9] [5]\n"
    (tmp_path / "a.pcs").write_text(text + "{ low >= high || (low + n == 4 && high != 9) }\n")
    space = Space.read_pcs(tmp_path / "a.pcs")
    allowed = {(config["low"], config["high"]) for config in space.sample(100, seed=1)}
    assert allowed == {(a, b) for a in range(10) for b in range(a + 1, 10) if a != 3 or b == 9}


@pytest.mark.parametrize(
    ("clause", "is_forbidden"),
    [
        ("lang=c++", lambda c: c["lang"] == "c++"),
        ("lang=java(8), b=7", lambda c: c["lang"] == "java(8)" and c["b"] == 7),
        ("lang == <x*> && b == 7", lambda c: c["lang"] == "<x*>" and c["b"] == 7),
        ("b*2 == 6", lambda c: c["b"] == 3),
    ],
)
def test_forbidden_values_may_have_marks_of_arithmetic(tmp_path, clause, is_forbidden):
    text = f"lang {{c++, java(8), <x*>}} [c++]\nb [1,10] [5]i\n{{{clause}}}\n"
    (tmp_path / "a.pcs").write_text(text.replace("[c++]", "[<x*>]"))
    space = Space.read_pcs(tmp_path / "a.pcs")
    for lang in ("c++", "java(8)", "<x*>"):
        for b in range(1, 11):
            config = {"lang": lang, "b": b}
            assert (space.forbids(config) is not None) == is_forbidden(config)


def test_marks_of_comments_may_stand_in_braces(tmp_path):
    lines = ["lang {C++, C#}[C#] # {x}", "k {a, b} [a]  # of # all", "k | lang in {C#} # that"]
    (tmp_path / "a.pcs").write_text("\n".join([*lines, "{lang=C#, k=b} # no"]))
    space = Space.read_pcs(tmp_path / "a.pcs")
    assert space.parameters["lang"] == Categorical(["C++", "C#"])
    assert space.check({"lang": "C#", "k": "a"})
    assert space.check({"lang": "C++"})
    assert space.forbids({"lang": "C#", "k": "b"}) is not None
    (tmp_path / "b.pcs").write_text("lang {C++, C# [C++]")
    with pytest.raises(SpaceFileError, match=r"neither a parameter(.|\n)*lang {C\+\+, C# \[C"):
        Space.read_pcs(tmp_path / "b.pcs")


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
        ("a real [0, 1] [0.5]\n{a + 1}", "no comparison of numeric parameters: '+' is not a"),
        ("a real [0, 1] [0.5]\n{a > w}", "'w' is not a parameter"),
        ("a real [0, 1] [0.5]\n{a}", "give {parameter=value, ..}"),
        ("a real [0, 1] [0.5]\nwhat is this", "neither a parameter"),
        (
            "a {x, y} [z]",
            "line 1, column 1: the default is not allowed: a='z': give one of 'x', 'y'",
        ),
        (
            "a real [1, 2] [0.5]",
            "line 1, column 1: the default is not allowed: a=0.5: give a number",
        ),
        ("a {x, y} [x]\na | a == z", "line 2, column 1: 'a' cannot be 'z': give one of 'x', 'y'"),
        ("a {x, y} [x]\na | a in {x, z}", "line 2, column 1: 'a' cannot be 'z'"),
        ("a {x, y} [x]\n{a=z}", "line 2, column 1: 'a' cannot be 'z'"),
        ("", "there are no parameters"),
    ],
)
def test_pcs_files_that_cannot_be_read(tmp_path, line, said):
    (tmp_path / "a.pcs").write_text(line)
    with pytest.raises(SpaceFileError) as caught:
        Space.read_pcs(tmp_path / "a.pcs")
    assert said in str(caught.value)


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

    (tmp_path / "a.pcs").write_text(NEW)
    found = Scenario({"space": f"{tmp_path}/a.pcs", "command": ["echo"], "budget": 300}).arguments()
    assert found["space"].default == {"a": "y", "b": 1.0, "c": 5, "e": 10}
    assert isinstance(found["evaluate"], racer.Command)
