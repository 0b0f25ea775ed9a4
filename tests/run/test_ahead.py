"""Free workers go ahead, and the result is the same whatever they do."""

from __future__ import annotations

import hashlib
import math
import random
import signal
import tempfile
import warnings
import zlib
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playing import tell_block, told
from stored import stored

import racer
from racer.evaluate.executor import never
from racer.evaluate.outcome import Outcome, bounded
from racer.racing import Race
from racer.run.drive import Feed, drive
from racer.store.load import check_store
from racer.tuner import Tuner

pytestmark = pytest.mark.filterwarnings("ignore::racer.errors.RacerWarning")
LAW = settings(max_examples=13, deadline=None, derandomize=True)
SPACE = racer.Space({"x": racer.Real(0.0, 5.0), "y": racer.Categorical(["a", "b"])})
QUICK = {"seed": 3, "decider": "f-race"}
PLANS = "best-for-budget"  # the default of tunings
CONTESTS = {
    "race": lambda: Race(range(9), budget=160, seed=3),
    "by the budget": lambda: Race(range(9), budget=160, seed=3, decider="halving"),
    "few instances": lambda: Race.of(range(5), range(9), deterministic=True, budget=200, **QUICK),
    "in seconds": lambda: Race.of(range(9), budget=racer.Budget(seconds=40.0), **QUICK),
    "tuning": lambda: Tuner.of(SPACE, range(7), budget=130, test_instances=range(3), **QUICK),
    "few instances tuned": lambda: Tuner.of(
        SPACE, range(6), deterministic=True, budget=120, initial=[{"x": 1.0, "y": "a"}], **QUICK
    ),
    "twice": lambda: Tuner.of(SPACE, budget=[90, 130], **QUICK),
    "race by plan": lambda: Race.of(range(9), budget=160, seed=3, each_test=3, decider=PLANS),
    "tuning by plan": lambda: Tuner.of(
        SPACE, range(7), budget=130, test_instances=range(3), seed=3
    ),
    "groups by plan": lambda: Tuner.of(SPACE, range(12), budget=150, block_size=3, seed=3),
}
TIMES = racer.Runtime(20.0)
TIMED = {  # cells may run again, with a larger bound
    "times": lambda: Race.of(range(7), budget=120, seed=3, runtime=TIMES),
    "times in seconds": lambda: Race.of(
        range(7), budget=racer.Budget(seconds=700.0), seed=3, runtime=TIMES
    ),
    "times tuned": lambda: Tuner.of(
        SPACE, range(7), budget=120, runtime=TIMES, test_instances=[1], seed=3
    ),
}
ALL = CONTESTS | TIMED


def evaluate(config, instance, seed):
    """Fail for some, and be noisy for all."""
    noise = zlib.crc32(repr((config, seed)).encode())
    if noise % 11 == 0:
        raise ArithmeticError(f"{config}")
    x = config if isinstance(config, int) else config["x"] + 2 * (config["y"] == "b")
    return 0.2 * x + noise / 2**31


def time_of(cell):
    noise = zlib.crc32(repr((cell.config, cell.seed)).encode()) / 2**32
    x = cell.config if isinstance(cell.config, int) else cell.config["x"]
    return math.exp(0.3 * x + 4 * noise - 1 + cell.seed % 3)


def outcome_of(cell):
    if cell.bound is not None:
        took = time_of(cell)
        return bounded(Outcome("ok", took, seconds=took), cell.bound)
    try:
        return Outcome("ok", evaluate(cell.config, cell.instance, cell.seed), seconds=0.25)
    except ArithmeticError as error:
        return Outcome("failed", None, seconds=0.25, message=f"ArithmeticError: {error}")


class AnyOrder:
    """Workers that end in any order; each cell once."""

    takes_more = True

    def __init__(self, capacity, seed, *, withdraws=False):
        self.capacity = capacity
        self.evaluated = []
        self._random = random.Random(seed)
        self._withdraws = withdraws
        self._running = []

    def submit(self, cell):
        assert len(self._running) < self.capacity
        self._running.append(cell)

    def next(self, stopping=never):
        cell = self._running.pop(self._random.randrange(len(self._running)))
        self.evaluated.append((cell.key, cell.bound))
        return cell, outcome_of(cell)

    def withdraw(self, cell):
        if self._withdraws and self._random.random() < 0.5:
            self._running.remove(cell)
            return True
        return False

    def finish(self):
        return list(self._running)

    def rest(self):
        while self._running and self._random.random() < 0.5:
            yield self.next()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._running.clear()


def rows(result):
    """Return all that was told, held-out cells last."""
    return [*result.known.rows, *(result.held_out.rows if hasattr(result, "held_out") else ())]


def digest(result):
    """Return what stands for the content: hypothesis shows its arguments, and this is short."""
    values = [(row.values.tolist(), sorted(row.others)) for row in rows(result)]
    found = told(result), values, result.best_index, round(result.seconds, 6)
    return hashlib.sha256(repr(found).encode()).hexdigest()


@pytest.fixture(name="expected", scope="module")
def _expected():
    found = {name: drive(Feed(make(), AnyOrder(1, 0))) for name, make in ALL.items()}
    assert all("capped" in set(found[name].scores["status"]) for name in TIMED)
    assert {result.unused for result in found.values()} == {(0, 0.0)}
    return {name: digest(result) for name, result in found.items()}


@LAW
@given(
    name=st.sampled_from(sorted(ALL)),
    capacity=st.integers(1, 20),
    ahead=st.sampled_from([0, 1, 8, "auto"]),
    seed=st.integers(0, 2**32),
    withdraws=st.booleans(),
)
def test_the_result_is_the_same_whatever_ends_first(
    expected, name, capacity, ahead, seed, withdraws
):
    workers = AnyOrder(capacity, seed, withdraws=withdraws)
    result = drive(Feed(ALL[name](), workers, ahead))
    assert digest(result) == expected[name]
    if name in CONTESTS:
        assert len(set(workers.evaluated)) == len(workers.evaluated)
        in_vain = len(workers.evaluated) - sum(len(row.candidates) for row in rows(result))
        assert result.unused == (in_vain, 0.25 * in_vain)
    assert result.unused.cells == 0 or (ahead != 0 and capacity > 1)


def test_some_are_run_again_that_went_ahead_with_too_small_a_cap():
    workers = AnyOrder(12, 1)
    race = Race.of(range(7), budget=120, seed=3, runtime=racer.Runtime(20.0, slack=1.0))
    drive(Feed(race, workers))
    keys = [key for key, _ in workers.evaluated]
    assert len(set(keys)) < len(keys)


def test_what_is_known_of_one_eliminated_is_used_where_the_end_asks_for_it():
    """The end of a tuning looks at candidates that races have eliminated, too."""
    workers = AnyOrder(12, 1)
    result = drive(Feed(Tuner(SPACE, range(7), budget=700, seed=1), workers))
    assert len(set(workers.evaluated)) == len(workers.evaluated)
    assert result.unused.cells == len(workers.evaluated) - 700


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_cell_that_was_just_told_does_not_go_ahead(seed):
    """Where a race ends within a group of blocks, the next one begins with the same group."""
    workers = AnyOrder(12, seed)
    settings = {"deterministic": False, "block_size": 4, "seed": 85}
    drive(Feed(Tuner.of(SPACE, range(40), budget=2_300, **settings), workers))
    assert len(set(workers.evaluated)) == len(workers.evaluated)


class Crash(BaseException):
    """As if the power failed."""


@pytest.mark.thorough
@settings(
    LAW,
    max_examples=11,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    name=st.sampled_from(sorted(ALL)),
    points=st.lists(st.integers(1, 100), min_size=1, max_size=2),
    seed=st.integers(0, 2**32),
)
def test_from_any_crash_it_goes_on_to_the_same_result(folder, expected, name, points, seed):
    class Crashing(AnyOrder):
        def next(self, stopping=never):
            if len(self.evaluated) == self.until:
                raise Crash
            return super().next()

    path = f"{tempfile.mkdtemp(dir=folder)}/run.db"
    evaluated = []
    for until in [*points, None]:
        workers = Crashing(12, seed)
        workers.until = until
        with suppress(Crash), stored(path, ALL[name](), evaluate) as (contest, store, known):
            result = drive(Feed(contest, workers, prefetched=known), store)
        evaluated += workers.evaluated
    assert digest(result) == expected[name]
    assert len(set(evaluated)) == len(evaluated)  # what is recorded is not evaluated again
    report = check_store(path)
    assert report.problems == []
    assert report.result.unused == result.unused
    assert report.statuses.total() == len(evaluated)


class Until(AnyOrder):
    """Workers, and the deadline or the signal that comes after so many evaluations."""

    def __init__(self, seed, until, *, by_signal=False):
        super().__init__(12, seed)
        self._until, self._by_signal = until, by_signal

    def has_passed(self):
        return not self._by_signal and len(self.evaluated) >= self._until

    def next(self, stopping=never):
        if self._by_signal and len(self.evaluated) == self._until:
            signal.raise_signal(signal.SIGINT)
        return super().next()


@pytest.mark.parametrize(
    ("name", "until", "by_signal"),
    [
        ("race", 50, True),
        ("in seconds", 97, False),
        ("tuning by plan", 85, True),
        ("few instances tuned", 109, False),
    ],
)
def test_a_run_that_stops_has_the_result_of_its_store(folder, expected, name, until, by_signal):
    path = f"{tempfile.mkdtemp(dir=folder)}/run.db"
    with stored(path, CONTESTS[name](), evaluate) as (contest, store, known):
        workers = Until(1, until, by_signal=by_signal)
        try:
            result = drive(Feed(contest, workers, prefetched=known), store, deadline=workers)
        except racer.RaceInterrupted as stop:
            result = stop.result
    report = check_store(path)
    assert report.problems == []
    assert digest(report.result) == digest(result)
    assert report.result.unused == result.unused
    with stored(path, CONTESTS[name](), evaluate) as (contest, store, known):
        whole = drive(Feed(contest, AnyOrder(3, 1), prefetched=known), store)
    assert digest(whole) == expected[name]
    assert check_store(path).result.ended == whole.ended


@pytest.mark.parametrize("name", CONTESTS)
def test_what_goes_ahead_is_what_may_be_asked_for(name):
    """Of those still in, on blocks to come, within instances and budget; the same each time."""
    contest = CONTESTS[name]()
    asked = set()
    while cells := contest.ask():
        ahead = list(contest.ahead(5))
        assert ahead == list(contest.ahead(5))
        assert list(contest.ahead(2)) == ahead[: len(list(contest.ahead(2)))]
        keys = [cell.key for cell in ahead]
        assert len(set(keys)) == len(keys)
        assert not {cell.key for cell in cells} & set(keys)
        assert {cell.candidate for cell in ahead} <= set(contest.alive)
        budget = contest.rules.budgets[-1].evaluations
        if budget is not None:
            known = contest.result().evaluations
            assert known + sum(not c.held_out for c in (*cells, *ahead)) <= budget
        for cell in cells:
            assert cell.key not in asked
            asked.add(cell.key)
            contest.tell(cell, outcome_of(cell))
    assert list(contest.ahead(5)) == []


@pytest.mark.parametrize("rules", [{}, {"each_test": 4}, {"block_size": 2}, {"min_survivors": 4}])
def test_nothing_goes_ahead_that_the_deciders_plan_has_no_room_for(rules):
    """Without noise the plan says who is in: from the second block on, all of it is asked for."""
    race, ahead, asked = (
        Race.of(range(11, -1, -1), budget=200, decider=PLANS, **rules),
        set(),
        set(),
    )
    while cells := race.ask():
        asked |= {cell.key for cell in cells}
        ahead |= {cell.key for cell in race.ahead(9) if race.n_blocks}
        for cell in cells:
            race.tell(cell, racer.Outcome("ok", cell.config))
    assert ahead <= asked
    assert asked - ahead == {(False, 0, i) for i in range(12)} | {(False, 1, i) for i in range(12)}


@pytest.mark.parametrize("block_size", [1, 3])
def test_of_a_tuning_by_plan_most_is_ahead_and_little_in_vain(block_size):
    """The blocks of a race, and of the next one those with which it begins, of its elites."""
    tuner = Tuner.of(SPACE, range(30), budget=600, seed=1, block_size=block_size)
    ahead, asked, begins = set(), set(), 0
    while cells := tuner.ask():
        new = {cell.key for cell in cells} - asked
        elites = (
            set(tuner.result().completed_races[-1].elites)
            if tuner.result().completed_races
            else set()
        )
        begins += {key[2] for key in new & ahead} == elites != {key[2] for key in new}
        asked |= new
        ahead |= {cell.key for cell in tuner.ahead(2)}
        for cell in cells:
            tuner.tell(cell, Outcome("ok", cell.config["x"] + cell.seed % 1000 * 1e-4))
    assert begins >= 3
    assert len(asked & ahead) > 0.6 * len(asked)
    assert len(ahead - asked) < 0.1 * len(ahead)


@pytest.mark.parametrize("room", [0, 2.5, "all"])
def test_a_plan_that_is_none_is_refused(room):
    class Plans(racer.deciders.FRace):
        def planned_room(self, state, used):
            return room

    race = Race.of(range(5), budget=100, decider=Plans(), first_test=2)
    tell_block(race, [1.0] * 5)
    with pytest.raises(racer.SettingError, match=r"Plans.planned_room\(\)"):
        list(race.ahead(3))


def feed_of(contest, workers, ahead, stopping=lambda: False):
    feed = Feed(contest, workers, ahead)
    feed.accept, feed.stopping, feed.may_prefetch = lambda *_: True, stopping, True
    return feed


@pytest.mark.parametrize("told", range(30, 50))
def test_a_stop_waits_for_nothing_that_went_ahead(told):
    class Strict(AnyOrder):
        def next(self, stopping=never):
            assert any(cell.block == race.n_blocks for cell in self._running)
            return super().next()

    race = CONTESTS["race"]()
    feed = feed_of(race, Strict(12, told), 8, lambda: race.result().evaluations >= told)
    while race.result().evaluations < told:
        for cell, outcome, _ in feed.outcomes(race.ask()):
            race.tell(cell, outcome)
    assert told <= race.result().evaluations < told + 12


def test_nothing_goes_ahead_before_the_first_success():
    """An evaluate that cannot work costs one block."""

    class Broken(AnyOrder):
        def next(self, stopping=never):
            cell, _ = super().next()
            return cell, Outcome(
                "failed", None, seconds=0.0, message="NameError: no x (in f, file.py:3)"
            )

    workers = Broken(16, 1)
    with pytest.raises(racer.ObjectiveError, match="all 9 evaluations of the first run"):
        drive(Feed(CONTESTS["race"](), workers))
    assert len(workers.evaluated) == 9


def test_what_fails_ahead_is_silent_until_it_is_used():
    def fails_late(cell):
        return (
            outcome_of(cell)
            if cell.block < 30
            else Outcome("failed", None, seconds=0.1, message="late")
        )

    class Late(AnyOrder):
        def next(self, stopping=never):
            cell, _ = super().next()
            return cell, fails_late(cell)

    race = Race.of(range(9), budget=270, seed=3, min_survivors=8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = drive(Feed(race, Late(20, 1), ahead=8))
    late = [row for row in result.known.rows if row.block >= 30]
    assert len(caught) == len(late)
    assert set(result.failures["block"]) <= {row.block for row in result.known.rows}


def test_no_more_is_held_than_may_be_needed():
    """Of what went ahead, only what candidates still in may need; the rest is counted."""
    tuner = Tuner(SPACE, budget=1_000, seed=1)
    feed = feed_of(tuner, AnyOrder(30, 3), 4)
    while cells := tuner.ask():
        for cell, outcome, _ in feed.outcomes(cells):
            tuner.tell(cell, outcome)
        feed._forget_eliminated()
        assert {key[2] for key in feed._prefetched} <= set(tuner.alive)
    assert feed.unused().cells > 2 * len(feed._prefetched)


@pytest.mark.parametrize("ahead", [-1, 1.5, "all", None, True])
def test_blocks_ahead_are_a_number(ahead):
    with pytest.raises(
        racer.SettingError, match=r"^ahead=.*: give \"auto\", or a number of blocks"
    ):
        racer.race(range(3), evaluate, budget=30, n_jobs=racer.Workers(ahead=ahead))
