"""Races on the scores of items: order, groups, bounds, failures, means."""

import json
from dataclasses import replace

import flat
import numpy as np
import pandas as pd
import pytest
from playing import Scripted, tell_block

import racer
from racer.deciders import BestForBudget, MeanRace
from racer.results.posterior import costs_shown, posterior_of

M, N = 5, 80
SCORES = (
    np.random.default_rng(4).random((M, N)) < np.array([[0.4], [0.5], [0.9], [0.6], [0.8]])
) * 1.0
HOW = {"metrics": {"score": "max"}, "objective": "score", "decider": "mean", "seed": 3}


def answered(candidate, item, seed):
    return {"score": SCORES[candidate, item]}


def raced(evaluate=answered, items=range(N), **settings):
    return flat.race(range(M), evaluate, items, **{"budget": M * N, **HOW, **settings})


def instances(result):
    return result.blocks["instance"].tolist()


def test_items_are_shuffled_used_once_and_the_race_ends_decided():
    result = raced()
    assert (result.best, result.ended.value, len(result.survivors)) == (2, "decided", 1)
    assert instances(result) != sorted(instances(result))
    assert len(set(instances(result))) == len(instances(result))
    assert result.evaluations < M * N
    given = raced(instance_order="given")
    assert instances(given) == sorted(instances(given))
    equal = raced(lambda c, item, seed: {"score": float((item + c * 7) % N < 40)})
    assert (equal.ended.value, len(equal.survivors)) == ("decided", 1)


def test_without_a_budget_all_items_are_paid_for_where_each_is_used_once():
    assert raced(budget=None).rules.one_budget.evaluations == M * N
    once = racer.Instances(range(4), deterministic=True)
    assert racer.race(range(3), lambda c, i, s: c + i, once).evaluations <= 12
    for candidates, items in ((range(M), None), (5, range(N))):
        with pytest.raises(racer.RacerError, match="no budget: give budget=1000"):
            racer.race(candidates, answered, items, decider="mean")


def test_other_deciders_take_items_as_they_are_given_unless_told():
    some = {"decider": BestForBudget(by="mean"), "budget": 200}
    assert instances(raced(**some))[:5] == [0, 1, 2, 3, 4]
    assert instances(raced(**some, instance_order="shuffled"))[:5] != [0, 1, 2, 3, 4]


def test_a_wrong_order_or_wrong_groups_are_refused():
    for settings, message in (
        ({"instance_order": "sorted"}, "order='sorted'"),
        ({"groups": [1, 2]}, "groups= has 2 labels: give one for each of the 80 instances"),
        ({"groups": [1] * N, "block_size": 2}, "give one of them"),
        ({"groups": [[1]] * N}, "no name or number"),
        ({"groups": [pd.NA] * N}, "no name or number"),
        ({"groups": [*range(N - 1), None]}, r"groups\[79\] is missing"),
        ({"groups": [float("nan")] * N}, r"groups\[0\] is missing"),
        ({"groups": [1], "items": None}, "groups= without instances: give instances"),
        ({"deterministic": False}, "list them several times"),
    ):
        with pytest.raises(racer.SettingError, match=message):
            raced(**settings)
    with pytest.raises(racer.SettingError, match="the mean of capped run times is undefined"):
        racer.Race.of([1, 2], [1, 2], groups=[0, 0], runtime=racer.Runtime(5.0), budget=60)


OUTSIDE = {(2, 17): 3.0}


def graded(candidate, item, seed):
    return {"score": OUTSIDE.get((candidate, item), SCORES[candidate, item])}


def test_a_score_outside_the_bounds_is_refused_with_its_cell_before_it_counts(
    tmp_path, monkeypatch
):
    store = tmp_path / "run.db"
    message = r"candidate 2 has the score 3 on instance 17, 17, outside .*\(0.0, 1.0\)"
    with pytest.raises(racer.ObjectiveError, match=message):
        raced(graded, store=store)
    partly = racer.load(store)
    assert partly.evaluations
    assert 3.0 not in partly.table.to_numpy()
    monkeypatch.delitem(OUTSIDE, (2, 17))
    mended = raced(graded, store=store)
    assert mended.table.equals(raced().table)
    assert mended.means.equals(raced().means)


def test_bounds_are_those_of_the_metric_or_of_the_decider():
    wide = {"score": racer.Metric("max", bounds=(0, 4))}
    assert raced(graded, metrics=wide).evaluations > raced().evaluations
    assert raced(graded, decider=MeanRace(bounds=(0, 4))).best == 2
    rules = racer.racing.Rules(decider="mean", budget=60, metrics=wide)
    assert (rules.bounds, rules.cost_bounds) == ((0.0, 4.0), (-4.0, 0.0))
    assert racer.racing.Rules(decider="anytime", budget=60, metrics=wide).bounds is None


def test_items_on_which_all_fail_count_and_the_race_ends_decided():
    def failing(candidate, item, seed):
        if item in (3, 40):
            raise OSError
        return {"score": float((item + candidate) % 2 if item else candidate == 4)}

    last = [i for i in range(N) if i != 40] + [40]
    with pytest.warns(racer.RacerWarning, match="has the worst score for all"):
        result = raced(failing, items=last, instance_order="given")
    assert (result.ended.value, result.survivors) == ("decided", (4,))
    assert result.evaluations == M * N
    assert result.means["mean"].tolist() == pytest.approx([40 / N, 39 / N, 39 / N, 38 / N, 38 / N])


def test_a_group_is_a_block_with_its_mean():
    labels = [f"passage {i % 20}" for i in range(N)]
    result = raced(groups=labels)
    order = instances(result)
    whole = len(order) // 4 * 4
    blocks = np.array(order[:whole]).reshape(-1, 4)
    assert (blocks % 20 == blocks[:, :1] % 20).all()  # together
    assert blocks[:, 0].tolist() != sorted(blocks[:, 0].tolist())
    # as a race on the means
    table = SCORES.reshape(M, 4, 20).mean(axis=1)[:, (blocks[:, 0] % 20)]
    race = racer.Race.of(
        range(M), range(20), decider="mean", maximize=True, budget=999, instance_order="given"
    )
    race.ask()
    while race.ended is None and race.n_blocks < table.shape[1]:
        tell_block(race, table[list(race.alive), race.n_blocks])
    found = result.eliminations
    again = race.result().eliminations
    assert found["candidate"].tolist() == again["candidate"].tolist()
    assert ((found["block"] + 1) == 4 * (again["block"] + 1)).all()
    assert result.means["items"].max() == whole // 4
    # what is known of the best is known of groups, too
    copies = raced(
        lambda c, item, s: {"score": SCORES[c, item // 4]}, groups=[i // 4 for i in range(N)]
    )
    once = raced(lambda c, item, s: {"score": SCORES[c, item]}, items=range(20))
    found = copies.probability_best, once.probability_best
    assert list(found[0].values()) == pytest.approx(list(found[1].values()), abs=0.01)


def test_groups_with_a_decider_of_ranks_wait_for_its_first_test(tmp_path):
    labels = [i // 8 for i in range(N)]
    settings = {"groups": labels, "decider": "f-race", "deterministic": True, "first_test": 4}
    store = tmp_path / "run.db"
    result = raced(**settings, store=store)
    assert result.verdicts["block"].iloc[0] <= result.eliminations["block"].iloc[0]
    assert result.eliminations["block"].iloc[0] >= 4 * 8 - 1
    assert instances(result) == list(range(len(instances(result))))
    assert racer.resume(store, answered).eliminations.equals(result.eliminations)


def test_a_budget_short_of_the_first_groups_is_refused():
    sizes = [3, 1, 2] + [10] * 9
    labels = [group for group, size in enumerate(sizes) for _ in range(size)]
    some = {"groups": labels, "decider": "halving", "first_test": 4}
    message = r"4 candidates x 16 blocks before the first test are 64"
    with pytest.raises(racer.BudgetError, match=message):
        racer.Race.of(range(4), labels, **some, budget=63)
    racer.Race.of(range(4), labels, **some, budget=64)
    money = {"budget": racer.Budget(spend=63.0), "prices": [1.0] * 4}
    with pytest.raises(racer.BudgetError, match=r"4 candidates on the 16 blocks .* cost 64"):
        racer.Race.of(range(4), labels, **some, **money)
    with pytest.raises(racer.BudgetError, match="4 candidates x 96 blocks"):
        racer.Race.of(range(4), labels, **some | {"first_test": 99}, budget=300)
    shuffled = racer.Race.of(
        range(4), labels, **some, budget=999, instance_order="shuffled", seed=3
    )
    least = shuffled._stream.first_groups(4)
    taken = {labels[i] for i in map(shuffled._stream.instance, range(least))}
    assert len(taken) == 4
    assert least == sum(sizes[group] for group in taken)


def test_groups_that_come_again_are_blocks_of_their_own():
    noise = np.random.default_rng(2).random((3, 1000))

    def evaluate(candidate, item, seed):
        return noise[candidate, seed % 1000]

    labels, how = [0, 0, 1, 1, 1, 2], {"budget": 54, "seed": 1, "decider": "halving"}
    result = flat.race(range(3), evaluate, range(6), **how, groups=labels)
    assert len(result.blocks) >= 18
    costs = costs_shown(result.known, 3, result.stream, result.rules)
    rows = result.table.to_numpy()
    assert costs[:4] == pytest.approx(
        np.array([rows[:2].mean(0), rows[2:5].mean(0), rows[5], rows[6:8].mean(0)]), nan_ok=True
    )
    assert result.probability_best[result.best_index] > 0.0


def mixed(candidate, item, seed):
    """Return a cost by which candidates differ from item to item; seeds add little."""
    apart = np.random.default_rng([candidate, item]).normal()
    return apart + 0.05 * np.random.default_rng([candidate, seed]).normal()


@pytest.mark.parametrize("generalize", [True, False])
def test_groups_of_one_instance_each_say_what_no_groups_say(generalize):
    how = {"budget": 60, "seed": 1, "decider": "halving", "generalize": generalize}
    result = flat.race([0, 1], mixed, range(6), **how, groups=list("abcdef"))
    alone = flat.race([0, 1], mixed, range(6), **how)
    assert result.probability_best == alone.probability_best
    assert (max(result.probability_best.values()) > 0.95) is not generalize
    about = "groups like these 6." if generalize else "these 6 groups. For others"
    assert any(f"This is about {about}" in line for line in result.verdict)


def test_the_claim_is_about_groups_if_these_are_ten():
    how = {"budget": 80, "seed": 1, "decider": "halving"}
    result = flat.race([0, 1], mixed, range(12), **how, groups=[item // 2 for item in range(12)])
    assert "about these 6 groups, as they are fewer than 10" in "".join(result.verdict)
    known = {"known": result.known, "n_candidates": 2, "stream": result.stream}
    blocks = posterior_of(rules=result.rules, by_means=True, **known)
    others = posterior_of(rules=replace(result.rules, generalize=True), by_means=True, **known)
    assert others.probability_best.max() < blocks.probability_best.max() - 0.1
    with pytest.raises(racer.SettingError, match="generalize=True with one instance, or one group"):
        flat.race([0, 1], mixed, range(12), **how, groups=[0] * 12, generalize=True)


def penalised(candidate, item, seed):
    """Return a cost: candidate 0 is seldom stopped, the others a little cheaper where they are not."""
    rng = np.random.default_rng([3, candidate, item])
    if rng.random() < (0.03, 0.15, 0.25)[candidate]:
        return 1000.0
    return 10.0 - 0.5 * (candidate > 0) + 0.5 * rng.normal()


@pytest.mark.parametrize("generalize", [True, None])
def test_a_penalty_is_recognised_within_groups(generalize):
    how = {"budget": 240, "seed": 1, "deterministic": True, "generalize": generalize}
    how |= {"decider": "best-for-budget", "groups": [item // 2 for item in range(80)]}
    result = flat.race(range(3), penalised, range(80), **how)
    assert set(result.verdicts["standing"].dropna().tail(20)) == {"mean"}
    assert result.survivors[0] == result.best == 0
    # who was left out is known on some groups only
    assert result.probability_best[0] > 0.8


def test_groups_of_which_all_are_known_are_compared_by_their_means_if_there_are_penalties():
    how = {"budget": 240, "seed": 1, "deterministic": True, "decider": Scripted()}
    result = flat.race(range(3), penalised, range(80), **how, groups=[i // 2 for i in range(80)])
    assert result.probability_best[0] > 0.99


def test_penalties_of_whole_groups_count_once():
    how = {"budget": 360, "seed": 1, "deterministic": True, "generalize": True}
    how |= {"decider": Scripted(), "groups": [i // 4 for i in range(120)]}
    result = flat.race(range(3), lambda c, i, seed: penalised(c, i // 4, seed), range(120), **how)
    how["groups"] = None
    once = flat.race(range(3), penalised, range(30), **how)
    found = [list(r.probability_best.values()) for r in (result, once)]
    assert found[0] == pytest.approx(found[1], abs=0.05)  # as independent evidence: 0.9999


def half_failing(candidate, item, seed):
    if item % 2:
        raise ValueError
    return candidate + (item * 7919 % 13) / 10


def test_the_verdict_counts_groups_with_a_failed_block_as_the_decider_does():
    how = {"groups": [i // 2 for i in range(24)], "deterministic": True, "budget": 1000, "seed": 1}
    with pytest.warns(racer.RacerWarning, match="is set aside"):
        result = flat.race(
            [1.0, 2.0], half_failing, list(range(24)), **how, first_test=3, decider="t-race"
        )
    assert (result.ended.value, result.best) == ("decided", 1.0)
    assert result.posterior.n_blocks == len(result.blocks) // 2 == 3
    assert result.probability_best[0] > 0.95


@pytest.mark.parametrize("each_test", [1, 3, 5])
def test_a_group_is_shown_when_its_last_block_failed_and_not_if_all_did(each_test):
    def evaluate(candidate, item, seed):
        if item in (2, 3, 4, 11) or (candidate == 2.0 and item == 6):
            raise ValueError
        return candidate + item

    decider, labels = Scripted(), [i // 2 for i in range(12)]
    how = {"groups": labels, "deterministic": True, "budget": 24, "seed": 1, "first_test": 2}
    with pytest.warns(racer.RacerWarning, match="is set aside"):
        result = flat.race(
            [1.0, 2.0], evaluate, range(12), **how, decider=decider, each_test=each_test
        )
    means = [[1.5, 2.5], [6.0, 7.0], [7.5, np.inf], [9.5, 10.5], [11.0, 12.0]]
    assert [row for _, _, costs in decider.looks for row in costs] == means
    assert costs_shown(result.known, 2, result.stream, result.rules).tolist() == means


def test_nothing_is_unknown_once_all_groups_but_one_that_nobody_solves_are_known():
    def evaluate(candidate, item, seed):
        if item in (2, 3, 11):
            raise ValueError
        return candidate + (item * 7919 % 13) * candidate

    how = {"groups": [i // 2 for i in range(12)], "deterministic": True, "budget": 24, "seed": 1}
    with pytest.warns(racer.RacerWarning, match="is set aside"):
        result = flat.race([1.0, 1.1], evaluate, range(12), **how, decider=Scripted())
    assert len(result.blocks) == 12
    assert result.probability_best == {0: 1.0, 1: 0.0}


def test_groups_of_several_metrics():
    rng = np.random.default_rng(0)
    table = rng.random((4, 60, 2)) + np.array([0, 0.3, 0.6, 0.9])[:, None, None] * [1, 1]

    def evaluate(candidate, item, seed):
        return dict(zip("ab", table[candidate, item], strict=True))

    given = {"metrics": {"a": "min", "b": "min"}, "objective": racer.Pareto("a", "b")}
    given |= {"budget": 240, "seed": 1, "deterministic": True, "decider": "front"}
    result = flat.race(range(4), evaluate, range(60), **given, groups=[i // 3 for i in range(60)])
    means = table.reshape(4, 20, 3, 2).mean(axis=2)
    again = flat.race(
        range(4),
        lambda c, block, seed: dict(zip("ab", means[c, block], strict=True)),
        range(20),
        **given | {"budget": 80},
    )
    assert len(result.eliminations) > 0
    assert result.eliminations["candidate"].tolist() == again.eliminations["candidate"].tolist()
    ends = 3 * (again.eliminations["block"] + 1) - 1
    assert result.eliminations["block"].tolist() == ends.tolist()


def test_means_and_differences_with_their_limits():
    result = raced()
    means = result.means
    true = SCORES.mean(axis=1)
    assert means.index[0] == 2
    for c in range(M):
        row = means.loc[c]
        assert row["low"] <= row["mean"] <= row["high"]
        assert row["low"] <= true[c] <= row["high"]
        assert row["difference_low"] <= true[c] - true[2] <= row["difference_high"]
        assert row["mean"] == pytest.approx(np.nanmean(result.table[c]))
        common = result.table[[c, 2]].dropna()
        assert row["difference"] == pytest.approx((common[c] - common[2]).mean())
    assert (means.loc[2, ["difference_low", "difference_high"]] == 0.0).all()
    everything = raced(budget=M * N, min_survivors=4)
    costs = raced(lambda c, i, s: {"score": 1.0 - SCORES[c, i]}, metrics={"score": "min"}).means
    assert costs["mean"].to_numpy() == pytest.approx(1.0 - means["mean"].to_numpy())
    assert costs["low"].to_numpy() == pytest.approx(1.0 - means["high"].to_numpy())
    assert len(everything.means) == M
    wider = raced(decider=MeanRace(population=True)).means.loc[2]
    assert wider["low"] < means.loc[2, "low"]
    with pytest.raises(racer.SettingError, match='decider="mean"'):
        _ = raced(decider="anytime", deterministic=True).means


FAILS = {"never": 0.8, "on a tenth of the items": 0.95}


def may_fail(name, item, seed):
    fails, draw = np.random.default_rng([item, len(name)]).random(2)
    return float("nan") if fails < 0.1 and name != "never" else float(draw < FAILS[name])


@pytest.mark.parametrize("groups", [None, list(range(200))])
def test_a_failed_cell_is_the_worst_score_for_the_best_as_well(groups):
    how = {"maximize": True, "budget": 400, "seed": 2, "groups": groups}
    result = flat.race(list(FAILS), may_fail, range(200), decider="mean", **how)
    assert len(result.failures) > 5
    assert result.survivors == (1,) == (result.best_index,)
    assert result.means.index[0] == 1
    sample = flat.race(list(FAILS), may_fail, range(200), decider=MeanRace(population=True), **how)
    assert sample.evaluations == 400
    assert sample.best_index == 1
    assert result.probability_best[1] > 0.99 > sample.probability_best[1]


def test_they_are_printed_and_in_the_data():
    result = raced()
    text = str(result)
    assert "Mean scores" in text
    assert "95 % intervals, valid together" in text
    assert f"would have been {M * N} evaluations" in text
    rows = json.loads(json.dumps(result.to_dict()))["mean_scores"]
    assert [row["candidate"] for row in rows] == result.means.index.tolist()
    assert "mean_scores" not in raced(decider="anytime", deterministic=True).to_dict()


def test_the_same_call_goes_on_where_the_order_is_the_usual_one_and_is_given(tmp_path):
    some = {"store": tmp_path / "run.db", "decider": BestForBudget(by="mean"), "budget": 200}
    first = raced(**some, instance_order="given")
    for order in ("given", None):
        assert raced(**some, instance_order=order).table.equals(first.table)
    with pytest.raises(racer.StoreError, match="begun without order, which is 'shuffled'"):
        raced(**some, instance_order="shuffled")


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_exact_ties_on_all_items_is_one_that_survives(seed):
    """Eliminated as indistinguishable, it was named the best by a rounding error."""
    rng = np.random.default_rng(seed)
    right = (rng.random((40, 4)) < 0.6).astype(float)
    for column in range(1, 4 if seed % 2 else 3):
        right[:, column] = right[rng.permutation(40), 0]
    how = {"maximize": True, "decider": "mean", "budget": 1000, "seed": seed}
    result = flat.race(range(4), lambda c, item, _: right[item, c], range(40), **how)
    means = right.mean(axis=0)
    assert result.best_index in result.survivors
    assert means[result.best_index] == means.max()
    ties = [result.probability_best[c] for c in np.flatnonzero(means == means.max())]
    if all(len(result.known.of(c)) == 40 for c in np.flatnonzero(means == means.max())):
        assert ties == pytest.approx([1.0 / len(ties)] * len(ties), abs=0.01)


def test_tuning_on_bounded_scores():
    space = racer.Space({"x": racer.Real(0, 1)})

    def evaluate(config, item, seed):
        return {"score": float((item * 37 % 101) / 101 < 0.9 - 3.0 * (config["x"] - 0.3) ** 2)}

    result = flat.tune(space, evaluate, range(60), budget=400, **HOW)
    assert abs(result.best["x"] - 0.3) < 0.2
    # candidates that come later have not seen the first items, as confidence sequences need
    assert "Mean scores" not in str(result)
    assert "mean_scores" not in result.to_dict()


@pytest.mark.parametrize(
    "decider", ["t-race", "best-for-budget", "halving", "bayesian-friedman", None]
)
def test_a_group_in_which_every_candidate_fails_somewhere_is_set_aside(decider):
    def evaluate(candidate, item, seed):
        if item in (2, 3, 4) and candidate == item - 2:  # items 2 to 4 are the second group
            raise ValueError
        value = candidate + seed % 7 / 20
        return {"a": value, "b": value} if decider is None else value

    labels = [0, 0, 1, 1, 1, *range(2, 22)]
    how = {"groups": labels, "budget": 200, "seed": 1, "first_test": 2, "decider": decider}
    if decider is None:
        how |= {"metrics": {"a": "min", "b": "min"}}
        how |= {"objective": racer.Constrained("a", b=("<=", 9.0))}
    result = flat.race(range(3), evaluate, range(25), **how)
    assert result.best == 0
    shown = costs_shown(result.known, 3, result.stream, result.rules)
    assert np.isfinite(shown).any(axis=1).all()


@pytest.mark.parametrize("decider", ["t-race", "f-race", "halving"])
def test_a_race_ends_when_all_groups_are_set_aside_by_the_first_test(decider):
    def evaluate(candidate, item, seed):
        if item % 3 == candidate:
            raise ValueError
        return candidate + seed % 7 / 20

    groups = [item // 3 for item in range(60)]
    how = {"groups": groups, "budget": 600, "seed": 1, "decider": decider}
    with pytest.warns(racer.RacerWarning, match="all groups are set aside: in each, every"):
        result = flat.race(range(3), evaluate, range(60), **how)
    assert result.ended is racer.Ended.ALL_FAILED
    blocks = 15 if decider == "halving" else 16  # five groups; tests grow apart
    assert result.evaluations == 3 * blocks
    assert result.best is None
