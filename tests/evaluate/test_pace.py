"""When calls begin: the rate limit, refusals, pauses, back-off."""

import http
import math
from types import SimpleNamespace

import pytest

import racer
from racer.evaluate.pace import Pace, pause_of, trouble_of


class FailedError(Exception):
    """An error with the attributes of some client's."""

    def __init__(self, **attributes):
        super().__init__("no")
        self.__dict__.update(attributes)


class ReadTimeoutError(Exception):
    """A client's own, which is no TimeoutError."""


class RaisingError(Exception):
    @property
    def response(self):
        raise RuntimeError


def begun(pace, calls, now=0.0):
    """Return when so many calls begin, each as soon as it may."""
    times = []
    for _ in range(calls):
        now += max(pace.wait(now), 0.0)
        pace.begin(now)
        times.append(now)
    return times


def test_calls_of_a_rate_limit_begin_at_even_intervals_after_the_first():
    times = begun(Pace(120.0, 0.0), 50)
    assert times[0] == 0.0
    assert times[1:] == pytest.approx([0.5 * n for n in range(1, 50)], abs=0.011)
    assert times[-1] >= 0.5 * 49 - 0.011


def test_an_unused_interval_is_not_made_up_for():
    pace = Pace(60.0, 0.0)
    begun(pace, 1)
    late = begun(pace, 3, now=100.0)
    assert late == pytest.approx([100.0, 101.0, 102.0], abs=0.011)


def test_without_a_limit_or_a_refusal_no_call_waits():
    assert begun(Pace(None, 0.0), 100) == [0.0] * 100


def gap_after(*events, limit=None):
    """Return the mean gap between calls after refusals (a pause, or 0) and accepted calls (None)."""
    pace = Pace(limit, 0.0)
    for pause in events:
        if pause is None:
            pace.accept(0.1)
        else:
            pace.refuse(0.0, 0.0, pause)
    times = begun(pace, 1001)
    return (times[-1] - times[0]) / 1000


def test_refusals_widen_the_gap_and_accepted_calls_narrow_it_again():
    assert gap_after(*[0.0] * 60) == pytest.approx(1e-4 * 1.1**60, rel=0.01)
    assert gap_after(*[0.0] * 60, *[None] * 100) == pytest.approx(
        1e-4 * 1.1**60 / 1.01**100, rel=0.01
    )
    assert gap_after(*[0.0] * 60, *[None] * 1000) == 0.0
    assert gap_after(*[0.0] * 10_000) == pytest.approx(10.0, rel=0.01)


def test_the_gap_never_falls_below_that_of_the_limit():
    assert gap_after(*[None] * 1000, limit=60.0) == pytest.approx(1.0, rel=0.01)
    assert gap_after(0.0, *[None] * 1000, limit=1.0) == pytest.approx(60.0, rel=0.01)


def test_a_named_pause_holds_for_all_calls_and_doubles_the_gap_once():
    pace = Pace(60.0, 0.0)
    begun(pace, 1)
    for now in (2.0, 3.0, 4.0):  # of calls that had begun before the first of these
        pace.refuse(1.0, now, 30.0)
    assert pace.wait(4.0) == 30.0
    times = begun(pace, 3, now=4.0)
    assert times == pytest.approx([34.0, 36.0, 38.0], abs=0.05)
    pace.refuse(35.0, 40.0, 1.0)
    times = begun(pace, 3, now=50.0)
    assert times == pytest.approx([50.0, 54.0, 58.0], abs=0.05)


def test_refused_since_is_the_first_refusal_after_the_last_accepted_call():
    pace = Pace(None, 0.0)
    assert pace.refused_since == math.inf
    pace.refuse(1.0, 2.0, 0.0)
    pace.refuse(3.0, 4.0, 0.0)
    assert pace.refused_since == 2.0
    pace.accept(1.0)
    assert pace.refused_since == math.inf


def test_backoff_doubles_from_the_length_of_a_call_up_to_a_minute():
    pace = Pace(None, 0.0)
    for _ in range(200):
        pace.accept(0.1)
    for tries in range(1, 20):
        longest = min(0.1 * 2**tries, 60.0)
        drawn = {pace.backoff(tries, 0.0) for _ in range(50)}
        assert len(drawn) > 40
        assert 0.5 * longest <= min(drawn) <= 0.7 * longest
        assert 0.8 * longest <= max(drawn) <= longest * 1.000001
    assert pace.backoff(1, 200.0) == 200.0


def test_backoff_begins_with_seconds_while_nothing_is_known_or_calls_are_long():
    pace = Pace(None, 0.0)
    assert 1.0 <= pace.backoff(1, 0.0) <= 2.0
    for _ in range(200):
        pace.accept(1000.0)
    assert 1.0 <= pace.backoff(1, 0.0) <= 2.0


REFUSED = [
    {"status": 429},
    {"status_code": 429},
    {"code": 429},
    {"status": http.HTTPStatus.SERVICE_UNAVAILABLE},
    {"code": "rate_limit_exceeded", "status_code": 529},
    {"response": SimpleNamespace(status_code=429)},
    {"response": SimpleNamespace(status=503)},
]


@pytest.mark.parametrize("attributes", REFUSED)
def test_a_refusal_is_known_by_its_status(attributes):
    assert trouble_of(FailedError(**attributes)) == "refused"


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(),
        ReadTimeoutError(),
        type("Mine", (ReadTimeoutError,), {})(),
        FailedError(status_code=408),
        FailedError(status=504),
    ],
)
def test_a_time_out_is_known_by_its_type_or_status(error):
    assert trouble_of(error) == "timeout"


@pytest.mark.parametrize(
    "error",
    [
        None,
        ValueError("429"),
        FailedError(),
        FailedError(status=True),
        FailedError(status="429"),
        FailedError(status_code=404, response=SimpleNamespace(status_code=429)),
        RaisingError(),
    ],
)
def test_other_errors_ask_for_no_other_try(error):
    assert trouble_of(error) is None


def headers(**named):
    return {name.replace("_", "-"): value for name, value in named.items()}


DATE = "Mon, 23 Nov 2026 20:00:00 GMT"
UNTIL = "Mon, 23 Nov 2026 20:01:30 GMT"


@pytest.mark.parametrize(
    ("attributes", "seconds"),
    [
        ({"retry_after": 7}, 7.0),
        ({"retry_after": 1e9}, 300.0),
        ({"headers": headers(Retry_After="12")}, 12.0),
        ({"response": SimpleNamespace(headers=headers(retry_after="2.5"))}, 2.5),
        ({"retry_after": None, "headers": headers(RETRY_AFTER="3")}, 3.0),
        ({"headers": headers(Retry_After=UNTIL, Date=DATE)}, 90.0),
        ({"headers": headers(Retry_After=DATE, Date=UNTIL)}, 0.0),
        ({"headers": headers(Retry_After=UNTIL)}, 0.0),
        ({"headers": headers(Retry_After="soon")}, 0.0),
        ({"headers": headers(Retry_After="nan")}, 0.0),
        ({"headers": {}}, 0.0),
        ({"headers": None}, 0.0),
        ({"retry_after": -1.0}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_pause_that_a_server_names(attributes, seconds):
    assert pause_of(FailedError(**attributes)) == seconds


def test_only_coroutine_functions_are_throttled():
    with pytest.raises(racer.ObjectiveError, match="write evaluate as async def"):
        racer.Throttled(lambda config, instance, seed: 0.0, calls_per_minute=60)
    with pytest.raises(racer.ObjectiveError, match="not a function"):
        racer.Throttled(3, calls_per_minute=60)
