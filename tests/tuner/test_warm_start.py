"""The best configurations of an earlier run, to begin with."""

import flat
import pytest

import racer
from racer.tuner.warm_start import survivors_of

SPACE = racer.Space({"x": racer.Integer(0, 9), "k": racer.Categorical(["a", "b"])})


def evaluate(config, instance, seed):
    return abs(config["x"] - instance) + seed % 3 / 10


def raced(costs, instances=(0, 1, 2), **more):
    """Return the result of six blocks of a race with these costs."""
    race = racer.Race.of(
        [{"x": x, "k": "a"} for x in costs],
        instances,
        budget=400,
        seed=1,
        first_test=20,
        deterministic=False,
        **more,
    )
    sign = -1 if more.get("maximize") else 1
    while race.n_blocks < 6 and (cells := race.ask()):
        for cell in cells:
            value = sign * costs[cell.config["x"]][cell.instance_index]
            race.tell(cell, racer.Outcome("ok", value))
    return race.result()


def chosen(*results):
    return [config["x"] for config in survivors_of(SPACE, results)]


def test_results_follow_each_other():
    one = raced({0: [1, 9, 9], 1: [4, 4, 4]})
    other = raced({0: [1, 9, 9], 4: [4, 4, 4]}, instances=["a", "b", "c"])
    turned = raced({0: [1, 9, 9], 3: [4, 4, 4]}, maximize=True)
    assert chosen(one, other) == [1, 0, 4, 0]
    assert chosen(one, turned) == [1, 0, 3, 0]
    both = racer.tuner.Tuner(SPACE, [0], budget=100, initial=[other, {"x": 1, "k": "a"}, one])
    assert [config["x"] for config in both.settings["initial"]] == [1, 4, 0]


def test_the_front_of_a_result_arrives():
    def evaluate(config, instance, seed):
        return {"err": (9 - config["x"]) ** 2 + seed % 3, "sec": config["x"] + seed % 3 / 9}

    given = {"metrics": {"err": "min", "sec": "min"}, "objective": racer.Pareto("err", "sec")}
    result = flat.tune(SPACE, evaluate, range(5), budget=400, seed=1, **given)
    front = [result.configs[c] for c in result.survivors]
    tuner = racer.Tuner.of(SPACE, range(5), budget=400, seed=2, initial=result, **given)
    assert len(front) > 4
    assert sorted(map(str, tuner.settings["initial"])) == sorted(map(str, front))


def test_a_large_front_is_thinned_to_those_that_spread_best():
    space = racer.Space({"x": racer.Integer(0, 99)})
    race = racer.Race.of(
        *([{"x": x} for x in range(40)], [0, 1, 2, 3, 4, 5]),
        budget=400,
        metrics={"err": "min", "sec": "min"},
        objective=racer.Pareto("err", "sec"),
    )
    while race.n_blocks < 6 and (cells := race.ask()):
        for cell in cells:
            x = cell.config["x"] + cell.seed % 7 / 100
            race.tell(cell, racer.Outcome("ok", -x, metrics={"err": -x, "sec": x}))
    found = [config["x"] for config in survivors_of(space, [race.result()])]
    assert len(found) == 12
    assert {0, 39} <= {*found}


def test_a_tuning_begins_with_what_another_has_found(tmp_path):
    path = tmp_path / "old.db"
    old = racer.tune(SPACE, evaluate, [2, 3, 4], budget=120, seed=1, store=path)
    expected = survivors_of(SPACE, [old])
    assert expected[0]["x"] == old.best["x"]  # k is inert
    results = [
        racer.tune(SPACE, evaluate, [2, 3, 4], budget=100, seed=2, initial=initial)
        for initial in (old, path, str(path), [path, old], [path, *expected[:0]])
    ]
    for result in results:
        assert list(result.configs[: len(expected)]) == expected
        assert result.origins[0].initial
        assert not result.origins[len(expected)].initial
    smaller = racer.Space({"x": racer.Integer(0, 1), "k": racer.Categorical(["a", "b"])})
    with pytest.warns(racer.RacerWarning, match="of an earlier result is left out: x="):
        racer.tune(smaller, evaluate, [2, 3], budget=100, seed=2, initial=old)
    with pytest.raises(racer.StoreError, match="no such file"):
        racer.tune(SPACE, evaluate, [2], budget=100, initial=tmp_path / "none.db")
