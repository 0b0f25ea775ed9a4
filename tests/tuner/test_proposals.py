"""Children: around the elites, different from all that is there, and within the space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController

from racer import Categorical, Integer, Real, Space
from racer.model.effects import Effects
from racer.tuner import drafts as drawing
from racer.tuner import proposals as module
from racer.tuner.history import Lost
from racer.tuner.proposals import WIDEST, Proposals

LAWS = settings(max_examples=20, deadline=None, derandomize=True)


def begun(space, configs, seed=1):
    proposals = Proposals(space, seed)
    for config in configs:
        proposals.take(config)
    return proposals


def learnt(proposals, costs, variance=0.01):
    costs = np.asarray(costs, dtype=float)
    known = Effects(costs, np.full(len(costs), variance))
    return proposals.learn(np.arange(len(costs)), known, range(len(costs)))


@LAWS
@given(
    st.sampled_from(["reals", "mixed", "three", "four"]),
    st.integers(0, 10**6),
    st.integers(0, 30),
    st.floats(0, 1),
    st.booleans(),
)
def test_children_are_new_and_in_the_space(tuning, name, seed, n, clarity, with_surrogate):
    space = tuning.SPACES[name]()
    parents = space.sample(5, seed=seed)
    proposals = begun(space, parents, seed)
    if with_surrogate:
        learnt(proposals, np.random.default_rng(seed).normal(size=len(parents)))
    elites = list(range(len(parents)))[::2]
    children = proposals.around(elites, n, 1, clarity)
    keys = {space.key(child.config) for child in children}
    assert len(keys) == len(children) == min(n, space.size - len(parents))
    assert not keys & {space.key(config) for config in parents}
    for child in children:
        assert space.check(child.config) == child.config
        assert child.parent is None or child.parent in range(len(parents))


def test_children_narrow_from_race_to_race_as_the_last_one_was_clear():
    space = Space({f"x{i}": Real(-1, 1) for i in range(2)})
    proposals = begun(space, [{"x0": 0, "x1": 0}])

    def width(race, clarity):
        children = proposals.around([0], 100, race, clarity)
        return np.std([child.config["x0"] for child in children]) / 2

    widths = [width(race, 1.0) for race in range(1, 4)]
    # the spread times (1/100)^(1/2) each time
    assert widths == pytest.approx([0.05, 0.005, 0.001], rel=0.35)
    assert proposals.branches.spread == drawing.NARROWEST
    other = begun(space, [{"x0": 0, "x1": 0}])
    other.around([0], 100, 1, 0.0)
    assert other.branches.spread == WIDEST


def test_the_first_elite_has_most_children_and_all_have_some(monkeypatch):
    monkeypatch.setattr(drawing, "_CROSSED", 0.0)
    space = Space({"x": Real(-1, 1), "y": Real(-1, 1)})
    elites = [{"x": x, "y": 0} for x in (-0.9, 0, 0.9)]
    children = begun(space, elites).around([2, 0, 1], 300, 1, 1.0)
    parents = [child.parent for child in children]
    counts = [parents.count(elite) for elite in (2, 0, 1)]
    assert counts == pytest.approx([150, 100, 50], abs=30)
    for child in children:
        assert abs(child.config["x"] - elites[child.parent]["x"]) < 0.4


def test_crossed_children_take_each_parameter_from_any_elite(monkeypatch):
    monkeypatch.setattr(drawing, "_CROSSED", 1.0)
    space = Space({"x": Real(-1, 1), "y": Real(-1, 1)})
    proposals = begun(space, [{"x": -0.9, "y": -0.9}, {"x": 0.9, "y": 0.9}])
    proposals.branches.spread = 0.02
    children = proposals.around([0, 1], 100, 1, 0.0)
    mixed = sum(child.config["x"] * child.config["y"] < 0 for child in children)
    assert 25 < mixed < 65


def test_the_surrogate_takes_the_more_promising_drafts():
    space = Space({"x": Real(0, 1), "y": Real(0, 1)})
    configs = space.sample(40, seed=1, method="lhs")
    cost = np.array([(c["x"] - 0.7) ** 2 for c in configs])
    elite = int(np.argmin([abs(c["x"] - 0.5) for c in configs]))

    def mean(with_surrogate):
        proposals = begun(space, configs)
        if with_surrogate:
            learnt(proposals, cost, 1e-6)
        children = proposals.around([elite], 40, 1, 0.0)
        return np.mean([abs(child.config["x"] - 0.7) for child in children])

    assert mean(with_surrogate=True) < 0.5 * mean(with_surrogate=False)


@pytest.mark.parametrize("n_forbidden", [0, 1])
def test_choices_that_nobody_has_tried_are_tried_whatever_the_surrogate_thinks(n_forbidden):
    space = Space(
        {"kind": Categorical([f"k{i}" for i in range(12)]), "x": Real(0, 1)},
        forbidden=[{"kind": f"k{11 - i}"} for i in range(n_forbidden)],
    )
    configs = [{"kind": f"k{i % 4}", "x": i / 20} for i in range(20)]
    proposals = begun(space, configs)
    learnt(proposals, np.array([0.0 if c["kind"] == "k0" else 5.0 for c in configs]))
    proposals.branches.spread = 0.01  # that of choosing anew
    children = proposals.around([0, 4], 300, 1, 0.0)
    kinds = [child.config["kind"] for child in children]
    assert {f"k{i}" for i in range(4, 12 - n_forbidden)} <= set(kinds)
    assert kinds.count("k0") > 210  # seven tenths are where it is good


def test_a_choice_that_lost_with_poor_values_is_tried_again_and_one_that_often_lost_is_not():
    space = Space({"kind": Categorical(["a", "b", "c"]), "x": Real(0, 1)})
    configs = [{"kind": "a", "x": i / 20} for i in range(20)]
    configs += [{"kind": "b", "x": 0.03}, *({"kind": "c", "x": i / 20} for i in range(20))]
    proposals = begun(space, configs)
    learnt(proposals, [3 * (c["x"] - 0.9) ** 2 + 2 * (c["kind"] == "c") for c in configs])
    proposals.branches.spread = 0.01
    kinds = [child.config["kind"] for child in proposals.around([18, 17], 200, 1, 0.0)]
    assert kinds.count("b") > 30
    assert kinds.count("c") < 5


def test_a_choice_that_is_always_forbidden_does_not_widen_the_neighbourhood(monkeypatch):
    asked = []

    def counted(*arguments, **how):
        asked.append(arguments[1])
        return drawing.drafts_around(*arguments, **how)

    monkeypatch.setattr(module, "drafts_around", counted)
    kinds = Categorical(["a", "b", "d"])
    space = Space({"kind": kinds, "x": Real(0, 1)}, forbidden=[{"kind": "d"}])
    configs = [{"kind": "ab"[i % 2], "x": i / 20} for i in range(20)]
    proposals = begun(space, configs)
    learnt(proposals, np.arange(20.0))
    proposals.branches.spread = 0.1
    assert len(proposals.around([0, 1], 100, 1, 0.0)) == 100
    assert asked == [100]


def test_untried_choices_are_tried_where_their_parameter_exists():
    space = Space(
        {"algo": Categorical(["A", "B"]), "mode": Categorical(range(12)), "x": Real(0, 1)},
        conditions={"mode": {"algo": "B"}},
    )
    configs = [{"algo": "A", "x": i / 20} for i in range(19)]
    proposals = begun(space, [*configs, {"algo": "B", "mode": 0, "x": 0.5}])
    learnt(proposals, np.array([0.0] * 19 + [5.0]))
    proposals.branches.spread = 0.01
    children = [child.config for child in proposals.around([0, 1], 1500, 1, 0.0)]
    assert {c["mode"] for c in children if c["algo"] == "B"} >= set(range(1, 12))
    assert sum(c["algo"] == "A" for c in children) > 900  # three tenths are for the other branch


def test_what_always_fails_is_kept_away_from_and_what_is_beside_it_is_not():
    space = Space({"x": Real(0, 1), "y": Real(0, 1)})
    configs = [*space.sample(60, seed=1, method="lhs"), {"x": 0.3, "y": 0.5}]
    failed = np.array([c["x"] > 0.5 for c in configs])
    costs = np.array([(c["x"] - 0.48) ** 2 for c in configs]) / 0.07  # spreads
    proposals = begun(space, configs)
    everyone = np.arange(len(configs))
    proposals.failing([60], Lost(everyone, np.zeros(61, int), failed, 1, None))
    known = Effects(costs[~failed], np.full((~failed).sum(), 1e-6))
    proposals.learn(everyone[~failed], known, [60])
    children = [c.config["x"] for c in proposals.around([60], 50, 1, 0.0)]
    assert sum(x > 0.55 for x in children) == 0
    assert np.median(np.abs(np.array(children) - 0.48)) < 0.1


@pytest.mark.usefixtures("two_blas_threads")
def test_a_second_blas_thread_is_not_woken(monkeypatch):
    def threads():
        libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        return {library.get_num_threads() for library in libraries}

    def noting(name):
        asked = getattr(module, name)

        def note(*arguments, **settings):
            seen.append(threads())
            return asked(*arguments, **settings)

        monkeypatch.setattr(module, name, note)

    seen = []
    noting("Surrogate")
    noting("drafts_around")
    before = threads()
    space = Space({"x": Real(0, 1)})
    proposals = begun(space, space.sample(20, seed=1))
    learnt(proposals, np.arange(20.0))
    proposals.around([0], 5, 1, 1.0)
    assert len(seen) >= 2
    assert all(n == {1} for n in seen)
    assert threads() == before


def test_what_is_expected_of_candidates_is_told_in_the_order_asked():
    space = Space({"x": Real(0, 1)})
    configs = space.sample(30, seed=1)
    proposals = begun(space, configs)
    costs = np.array([c["x"] for c in configs])
    known = Effects(costs, np.full(30, 1e-4))
    expected = proposals.learn(np.arange(30), known, [7, 3, 22])
    assert expected == pytest.approx(costs[[7, 3, 22]], abs=0.05)


def test_of_many_candidates_the_best_the_present_and_the_latest_are_learnt_from(monkeypatch):
    seen = []
    surrogate = module.Surrogate

    def spy(features, effects, *last):
        seen.append(effects.value)
        return surrogate(features, effects, *last)

    monkeypatch.setattr(module, "Surrogate", spy)
    monkeypatch.setattr(drawing, "_LEARNT", 40)
    space = Space({"x": Real(0, 1)})
    proposals = begun(space, space.sample(90, seed=1))
    costs = np.arange(90.0)[::-1].copy()  # the latest are the best
    costs[:10] = -1.0
    known = Effects(costs, np.ones(90))
    expected = proposals.learn(np.arange(90), known, [30, 75])
    assert len(expected) == 2
    (values,) = seen
    assert len(values) == drawing._LEARNT
    assert {*costs[:10], costs[30], costs[75], costs[89]} <= set(values)


def test_whole_numbers_run_out_and_the_neighbourhood_widens():
    space = Space({"n": Integer(0, 1000)})
    proposals = begun(space, [{"n": 500}])
    proposals.branches.spread = 0.001
    drawn = [child.config["n"] for child in proposals.around([0], 30, 1, 0.0)]
    assert len(set(drawn)) == 30
    assert max(abs(n - 500) for n in drawn) > 10


def test_some_children_are_drawn_around_the_best_of_other_branches():
    space = Space(
        {"kind": Categorical(["a", "b", "c"]), "x": Real(0, 1), "y": Real(0, 1)},
        conditions={"x": {"kind": "a"}, "y": {"kind": "b"}},
    )
    configs = [{"kind": "a", "x": 0.1 * i} for i in range(8)]
    configs += [{"kind": "b", "y": 0.9}, {"kind": "b", "y": 0.2}]
    proposals = begun(space, configs)
    learnt(proposals, [*range(8), 30, 20])
    children = proposals.around([0, 1], 60, 1, 1.0)
    others = [child.config for child in children if child.parent == 9]  # the better of its branch
    assert {child.parent for child in children} == {0, 1, 9}
    assert 2 <= len(others) <= 30
    assert np.median([c["y"] for c in others if "y" in c]) < 0.5


def test_all_children_are_around_elites_where_there_is_one_branch(tuning):
    proposals = begun(tuning.reals(), tuning.reals().sample(9, seed=3))
    learnt(proposals, np.arange(9))
    assert {child.parent for child in proposals.around([0, 4], 30, 1, 1.0)} == {0, 4}


@pytest.mark.parametrize(("n", "varied"), [(10, 10), (30, 5)])
def test_of_many_parameters_a_child_varies_a_few(monkeypatch, n, varied):
    monkeypatch.setattr(drawing, "_CROSSED", 0.0)
    parent = {f"x{i}": 0.5 for i in range(n)}
    proposals = begun(Space({name: Real(0.0, 1.0) for name in parent}), [parent])
    children = proposals.around([0], 200, 1, 0.0)
    changed = [sum(value != 0.5 for value in child.config.values()) for child in children]
    assert abs(np.mean(changed) - varied) < 0.5
    assert min(changed) >= 1


def test_parameters_that_do_not_exist_are_not_counted_as_many():
    def space(others):
        given = {"c": Categorical(["a", "b"]), **{f"x{i}": Real(0.0, 1.0) for i in range(8)}}
        elsewhere = {f"y{i}": Real(0.0, 1.0) for i in range(others)}
        return Space(given | elsewhere, conditions={name: {"c": "b"} for name in elsewhere})

    parent = {"c": "a", **{f"x{i}": 0.5 for i in range(8)}}
    for others in (1, 20):
        child = begun(space(others), [parent]).around([0], 1, 1, 0.0)[0]
        assert all(child.config[f"x{i}"] != 0.5 for i in range(8))


def with_costs(costs):
    """Return three branches, of two parameters each: two candidates, many, and one."""
    n_tuned = len(costs) - 3
    space = Space(
        {
            "kind": Categorical(["a", "b", "c"]),
            **{f"{k}{i}": Real(0, 1) for k in "abc" for i in range(2)},
        },
        conditions={f"{k}{i}": {"kind": k} for k in "abc" for i in range(2)},
    )
    rng = np.random.default_rng(1)
    configs = [
        {"kind": k, f"{k}0": rng.random(), f"{k}1": rng.random()}
        for k in ["a"] * 2 + ["b"] * n_tuned + ["c"]
    ]
    proposals = begun(space, configs)
    learnt(proposals, costs)
    return proposals


def test_the_branch_that_was_tuned_least_has_its_share_first():
    proposals = with_costs([0.0, 1.0, *[2.0 + i for i in range(13)], 9.0])
    kinds = [c.config["kind"] for c in proposals.around([0], 20, 1, 1.0)]
    assert kinds.count("c") >= 5
    assert kinds.count("c") > kinds.count("b")


def test_a_branch_is_given_up_by_halving_once_it_has_been_tuned(monkeypatch):
    monkeypatch.setattr(drawing, "_EXPLORING", 0.0)

    def kinds_of(costs, remaining):
        proposals = with_costs(costs)
        proposals.branches.spread = 0.1
        children = proposals.around([0], 100, 1, 1.0, remaining)
        return [child.config["kind"] for child in children]

    clear = [0.0, 0.1, *[50.0 + 0.01 * i for i in range(20)], 50.0]
    assert kinds_of(clear, 0.4).count("b") == 0
    assert kinds_of(clear, 0.4).count("c") > 25  # too few of it to tell
    assert kinds_of(clear, 0.1).count("c") == 0  # too late for it
    near = [0.0, 0.1, *[0.3 * (i % 5) for i in range(20)], 0.2]
    assert {"b", "c"} <= set(kinds_of(near, 1.0))
