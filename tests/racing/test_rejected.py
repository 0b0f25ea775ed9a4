"""A candidate that is rejected leaves after its block, whatever the decider would say of it."""

import functools
import itertools

import flat
import numpy as np
import pytest
from playing import ONE_NUMBER, play, short

import racer
from racer.core.events import Ended
from racer.evaluate.objective import Misbehaved

REJECTED = racer.Outcome("rejected", None, message="it printed Inf")


def evaluate(config, instance, seed):
    if config["x"] in config.get("bad", (3, 4)) and instance >= 1:
        raise Misbehaved("rejected", "it printed Inf")
    return config["x"] + np.random.default_rng([seed, config["x"]]).normal()


WHEN = (0, 4), (2, 7)  # on the first block, and that of the first test; before that, and after it


played = functools.partial(play, order=reversed)


@pytest.mark.parametrize(
    ("decider", "when"),
    [(decider, when) for n, decider in enumerate(ONE_NUMBER) for when in WHEN[n % 2]],
)
def test_it_leaves_at_once_with_every_decider(decider, when):
    def outcome_of(cell):
        if cell.candidate in {0, 5} and cell.block == when:
            return REJECTED
        noise = np.random.default_rng([cell.seed, cell.candidate]).normal()
        return racer.Outcome("ok", cell.candidate / 10 + noise)

    result = played(racer.Race(range(6), decider=decider, budget=400, seed=2), outcome_of)
    out = result.eliminations.query("reason == 'rejected'")
    assert set(out["block"]) <= {when}
    assert 0 in set(out["candidate"]) or 0 in set(result.eliminations["candidate"])
    assert result.scores.query("candidate == 0")["block"].max() <= when
    assert not {0, 5} & set(result.survivors) or result.scores["block"].max() < when


def test_what_is_left_alone_is_the_best():
    result = played(
        racer.Race(range(4), budget=100, seed=1),
        lambda cell: racer.Outcome("ok", 1.0) if cell.candidate == 2 else REJECTED,
    )
    assert (result.best_index, result.survivors, result.ended) == (2, (2,), Ended.DECIDED)
    assert result.evaluations == 4
    assert result.probability_best == {0: 0.0, 1: 0.0, 2: 1.0, 3: 0.0}


def test_when_all_are_rejected_there_is_no_best():
    result = played(racer.Race(range(4), budget=100, seed=1), lambda cell: REJECTED)
    assert (result.best, result.survivors, result.ended) == (None, (), Ended.ALL_REJECTED)
    assert result.probability_best == dict.fromkeys(range(4), 0.25)
    assert list(result.eliminations["reason"]) == ["rejected"] * 4


def test_blocks_that_wait_for_a_test_forget_it():
    def outcome_of(cell):
        if cell.candidate == 1 and cell.block == 3:
            return REJECTED
        return racer.Outcome("ok", float(cell.candidate))

    result = played(
        racer.Race.of(range(4), decider="f-race", budget=100, seed=1, each_test=4), outcome_of
    )
    assert result.best_index == 0
    first = result.eliminations.iloc[0]
    assert (first["block"], first["candidate"], first["reason"]) == (3, 1, "rejected")
    assert first["against"] == 1


def of(result):
    return result.scores.drop(columns="seconds").to_csv(), result.eliminations.to_csv(), result.best


def test_resumed_and_in_parallel_it_is_the_same_race(tmp_path):
    pool = [{"x": x} for x in range(6)]
    arguments = {"budget": 120, "seed": 4, "decider": "f-race"}
    whole = flat.race(pool, evaluate, [0, 1, 2], **arguments)
    assert {3, 4} <= set(whole.eliminations.query("reason == 'rejected'")["candidate"])
    for ahead, budget in itertools.product((0, 3), (37,)):
        path = tmp_path / f"{ahead}.db"
        flat.race(pool, evaluate, [0, 1, 2], **{**arguments, "budget": budget}, store=path)
        again = flat.race(
            pool, evaluate, [0, 1, 2], **arguments, store=path, n_jobs=racer.Workers(2, ahead=ahead)
        )
        assert of(again) == of(whole) == of(racer.load(path))


def space():
    return racer.Space({"x": racer.Integer(0, 60), "k": racer.Categorical(["a", "b"])})


def test_a_tuner_never_comes_back_to_it(path):
    tried = []

    def objective(config, instance, seed):
        tried.append((config["x"], config["k"]))
        if config["k"] == "b" and config["x"] < 20 and instance == 1:
            raise Misbehaved("rejected", "no")
        return config["x"] + np.random.default_rng([seed, config["x"]]).normal()

    arguments = {"budget": 150, "seed": 3, "test_instances": [0, 1]}
    result = flat.tune(space(), objective, [0, 1, 2], **arguments, store=path)
    out = set(result.eliminations.query("reason == 'rejected'")["candidate"])
    assert out
    assert not out & {*result.elites}
    for candidate in out:
        assert (result.scores.query(f"candidate == {candidate}")["status"] == "rejected").sum() == 1
    assert len({(c["x"], c["k"]) for c in result.configs}) == len(result.configs)
    assert of(racer.load(path)) == of(result)


def test_a_tuner_whose_best_is_rejected_at_the_end_takes_the_next():
    tuner = racer.Tuner(space(), [0, 1, 2], budget=230, seed=3)
    asked = 0
    while cells := tuner.ask():
        alone = len({cell.candidate for cell in cells}) == 1
        for cell in cells:
            asked += 1
            bad = alone and cell.candidate == cells[0].candidate and asked > 150
            value = cell.config["x"] + (cell.seed % 7) / 10
            tuner.tell(cell, REJECTED if bad else racer.Outcome("ok", value))
    result = tuner.result()
    rejected = set(result.scores.query("status == 'rejected'")["candidate"])
    assert rejected
    assert not rejected & {*result.elites, result.best_index}


@pytest.mark.filterwarnings("ignore:.* is set aside:racer.RacerWarning")
@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_blocks_on_which_only_those_rejected_succeeded_are_no_evidence(decider):
    def outcome_of(cell):
        if cell.candidate == 0:
            return REJECTED if cell.block == 3 else racer.Outcome("ok", 1.0)
        if cell.block < 4:
            return racer.Outcome("failed", None, message="not yet")
        noise = np.random.default_rng([cell.seed, cell.candidate]).normal()
        return racer.Outcome("ok", cell.candidate + noise)

    race = racer.Race.of(range(4), decider=decider, budget=200, seed=2, first_test=6)
    result = played(race, outcome_of)
    assert result.best_index in {None, 1}
    assert 0 not in result.survivors


def test_blocks_on_which_nobody_left_succeeds_do_not_keep_a_race_going():
    def outcome_of(cell):
        if cell.candidate == 0:
            return REJECTED if cell.block == 3 else racer.Outcome("ok", 1.0)
        return racer.Outcome("failed", None, message="never")

    with pytest.warns(racer.RacerWarning, match="set aside"):
        result = played(racer.Race.of(range(4), budget=400, seed=2, first_test=6), outcome_of)
    assert (result.best, result.ended) == (None, Ended.ALL_FAILED)


def test_when_all_are_rejected_under_caps_there_is_no_best():
    def outcome_of(cell):
        if cell.block == 5:
            return REJECTED
        seconds = 1.0 + np.random.default_rng([cell.seed, cell.candidate]).random()
        return racer.Outcome("ok", seconds, seconds=seconds)

    runtime = racer.Runtime(limit=20.0)
    race = racer.Race.of(range(4), range(50), budget=400, seed=1, runtime=runtime, first_test=4)
    result = played(race, outcome_of)
    assert (result.best, result.ended) == (None, Ended.ALL_REJECTED)
