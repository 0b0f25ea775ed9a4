"""The first blocks as a dress rehearsal: of `race`, `tune`, and programs."""

import functools
import math
import sys
import warnings

import flat
import numpy as np
import pytest
from objectives import Counting

import racer

SPACE = racer.Space({"x": racer.Real(0, 1)})
FIVE = [{"x": x / 5} for x in range(5)]


def warned(evaluate, candidates=FIVE, **settings):
    """Return the warnings of a race about what `evaluate` returns."""
    settings = {"budget": 100, "seed": 1} | settings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        flat.race(candidates, evaluate, **settings)
    return [text for w in caught if (text := str(w.message)).startswith("evaluate ")]


def noisy(config, seed):
    return config["x"] + np.random.default_rng(seed).random()


ANSWERS = {
    "None": (None, "a NoneType, not a number: is a return missing"),
    "a string": ("0.5", "a str, not a number: '0.5'"),
    "two numbers": ((1.0, 2.0), r"a tuple, not a number: \(1.0, 2.0\)"),
    "an array": (np.zeros(3), r"an ndarray, not a number: its shape is \(3,\)"),
    "not finite": (math.nan, "nan, not a finite number"),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("kind", ["race", "tune"])
def test_what_cannot_be_used_stops_at_the_first_block(name, kind, tmp_path):
    answer, shown = ANSWERS[name]
    evaluate = Counting(lambda *_: answer)
    given = {"instances": [7, 8], "budget": 100, "seed": 1, "store": tmp_path / "run.db"}
    message = rf"first run \(instance [78]\), where a finite number is needed: it returned {shown}"
    run, what = (racer.race, FIVE) if kind == "race" else (racer.tune, SPACE)
    with pytest.raises(racer.ObjectiveError, match=message):
        run(what, evaluate, **given)
    assert len({seed for *_, seed in evaluate.calls}) == 1
    mended = run(what, lambda c, _, seed: noisy(c, seed), **{**given, "seed": 2})
    assert mended.evaluations > 0


IN_PARTS = [  # a tuning whose first evaluations are requested one by one, for their prices
    racer.Budget(seconds=5.0),
    racer.Budget(spend=20.0),
    racer.Budget(evaluations=60, spend=60.0),
]


@pytest.mark.parametrize("budget", IN_PARTS, ids=str)
def test_a_first_block_that_is_requested_in_parts_is_a_rehearsal_too(budget, tmp_path):
    evaluate = Counting(lambda *_: None)
    message = r"all \d evaluations of the first run.*: it returned a NoneType"
    with pytest.raises(racer.ObjectiveError, match=message):
        racer.tune(SPACE, evaluate, budget=budget, seed=1, store=tmp_path / "run.db")
    assert len(evaluate.calls) > 2
    assert len({seed for *_, seed in evaluate.calls}) == 1
    assert not (tmp_path / "run.db").exists()  # it would refuse other settings


@pytest.mark.parametrize("budget", IN_PARTS[1:], ids=str)
def test_failures_of_a_first_block_in_parts_are_recorded_once_another_succeeds(budget, tmp_path):
    def evaluate(config, instance, seed):
        calls.append(seed)
        if len(calls) == stops_at:
            raise KeyboardInterrupt
        return None if config["x"] in failing else {"cost": noisy(config, seed), "spend": 1.0}

    def tuned(path, **settings):
        calls.clear()
        result = racer.tune(SPACE, evaluate, budget=budget, seed=1, store=path)
        return result.scores[["block", "candidate", "value", "status"]].to_dict("list")

    calls, failing, stops_at, path = [], set(), 0, tmp_path / "run.db"
    first, second, *_ = racer.tune(SPACE, evaluate, budget=budget, seed=1).configs
    failing = {first["x"], second["x"]}
    whole = tuned(tmp_path / "whole.db")
    assert whole["status"].count("invalid") >= 2
    assert racer.load(tmp_path / "whole.db").scores["value"].tolist() == pytest.approx(
        whole["value"], nan_ok=True
    )
    stops_at = 2
    with pytest.raises(racer.RaceInterrupted) as caught:
        tuned(path)
    assert caught.value.result.evaluations == racer.load(path).evaluations == 1
    stops_at = 0
    assert str(tuned(path)) == str(whole)


def test_blocks_that_an_ablation_requests_together_are_one_rehearsal(tmp_path):
    tuning = racer.tune(SPACE, lambda c, i, s: noisy(c, s), budget=60, seed=1)
    given = {"source": {"x": 0.5}, "target": {"x": 0.25}, "blocks": 4, "store": tmp_path / "run.db"}
    with pytest.raises(racer.ObjectiveError, match="all 8 evaluations of the first run"):
        racer.ablation(tuning, lambda c, i, s: None, **given)
    result = racer.ablation(tuning, lambda c, i, s: noisy(c, s), **given)
    assert result.known.failures == []


@pytest.mark.skipif(sys.platform == "win32", reason="first lines of scripts")
@pytest.mark.parametrize("first", ["", "#!/no/such/shell"], ids=["no first line", "no such shell"])
def test_a_program_that_cannot_be_started_stops_a_race(first, tmp_path):
    script = tmp_path / "run"
    script.write_text(f"{first}\necho 1\n")
    script.chmod(0o755)
    program = racer.Command([script, "{x}"])
    message = r"all 2 evaluations of the first run: the program cannot be started \("
    with pytest.raises(racer.ObjectiveError, match=message):
        racer.race(FIVE[:2], program, budget=60, store=tmp_path / "run.db")
    assert not (tmp_path / "run.db").exists()  # it would refuse other settings


def test_one_number_is_enough_to_go_on():
    def evaluate(config, instance, seed):
        return noisy(config, seed) if config["x"] == 0.4 else None

    assert racer.race(FIVE, evaluate, budget=60, seed=1).best == {"x": 0.4}


def test_constant_values_are_said_at_once():
    constant = [
        "evaluate returned 0.25 in all 10 evaluations of the first 2 runs: does it use config?"
    ]
    assert warned(lambda c, i, s: 0.25) == constant
    (said,) = warned(lambda c, i, s: i * 3.5, instances=range(9), deterministic=True)
    assert said.startswith(
        "evaluate returned the same value for all candidates of a run in all 25 evaluations of"
    )


def test_answers_that_are_right_by_chance_are_not_constant():
    assert not warned(lambda c, i, s: float(i == 9 and c["x"] > 0.5), instances=range(30))
    assert not warned(lambda c, i, s: noisy(c, s))


def test_equal_values_are_named_at_the_end_of_a_short_run():
    def tuned(cost, budget=40):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert racer.tune(SPACE, cost, [1, 2, 3, 4], budget=budget, seed=1).best is None
        return [text for w in caught if (text := str(w.message)).startswith("evaluate ")]

    (text,) = tuned(lambda c, i, s: 1.0 * i + s % 7)
    assert text.startswith(
        "evaluate returned the same value for all candidates of a run in all 39 evaluations of the"
    )
    for right in (1.0, 100.0):  # easy for all, or too difficult
        assert not tuned(lambda c, i, s, right=right: right * (i > 2))
        assert not tuned(lambda c, i, s, right=right: right)
    few = {"instances": range(4), "budget": 8, "first_test": 2, "deterministic": True}
    assert not warned(lambda c, i, s: 1.0 * i, FIVE[:2], **few)


def test_metrics_that_may_be_right_or_wrong_are_not_named():
    given = {"metrics": {"error": "min", "price": "min"}, "objective": "price", "budget": 20}
    instances = {"instances": range(4), "deterministic": True, "first_test": 2}
    assert not warned(lambda c, i, s: {"error": 0.0, "price": i / 3}, **given, **instances)
    (text,) = warned(lambda c, i, s: {"error": i / 7, "price": i / 3}, **given, **instances)
    assert text.startswith(
        "evaluate returned the same value for all candidates of a run in all 20 evaluations"
    )


def test_an_ignored_seed_is_said_at_once():
    (said,) = warned(lambda c, i, s: c["x"] / 3)
    assert said.startswith(
        "evaluate ignores its seed: with others it returned the same values, in all 10"
    )
    assert not warned(lambda c, i, s: c["x"] / 3 + i, instances=range(9), deterministic=True)


def accuracy(config, instance, seed):
    return noisy(config, seed) / 2


def by_name(config, instance, seed):
    test_auc = noisy(config, seed) / 2
    return float(test_auc)


def by_method(config, instance, seed):
    class Model:
        def score(self, rows):
            return noisy(config, seed) / 2

    return Model().score(None)


def turned(config, instance, seed):
    accuracy = noisy(config, seed) / 2
    return 1 - accuracy


def error(config, instance, seed):
    score_loss = noisy(config, seed) / 2
    return float(score_loss)


class Scored:
    def __call__(self, config, instance, seed):
        f1Score = noisy(config, seed) / 2  # noqa: N806
        return float(f1Score)


@pytest.mark.parametrize(
    ("evaluate", "name"),
    [
        *((accuracy, "accuracy"), (by_name, "test_auc"), (by_method, "score")),
        *((functools.partial(accuracy), "accuracy"), (Scored(), "f1Score")),
        *((turned, None), (error, None)),
    ],
)
def test_scores_that_are_minimized_are_said_at_once(evaluate, name):
    said = warned(evaluate, budget=300)
    assert [text.split("'")[1] for text in said] == ([name] if name else [])
    assert all(text.endswith("give goal='max' if larger is") for text in said)
    assert not warned(evaluate, budget=300, maximize=True)


def test_scores_beyond_one_are_costs():
    def score(config, instance, seed):
        return 5 * noisy(config, seed)

    assert not warned(score)
