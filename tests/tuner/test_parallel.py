"""Races at once: each is proposed before others are over, and free workers evaluate for all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import flat
import pytest
from tunings import content, play

import racer
from experiments.bench.workers import SPACE as FIVE
from experiments.bench.workers import Clock, Objective
from racer import Outcome, Tuner
from racer.run.drive import drive
from racer.tuner import CandidatesAdded, RaceCompleted

pytestmark = pytest.mark.filterwarnings("ignore::racer.errors.RacerWarning")
SPACE = racer.Space({"x": racer.Real(0.0, 5.0), "y": racer.Categorical(["a", "b"])})
IN_THREADS = {"n_jobs": racer.Workers(4, ThreadPoolExecutor(4))}
LEAST = 4_000  # evaluations, with which several races are under way at once
BUDGET = 600  # where `early` lets them be; with fewer, there are no races in series


def evaluate(config, instance, seed):
    return (config["x"] - 2.0) ** 2 + (config["y"] == "b") + seed % 1000 * 1e-3


def together(races):
    return racer.Search(parallel_races=races)


def tuned(evaluate=evaluate, budget=BUDGET, **settings):
    return flat.tune(SPACE, evaluate, range(40), budget=budget, seed=1, **settings)


@pytest.fixture
def early(monkeypatch):
    """Let an eighth of the evaluations be enough for several races at once."""
    monkeypatch.setattr("racer.tuner.tuning._AT_ONCE", 450)
    monkeypatch.setattr("racer.tuner.tuning._GENERATIONS", 2)


def played(tuner, evaluate):
    play(tuner, lambda cell: evaluate(cell.config, cell.instance, cell.seed))
    return tuner.result()


@pytest.mark.parametrize(("budget", "at_once"), [(LEAST, 3), (3_900, 1)])
def test_a_race_is_proposed_before_those_before_it_are_over(budget, at_once):
    """As many as given, from a budget on."""
    events = []
    tuner = Tuner(FIVE, budget=budget, search=together(3), seed=1, callbacks=[events.append])
    played(tuner, lambda c, i, s: sum(v * v for v in c.values()) + s % 1000 * 1e-3)
    added, waiting = set(), []
    for event in events:
        if isinstance(event, CandidatesAdded):
            added.add(event.race)
        elif isinstance(event, RaceCompleted) and event.kind == "race":
            waiting.append(len([race for race in added if race >= event.race]))
    assert max(waiting) == at_once
    assert waiting[1:-at_once] == [at_once] * (len(waiting) - 1 - at_once)


@pytest.mark.usefixtures("early")
def test_the_number_of_races_at_once_is_part_of_the_result():
    assert content(tuned(search=together(2))) != content(tuned())
    assert content(tuned(search=together(1))) == content(tuned())


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("n_workers", [3, 40])
def test_it_does_not_depend_on_the_workers(n_workers):
    alone = drive(
        Tuner(FIVE, budget=BUDGET, search=together(3), seed=2), Clock(Objective("equal"), 1)
    )
    many = drive(
        Tuner(FIVE, budget=BUDGET, search=together(3), seed=2),
        Clock(Objective("log-normal"), n_workers),
    )
    assert many.scores["value"].tolist() == alone.scores["value"].tolist()
    assert many.configs == alone.configs
    assert many.unused.cells > 0


@pytest.mark.thorough
def test_more_workers_are_busy():
    """On a simulated clock, and few cells are evaluated in vain."""

    def share(races):
        clock = Clock(Objective("exponential"), 64)
        result = drive(
            Tuner(FIVE, budget=8_000, search=racer.Search(parallel_races=races), seed=0), clock
        )
        # by this clock
        assert result.unused.seconds < 0.1 * result.seconds
        return result.seconds / (64 * clock.now)

    assert share(1) < 0.6
    assert share(4) > 0.85


@pytest.mark.usefixtures("early")
def test_idle_workers_may_begin_whatever_a_race_goes_on_to_need():
    """All that are in on each next block: no worker waits where a forecast was wrong."""
    ended, unforeseen, ahead, before = [], [], None, 0
    tuner = Tuner(FIVE, budget=BUDGET, search=together(3), seed=1, callbacks=[ended.append])
    while cells := tuner.ask():
        races = sum(isinstance(event, RaceCompleted) for event in ended)
        if ahead is not None and races == before:
            unforeseen += [cell.key for cell in cells if cell.key not in ahead]
        ahead, before = {cell.key for cell in tuner.ahead(BUDGET)}, races
        for cell in cells:
            luck = cell.seed * (cell.candidate + 3) % 1_000 * 1e-2
            tuner.tell(cell, Outcome("ok", sum(v * v for v in cell.config.values()) + luck))
    assert before > 10
    assert not unforeseen


@pytest.mark.usefixtures("early")
def test_the_finish_has_one_round():
    """Many workers would wait twice for the slowest: all finalists get to know as many blocks."""
    ranges = []
    for at_once in (1, 2):
        result = tuned(budget=1_600, search=together(at_once))
        finish = result.races.iloc[-1]
        assert finish.kind == "selection"
        counts = result.scores.groupby("candidate").size().nlargest(finish.candidates)
        ranges.append(counts.max() - counts.min())
    assert ranges[0] > 10
    assert ranges[1] <= 1


def test_all_candidates_that_were_proposed_are_raced():
    result = played(
        Tuner(FIVE, budget=LEAST, search=together(3), seed=3), lambda c, i, s: c["a"] + s % 7
    )
    assert set(result.scores["candidate"]) == set(range(len(result.configs)))
    assert result.evaluations == LEAST


@pytest.mark.usefixtures("early")
def test_where_all_fail_nothing_waits_after_the_end():
    tuner = Tuner(FIVE, budget=BUDGET, search=together(3), seed=1)
    play(tuner, lambda cell: None)
    result = tuner.result()
    assert result.ended == "all-failed"
    assert tuner.alive <= set(result.scores["candidate"])


@pytest.mark.usefixtures("early")
def test_after_a_crash_it_goes_on_to_the_same_result(tmp_path):
    expected, path = tuned(search=together(2)), tmp_path / "run.db"

    def crash(event):
        if isinstance(event, RaceCompleted) and event.race == 4:
            raise RuntimeError("power")

    with pytest.raises(RuntimeError, match="power"):
        tuned(search=together(2), store=path, callbacks=[crash], **IN_THREADS)
    found = racer.resume(path, evaluate)
    assert content(found) == content(expected)
    with pytest.raises(racer.StoreError, match="parallel_races is 3, but"):
        tuned(search=together(3), store=path)


@pytest.mark.usefixtures("early")
def test_a_larger_budget_goes_on(path):
    tuned(search=together(2), store=path)
    more = racer.resume(path, evaluate, budget=700)
    assert more.evaluations == 700
    assert content(more) == content(tuned(search=together(2), budget=[BUDGET, 700]))


def test_one_rejected_while_it_waits_is_not_raced_again():
    """An elite of two races that are under way, which the first finds to be forbidden."""
    tuner, rejected, again = Tuner(FIVE, budget=LEAST, search=together(3), seed=1), {}, set()
    while cells := tuner.ask():
        races = len(tuner.result().completed_races)
        for cell in cells:
            if rejected.get(cell.candidate, races) < races:
                again.add(cell.candidate)
            value = sum(v * v for v in cell.config.values()) + cell.seed % 1000 * 1e-3
            if value < 8.0 and cell.seed % 11 == 0:
                rejected[cell.candidate] = races
                tuner.tell(cell, Outcome("rejected", None, message="forbidden"))
            else:
                tuner.tell(cell, Outcome("ok", value))
    assert len(rejected) > 5
    assert not again
    assert tuner.result().ended == "budget"
    assert rejected.keys().isdisjoint(tuner.result().survivors)


@pytest.mark.usefixtures("early")
def test_several_metrics():
    def both(config, instance, seed):
        return {"cost": evaluate(config, instance, seed), "time": config["x"]}

    given = {"metrics": {"cost": "min", "time": "min"}, "objective": racer.Pareto("cost", "time")}
    found = tuned(both, search=together(2), **given)
    assert len(found.survivors) > 2
    again = tuned(both, search=together(2), **IN_THREADS, **given)
    assert content(found) == content(again)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"runtime": racer.Runtime(limit=9.0)},
            "goal=Runtime.*: the caps of a race come from the races",
        ),
        ({"budget": racer.Budget(spend=5.0)}, "a budget of money: nothing is evaluated ahead"),
    ],
)
def test_where_it_cannot_be_it_is_refused(given, message):
    with pytest.raises(racer.SettingError, match=f"parallel_races=2 with {message}"):
        tuned(search=together(2), **given)
