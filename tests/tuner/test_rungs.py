"""Rungs of cheap evaluations: what they cost, what rests on them, and whether they are trusted."""

import html
import json
import math
import re
import warnings
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from objectives import quality, telling
from scipy.stats import spearmanr

import racer
from racer import Budget, Fidelity, ObjectiveError, Outcome, Real, SettingError, Space, Tuner
from racer.core.blocks import Place
from racer.core.cheap import Cheap
from racer.core.table import Table

pytestmark = [
    pytest.mark.filterwarnings("ignore:epochs .* is left out:racer.RacerWarning"),
    pytest.mark.filterwarnings("ignore:.* was begun with evaluate=:racer.RacerWarning"),
]
EPOCHS = Fidelity("epochs", (1, 3, 9, 27))
SPACE = Space({f"x{k}": Real(0, 1) for k in range(4)})
SETTINGS = {"budget": 80, "seed": 1, "fidelity": EPOCHS}


def lying(config, instance, seed, epochs):
    """Cheap evaluations that are best where full ones are worst."""
    value = telling(config, instance, seed, epochs)
    return value if epochs == 27 else -value


class Calls(list):
    """An objective that notes at which fidelities it was called, and for which configurations."""

    def __init__(self, evaluate=telling):
        super().__init__()
        self.evaluate = evaluate

    def __call__(self, config, instance, seed, epochs):
        self.append((epochs, tuple(config.values())))
        return self.evaluate(config, instance, seed, epochs)

    def cost(self):
        return sum(Fraction(epochs) / 27 for epochs, _ in self)


def told(result):
    """Return all of a result that a resume or more workers must not change."""
    frames = result.scores[["block", "candidate", "value"]], result.eliminations
    texts = [frame.to_csv() for frame in (*frames, result.fidelities, result.configurations)]
    return texts, result.best_index, result.elites, result.evaluations, result.ended


def only_cheap(result):
    """Return the candidates without a full evaluation."""
    return {c for c in range(len(result.configs)) if not result.known.of(c)}


@pytest.mark.parametrize("budget", [25, 80, 601, [40, 90]])
@pytest.mark.parametrize("evaluate", [telling, lying])
def test_each_evaluation_counts_as_its_share_and_the_budget_is_kept(budget, evaluate):
    calls = Calls(evaluate)
    result = racer.tune(SPACE, calls, **SETTINGS | {"budget": budget})
    most = budget if isinstance(budget, int) else budget[-1]
    assert most - 2 < calls.cost() <= most
    assert result.evaluations == math.ceil(calls.cost())
    n = Counter(epochs for epochs, _ in calls)
    assert result.fidelities["evaluations"].to_dict() == {v: n[v] for v in (1, 3, 9)}
    assert len(result.scores) == n[27]


def test_results_elites_and_held_out_instances_rest_on_full_evaluations():
    calls, items = Calls(), racer.Instances([0.0, 1.0, 2.0, 3.0], held_out=[5.0, 6.0])
    result = racer.tune(SPACE, calls, items, **SETTINGS)
    full = {key for epochs, key in calls if epochs == 27}
    for candidate in {*result.elites, *result.compared, result.best_index}:
        assert tuple(result.configs[candidate].values()) in full
    assert result.tests.notna().all(axis=None)
    per_pair = Counter((epochs, key) for epochs, key in calls if epochs < 27)
    assert max(per_pair.values()) == 1  # a candidate climbs once


@pytest.mark.parametrize("budget", [80, 700])
def test_nothing_is_said_of_candidates_left_behind_but_that_they_were(budget, tmp_path):
    result = racer.tune(SPACE, telling, **SETTINGS | {"budget": budget})
    gone = result.eliminations
    behind = only_cheap(result) & {*gone["candidate"]}
    assert len(behind) > 50
    reasons = {*gone[gone["candidate"].isin(behind)]["reason"]}
    assert reasons == {f"outranked (epochs {value})" for value in (1, 3, 9)} & reasons
    own = [e for e in result._eliminations if e.candidate in behind]
    assert {(e.measure, e.probability) for e in own} == {("outcome", 1.0)}
    assert len({e.candidate for e in own}) == len(behind)
    chances = result.probability_best
    assert not any(chances.get(c, 0.0) for c in behind)
    assert behind.isdisjoint({*result.credible_set, *result.compared, *result.indistinguishable})
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    page = re.sub(r"<script.*?</script>|<svg.*?</svg>|<style.*?</style>", "", page, flags=re.DOTALL)
    page = html.unescape(page)
    before, _, eliminations = page.partition("Eliminations")
    for text in (str(result), result.details(), before):
        assert not behind & {*map(int, re.findall(r"#(\d+)", text))}, text
    rows = re.findall(r"<tr>.*?</tr>", eliminations, flags=re.DOTALL)
    mine = [row for row in rows if behind & {*map(int, re.findall(r"#(\d+)</t", row)[:1])}]
    assert not any(re.search("inferior|indistinguishable|best", row) for row in mine)


def test_a_rung_that_tells_is_climbed_and_its_correlation_is_shown(tmp_path):
    result = racer.tune(SPACE, telling, **SETTINGS)
    found = result.fidelities
    assert found.loc[1, "correlation"] > 0.5
    assert found.loc[1, "low"] < found.loc[1, "correlation"] < found.loc[1, "high"]
    assert len(result.configs) > 120
    line = "Rank correlation with full ones: epochs 1 0."
    for text in (str(result), result.details()):
        assert line in " ".join(text.split())
    result.report(tmp_path / "report.html")
    assert line in (tmp_path / "report.html").read_text("utf-8")
    shown = json.loads(json.dumps(result.to_dict(), allow_nan=False))["fidelities"]
    assert [rung["fidelity"] for rung in shown] == [1, 3, 9]


def test_candidates_at_the_top_are_better_than_those_drawn():
    with_rungs = racer.tune(SPACE, telling, **SETTINGS)
    gone = with_rungs.eliminations
    against, behind = (
        [quality(with_rungs.configs[c]) for c in gone[column]]
        for column in ("against", "candidate")
    )
    assert np.mean(against) < np.mean(behind)
    mirrored = racer.tune(SPACE, lambda *a: -telling(*a), **SETTINGS, goal="max")
    assert mirrored.configs == with_rungs.configs
    assert mirrored.eliminations.equals(with_rungs.eliminations)


def test_a_rung_that_lies_is_left_out_and_tried_again_when_the_budget_used_has_doubled():
    tuner, used, climbs, times = Tuner(SPACE, **SETTINGS | {"budget": 400}), Fraction(0), [], []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        while cells := tuner.ask():
            left_out = [one for one in given if str(one.message).startswith("epochs 1 is left out")]
            times += [used] * (len(left_out) - len(times))
            climbs += [used] * (cells[0].fidelity == 1)
            for cell in cells:
                epochs = cell.fidelity or 27
                tuner.tell(cell, Outcome("ok", lying(cell.config, None, cell.seed, epochs)))
                used += Fraction(epochs) / 27
    result = tuner.result()
    assert result.fidelities.loc[1, "high"] < 0.5
    assert "rank correlation with full evaluations is -" in str(left_out[0].message)
    assert len(times) > 1
    for at, again in pairwise(times):
        assert again >= 2 * math.floor(at)
        assert sum(at <= climb <= again for climb in climbs) == 1  # it was tried once
    plain = racer.tune(SPACE, lambda c, i, s: telling(c, i, s, 27), budget=400, seed=1)
    assert quality(result.best) < quality(plain.best) + 0.01


@pytest.mark.parametrize("n", [6, 30])
def test_the_correlation_is_spearmans_within_blocks(n):
    rng, known, cheap = np.random.default_rng(n), Table(), Cheap(EPOCHS)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    place = Place(None, 1)
    cells = place.cells(0, range(n), lambda c: {}, None)
    at_three = [racer.Cell(0, c.candidate, {}, None, 1, fidelity=3) for c in cells]
    known.add(0, range(n), [Outcome("ok", float(v)) for v in y])
    cheap.add(zip(at_three, [Outcome("ok", float(v)) for v in x], strict=True))
    found = cheap.rung(3, known)
    assert (found.pairs, found.evaluations) == (n, n)
    assert found.correlation == pytest.approx(spearmanr(x, y).statistic)
    half = 1.959964 * math.sqrt(1.06 / (n - 3))
    assert math.atanh(found.high) - math.atanh(found.low) == pytest.approx(2 * half)
    # another block, far above: no news but its own order
    known.add(1, range(n), [Outcome("ok", float(v) + 100) for v in y])
    cheap.add(
        (racer.Cell(1, c, {}, None, 1, fidelity=3), Outcome("ok", float(v) - 100))
        for c, v in enumerate(x)
    )
    assert cheap.rung(3, known).correlation == pytest.approx(found.correlation)
    assert math.isnan(cheap.rung(9, known).correlation)


def test_failures_rank_last_at_a_rung_and_rejected_candidates_leave():
    def evaluate(config, instance, seed, epochs):
        if config["x0"] > 0.6 and epochs < 27:
            raise ValueError("no convergence")
        return telling(config, instance, seed, epochs)

    tuner = Tuner(SPACE, **SETTINGS)
    while cells := tuner.ask():
        for cell in cells:
            epochs = cell.fidelity or 27
            if cell.config["x1"] > 0.8:
                tuner.tell(cell, Outcome("rejected", None, message="too large"))
            elif cell.config["x0"] > 0.6 and epochs < 27:
                tuner.tell(cell, Outcome("failed", None, message="no convergence"))
            else:
                tuner.tell(cell, Outcome("ok", telling(cell.config, None, cell.seed, epochs)))
    result = tuner.result()
    gone = result.eliminations
    rejected = {*gone[gone["reason"] == "rejected"]["candidate"]}
    assert rejected == {c for c, config in enumerate(result.configs) if config["x1"] > 0.8}
    assert gone[gone["reason"] == "rejected"]["candidate"].is_unique
    assert result.best["x1"] <= 0.8
    failed = racer.tune(SPACE, evaluate, **SETTINGS)
    assert len(failed.failures) == 0 < failed.evaluations
    assert failed.best["x0"] < 0.6


def test_a_tuning_that_was_killed_goes_on_to_the_same_result(tmp_path):
    items = [0.0, 1.0, 2.0]
    whole = told(racer.tune(SPACE, telling, items, **SETTINGS))
    for k in (1, 8, 27, 60, 131, 250):
        path, calls = tmp_path / f"{k}.db", Calls()

        def killed(config, instance, seed, epochs, calls=calls, k=k):
            if len(calls) == k:
                raise KeyboardInterrupt
            return calls(config, instance, seed, epochs)

        with pytest.raises(KeyboardInterrupt) as stop:
            racer.tune(SPACE, killed, items, **SETTINGS, store=path)
        partial = stop.value.result
        assert partial.evaluations == math.ceil(calls.cost()) == racer.load(path).evaluations
        result = racer.resume(path, calls)
        assert told(result) == told(racer.load(path)) == whole
        assert len(calls) == len(result.scores) + result.fidelities["evaluations"].sum()
        assert not result.unused.cells


def test_any_number_of_workers_brings_the_same_result():
    one = racer.tune(SPACE, telling, [0.0, 1.0], **SETTINGS | {"budget": 650})
    many = racer.tune(SPACE, telling, [0.0, 1.0], **SETTINGS | {"budget": 650}, n_jobs=2)
    assert told(one) == told(many)

    async def evaluate(config, instance, seed, epochs):
        return telling(config, instance, seed, epochs)

    calls = racer.tune(SPACE, evaluate, [0.0, 1.0], **SETTINGS | {"budget": 650}, n_jobs=5)
    assert told(one) == told(calls)


def test_all_that_was_recorded_is_rescued_if_the_store_is_replaced(tmp_path):
    path, calls = tmp_path / "run.db", Calls()

    def evaluate(config, instance, seed, epochs):
        if len(calls) == 90:
            path.rename(tmp_path / "moved.db")
        return calls(config, instance, seed, epochs)

    with pytest.raises(racer.StoreError, match="a copy of all that was recorded is"):
        racer.tune(SPACE, evaluate, **SETTINGS, store=path)
    before = len(calls)
    result = racer.resume(next(tmp_path.glob("run.db.saved*")), calls)
    assert told(result) == told(racer.tune(SPACE, telling, **SETTINGS))
    assert len(calls) == len(result.scores) + result.fidelities["evaluations"].sum()
    assert before < len(calls)


def test_a_store_is_of_one_fidelity(tmp_path):
    path = tmp_path / "run.db"
    racer.tune(SPACE, telling, **SETTINGS | {"budget": 30}, store=path)
    other = {"budget": 30, "fidelity": Fidelity("epochs", (1, 9, 27))}
    with pytest.raises(racer.StoreError, match=r"fidelity is .*but the race in"):
        racer.tune(SPACE, telling, **SETTINGS | other, store=path)


def test_of_a_budget_in_seconds_cheap_evaluations_take_theirs():
    tuner = Tuner(SPACE, **SETTINGS | {"budget": Budget(seconds=27.0 * 400)})
    seconds, n = 0.0, Counter()
    while cells := tuner.ask():
        for cell in cells:
            epochs = cell.fidelity or 27
            value = telling(cell.config, None, cell.seed, epochs)
            tuner.tell(cell, Outcome("ok", value, seconds=float(epochs)))
            seconds, n = seconds + epochs, n + Counter([epochs])
    assert 0.9 * 27 * 400 < seconds <= 27 * 400
    assert tuner.result().seconds == seconds
    assert n[1] > 50


def test_initial_configurations_are_evaluated_in_full():
    calls, given = Calls(), [{f"x{k}": value for k in range(4)} for value in (0.0, 1.0)]
    racer.tune(SPACE, calls, initial=given, **SETTINGS)
    assert {epochs for epochs, key in calls if key in {(0.0,) * 4, (1.0,) * 4}} == {27}


def test_a_space_of_few_configurations_is_used_up():
    space, calls = Space({"x0": racer.Integer(0, 7)}), Calls()
    result = racer.tune(space, calls, [0.0, 1.0], **SETTINGS | {"budget": 700})
    assert result.best == {"x0": 0}
    assert len(result.configs) == 8
    assert calls.cost() <= 700


def test_the_progress_line_has_the_correlation(capsys):
    racer.tune(SPACE, telling, **SETTINGS | {"budget": 700}, progress=True)
    shown = capsys.readouterr()
    assert re.search(
        r"race 1 left .* \(rank correlation of epochs 1 0\.\d\d, 3 ", shown.out + shown.err
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"fidelity": (1, 3)}, r"fidelity=\(1, 3\): give racer\.Fidelity"),
        ({"goal": racer.Runtime(5)}, r"goal=Runtime\(\.\.\), which already"),
        ({"goal": {"a": "min", "b": "max"}}, "a goal of several metrics"),
        ({"budget": Budget(spend=5)}, "the price of a cheap evaluation is not known"),
        ({"budget": Budget(evaluations=80, prices=lambda c, i: 1.0)}, "the price of a cheap"),
    ],
)
def test_what_does_not_go_with_a_fidelity_is_refused(more, message):
    with pytest.raises(SettingError, match=message):
        racer.tune(SPACE, lambda *_: pytest.fail("evaluated"), **SETTINGS | more)


@pytest.mark.parametrize(
    "values", [(1,), (3, 1), (1, 1), (0, 1), (-1, 2), 3, "12", ("a", "b"), (1, math.inf), (True, 2)]
)
def test_values_that_are_no_ladder_are_refused(values):
    with pytest.raises(SettingError, match=r"Fidelity\('epochs', .*give at least two numbers > 0"):
        Fidelity("epochs", values)


def test_other_mistakes_are_named():
    with pytest.raises(SettingError, match=r"Fidelity\(3, \.\.\): give the name"):
        Fidelity(3, (1, 2))
    wanted = r"cannot be called as evaluate\(config, instance, seed, epochs\): it takes too few"
    with pytest.raises(ObjectiveError, match=wanted):
        racer.tune(SPACE, lambda c, i, s: 0.0, **SETTINGS)
    with pytest.raises(
        ObjectiveError, match=r"a racer\.Command, which takes no fidelity: call it within"
    ):
        racer.tune(SPACE, racer.Command(["echo", "{x0}"]), **SETTINGS)
    with pytest.raises(TypeError, match=r"give decider, .* only racer\.tune takes fidelity="):
        racer.race([1, 2], telling, budget=20, fidelity=EPOCHS)
    with pytest.raises(TypeError, match=r"'fidelities'; give fidelity=racer\.Fidelity"):
        racer.tune(SPACE, telling, budget=80, fidelities=EPOCHS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'more'"):
        racer.tune(SPACE, telling, budget=80, more={})
