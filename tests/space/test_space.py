"""The space as a whole: configurations, forbidden combinations, sizes, storage, the hook."""

import copy
import json
import pickle

import numpy as np
import pytest

from racer import CandidateError, Categorical, Integer, Ordinal, Param, Real, SettingError, Space
from racer.space.sampling import _latin_hypercube


@pytest.fixture
def space():
    return Space(
        {
            "q0": Real(0, 1, digits=2),
            "algo": Categorical(["as", "acs"]),
            "ants": Integer(5, 100, log=True),
        },
        conditions={"q0": {"algo": "acs"}},
        forbidden=[{"algo": "as", "ants": 7}, (Param("q0") == 0.5) & (Param("ants") > 50)],
        switches={"ants": "--ants "},
    )


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"algo": "as"}, "'ants' is missing in"),
        ({"algo": "as", "ants": 9, "q0": 0.1}, "'q0' is given .* exists only when algo == 'acs'"),
        ({"algo": "acs", "ants": 9}, "'q0' is missing"),
        ({"algo": "as", "ant": 9}, "'ant' .* did you mean 'ants'"),
        ({"algo": "as", "ants": 7}, "is forbidden: .*algo == 'as'.* and .*ants == 7"),
        (["as", 9], "is not a configuration: give a dict"),
        ({"algo": "as", 3: 9}, "3 in .* is not a parameter"),
    ],
)
def test_what_is_outside_is_refused_with_a_reason(space, config, says):
    assert config not in space
    with pytest.raises(CandidateError, match=says):
        space.check(config)
    with pytest.raises(CandidateError, match=says):
        space.key(config)
    with pytest.raises(CandidateError, match=says):
        space.encode(config)


def test_a_configuration_is_written_in_the_order_of_the_space(space):
    config = space.check({"ants": 9, "algo": "acs", "q0": 1})
    assert list(config.items()) == [("q0", 1.0), ("algo", "acs"), ("ants", 9)]
    assert config in space
    assert space.key({"algo": "acs", "q0": np.float64(1), "ants": 9.0}) == space.key(config)
    assert np.isnan(space.encode({"ants": 9, "algo": "as"})[0])


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ([0.5, 0.5], r"shape \(2,\): give 3 numbers"),
        ([0.5, 1.5, 0.5], "'algo' is at 1.5"),
        ([np.nan, 0.9, 0.5], "'q0' is at nan"),
        ([0.5, 0.9, 0.99], "no configuration is allowed"),
    ],
)
def test_points_that_mean_nothing_are_refused(space, vector, says):
    with pytest.raises(CandidateError, match=says):
        space.decode(vector)
    assert space.decode([np.nan, 0.1, 0.5])["algo"] == "as"


def test_sizes(space):
    assert space.size == 95 + 96 * 101 - 50
    assert len(space) == 3
    assert space.free == ("q0", "algo", "ants")
    assert Space({"x": Real(0, 1)}).size == float("inf")
    assert Space({"a": Integer(1, 10**6), "b": Integer(1, 10**6)}).size == 10**12
    many = Space({"a": Integer(1, 10**6), "b": 1}, conditions={"b": Param("a") > 3})
    assert many.size == float("inf")  # too many to count


def test_it_shows_itself_as_a_table(space):
    lines = [" ".join(line.split()) for line in repr(space).splitlines()]
    assert lines[0] == "Space of 3 parameters"
    assert lines[2] == "parameter type values exists when"
    assert "algo Categorical as, acs" in lines
    assert "q0 Real 0 to 1, digits 2 algo == 'acs'" in lines
    assert lines.index("forbidden") > lines.index("ants Integer 5 to 100, log")
    markup = Space({"<b>": Categorical(["<script>", "a"])})._repr_html_()
    assert "&lt;script&gt;" in markup
    assert "<script>" not in markup
    assert "<b>" not in markup


def test_a_small_space_gives_what_it_has():
    space = Space({"n": Integer(1, 3)})
    for method in ("uniform", "lhs"):
        assert sorted(c["n"] for c in space.sample(50, seed=0, method=method)) == [1, 2, 3]
    assert space.sample(0, seed=0) == []
    assert space.sample(5, seed=0, exclude={space.key({"n": 2})}) != []


def test_rare_configurations_are_found_or_the_search_ends():
    needle = Space(
        {"a": Integer(1, 100), "b": Integer(1, 100)},
        forbidden=[Param("a") + Param("b") != 200],
    )
    assert needle.sample(5, seed=0) == [{"a": 100, "b": 100}]
    assert needle.size == 1
    hay = Space({"x": Real(0, 1), "n": Integer(0, 10**9)}, forbidden=[Param("n") > 0])
    found = hay.sample(30, seed=0)
    assert [c["n"] for c in found] == [0] * 30
    assert len({c["x"] for c in found}) == 30
    assert max(c["x"] for c in found) - min(c["x"] for c in found) > 0.5


@pytest.mark.parametrize(
    ("parameters", "forbidden", "known"),
    [
        ({"a": Integer(0, 10**6)}, [Param("a") > 5], {"a": 3}),
        ({"a": Real(0, 1), "b": Real(0, 1)}, [Param("a") > 3e-5], {"a": 1e-5, "b": 0.5}),
        (
            {"a": Real(0, 1), "b": Real(0, 1)},
            [Param("a") - Param("b") > 2e-5, Param("b") - Param("a") > 2e-5],
            {"a": 0.4, "b": 0.4},
        ),
        (
            {"k": Categorical(list("abcdefgh")), "a": Integer(0, 10**6), "x": Real(0, 1)},
            [Param("a") > 2],
            {"k": "c", "a": 1, "x": 0.1},
        ),
    ],
)
def test_rare_configurations_are_found_around_those_that_are_known(parameters, forbidden, known):
    space = Space(parameters, forbidden=forbidden)
    taken = {space.key(known)}
    n = 5 if parameters.keys() == {"a"} else 40
    found = space.sample(n, seed=1, exclude=taken, known=[known])
    assert len({space.key(config) for config in found} - taken) == n
    if "k" in parameters:
        assert len({config["k"] for config in found}) >= 6
    with pytest.raises(CandidateError, match="forbidden"):
        space.sample(1, known=[{**known, "a": 1000 if known["a"] >= 1 else 0.9}])


def test_a_space_that_cannot_be_counted_is_not_said_to_be_empty():
    wanted = (Param("a") == 37) & (Param("b") == 55)
    with pytest.raises(SettingError, match=r"none of 10000 configurations drawn: .*narrow the"):
        Space({"a": Integer(0, 999), "b": Integer(0, 999)}, forbidden=[~wanted])
    with pytest.raises(SettingError, match="leaves no configuration: all have"):
        Space({"a": Integer(0, 9), "b": Integer(0, 9)}, forbidden=[~wanted])


def test_what_only_the_repair_hook_can_mend_is_no_reason_to_refuse():
    parameters = {"a": Real(0, 1), "b": Real(0, 1)}
    with pytest.raises(SettingError, match=r"all have a != 0\.25"):
        Space(parameters, forbidden=[Param("a") != 0.25])
    space = Space(parameters, forbidden=[Param("a") != 0.25], repair=lambda c: {**c, "a": 0.25})
    found = space.sample(9, seed=1)
    assert len(found) == 9
    assert {config["a"] for config in found} == {0.25}


def test_as_many_digits_as_floats_can_tell_apart():
    for digits in (15, 16, 300):
        space = Space({"a": Real(0, 1, digits=digits)})
        assert space.check({"a": 0.1234567890123}) == {"a": 0.1234567890123}
        for config in space.sample(100, seed=1):
            assert space.decode(space.encode(config)) == config == space.check(config)
    wide = Space({"a": Real(0, 1e6, digits=12)})
    assert wide.check({"a": 435748.5212345}) == {"a": 435748.5212345}


@pytest.mark.parametrize(
    ("forbidden", "says"),
    [
        ([{"a": 1}, Param("a") > 0], "all have a > 0"),
        ([{"a": [1, 2]}, {"a": 3}], "all clauses together: a in .*; a == 3"),
        ([{"x": 0.5}, Param("x") >= 0], "all have x >= 0"),
        ([{"z": 1}], r"forbidden\[0\] names 'z'"),
        ([{"a": 1}, lambda config: True], r"forbidden\[1\] is a function"),
        ({"a": 1}, "forbidden={'a': 1}: give a list"),
    ],
)
def test_what_is_forbidden_must_leave_something(forbidden, says):
    with pytest.raises(SettingError, match=says):
        Space({"a": Integer(1, 3), "x": Real(0, 1)}, forbidden=forbidden)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"conditions": {"y": {"x": 1}}}, "condition of 'y': there is no such parameter"),
        ({"switches": {"y": "-y"}}, "switches name 'y'"),
    ],
)
def test_arguments_are_checked(arguments, says):
    with pytest.raises(SettingError, match=says):
        Space(**{"parameters": {"x": Real(0, 1)}, **arguments})


def test_a_generator_can_be_given(space):
    draws = np.random.default_rng(3)
    assert space.sample(3, seed=draws) != space.sample(3, seed=draws)


def test_a_latin_hypercube_is_that_of_scipy():
    from scipy.stats import qmc

    for d, n in [(1, 1), (3, 7), (24, 50)]:
        own, other = np.random.default_rng(d), np.random.default_rng(d)
        for _ in range(2):  # neither draws more than the other
            expected = qmc.LatinHypercube(d, rng=other).random(n)
            np.testing.assert_array_equal(_latin_hypercube(d, n, own), expected)


def test_the_repair_hook_changes_what_is_sampled():
    def normalise(config):
        total = config["x"] + config["y"]
        return {"x": config["x"] / total, "y": config["y"] / total}

    space = Space({"x": Real(0, 1), "y": Real(0, 1)}, repair=normalise)
    net = space.net()
    for vector in np.random.default_rng(0).random((5, 2)):
        net.offer(vector)
    for config in [*space.sample(5, seed=0), *net.found]:
        assert config["x"] + config["y"] == pytest.approx(1.0)


def test_the_repair_hook_may_mend_what_is_forbidden():
    def swap(config):
        return {"a": min(config.values()), "b": max(config.values())}

    digits = {"a": Integer(1, 4), "b": Integer(1, 4)}
    space = Space(digits, forbidden=[Param("a") > Param("b")], repair=swap)
    assert len(space.sample(50, seed=0)) == 10


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"x": 2.0}, "left the space: x=2.0: give a number"),
        ({}, "left the space: 'x' is missing"),
        (None, "left the space: None is not a configuration"),
        ({"x": 0.5, "y": 1}, "left the space: 'y' .* is not a parameter"),
    ],
)
def test_a_repair_hook_that_leaves_the_space_is_an_error(answer, says):
    space = Space({"x": Real(0, 1)}, repair=lambda config: answer)
    with pytest.raises(CandidateError, match=says):
        space.sample(1, seed=0)


def test_a_hook_that_always_gives_the_same_ends():
    space = Space({"x": Real(0, 1)}, repair=lambda config: {"x": 0.5})
    assert space.sample(3, seed=0) == [{"x": 0.5}]


def test_spaces_of_true_and_of_one_differ():
    assert Space({"x": Categorical([True, False])}) != Space({"x": Categorical([1, 0])})
    assert Space({"x": Categorical([1, 0])}) == Space({"x": Categorical([1.0, 0.0])})


def test_a_space_can_be_copied_and_pickled(space):
    for again in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert again == space
        assert hash(again) == hash(space)
        assert again.sample(3, seed=1) == space.sample(3, seed=1)
    assert space != 3


def test_json_keeps_everything_but_the_hook(space):
    text = json.dumps(space.to_json(), sort_keys=True)
    assert Space.from_json(json.loads(text)) == space
    assert Space.from_json(json.loads(text)).switches == {"ants": "--ants "}
    tuples = Space(
        {
            "layers": Categorical([(8, 8), (16,)]),
            "o": Ordinal(["l", "h"]),
            "n": Integer(1, 9),
            "m": Integer(1, round(Param("n") / 2)),
        },
        conditions={"n": Param("layers") == (16,), "m": Param("o") > "l"},
    )
    again = Space.from_json(json.loads(json.dumps(tuples.to_json())))
    assert again.sample(9, seed=0) == tuples.sample(9, seed=0)
    hooked = Space({"x": Real(0, 1)}, repair=dict)
    with pytest.raises(SettingError, match="repair hook exactly if it had one"):
        Space.from_json(hooked.to_json())
    assert Space.from_json(hooked.to_json(), repair=dict) == hooked


GOOD = Space({"x": Real(0, 1), "y": 1}, conditions={"y": Param("x") > 0.5}).to_json()
DEEP = ["==", {"param": "x"}, 0.5]
for _ in range(300):
    DEEP = ["not", DEEP]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"parameters": 3},
        {"parameters": []},
        {"parameters": [{"name": ["x"], "type": "real", "low": 0, "high": 1}]},
        {"parameters": [{"type": "real", "low": 0, "high": 1}]},
        {"parameters": [{"name": "x", "type": "real", "low": 0, "high": 1, "run": "me"}]},
        {"parameters": [{"name": "x", "type": "real", "low": {"do": "exec"}, "high": 1}]},
        {"parameters": [{"name": "x", "type": "real", "low": float("nan"), "high": 1}]},
        {"parameters": [{"name": "x", "type": "categorical", "choices": [{}]}]},
        {"conditions": {"y": "x > 0.5"}},
        {"conditions": {"y": ["eval", "x"]}},
        {"conditions": {"y": ["<", {"param": "x"}, {"do": "round", "with": []}]}},
        {"conditions": {"y": ["<", {"param": "x"}, {"a": 1}]}},
        {"conditions": {"y": DEEP}},
        {"conditions": []},
        {"switches": 3},
    ],
)
def test_data_that_are_no_space_are_refused(change):
    with pytest.raises(SettingError):
        Space.from_json({**GOOD, **change})
    with pytest.raises(SettingError):
        Space.from_json([])
