"""What races, tunings and the like do is what was recorded of them, bit for bit."""

import pytest
import recorded_contests as recorded

EVERY = {"races": 61, "tunings": 48, "ablations": 16, "studies": 12, "stores": 9}  # one of so many
SAMPLE = {
    kind: [name for name in recorded.names_of([kind]) if int(name.partition("/")[2]) % step == 0]
    for kind, step in EVERY.items()
}


@pytest.fixture(scope="module")
def held():
    """Return what is recorded, if its numbers can be had here at all."""
    found = recorded.load()
    if found["probe"] != recorded.probe():
        pytest.skip(f"arithmetic differs from that of {found['made_with']}")
    return found


@pytest.mark.parametrize("kind", EVERY)
def test_a_sample_is_as_it_was_recorded(kind, held):
    names = SAMPLE[kind]
    assert len(names) >= 0.9 * recorded.KINDS[kind][0] / EVERY[kind] > 1
    differ = recorded.differences(names)
    assert not differ, "\n".join(differ.values())


def test_every_case_is_recorded_and_cases_differ():
    cases = recorded.load()["cases"]
    assert list(cases) == recorded.names_of()
    digests = {case["digest"] for case in cases.values() if case["evaluations"]}
    assert len(digests) > 0.99 * sum(case["evaluations"] > 0 for case in cases.values())


def test_all_that_a_race_can_meet_is_among_the_cases():
    races = recorded.load()["coverage"]["races"]
    endings = ("decided", "budget", "instances", "undecided", "all-equal", "all-failed")
    for ended in (*endings, "all-rejected", "one-candidate"):
        assert races[f"ended {ended}"] >= 10, ended
    for name in recorded.DECIDERS:
        assert races[f"decider {name}"] >= 100, name
    rare = ("failures", "rejections", "repeats found", "eliminations as capped", "groups", "ties")
    for fact in (*rare, *(f"seeds {kind}" for kind in ("fresh", "ignored", "partly", "late"))):
        assert races[fact] >= 50, fact
    rules = ("budget Budget", "runtime Runtime", "maximize True", "deterministic True")
    for rule in (
        *rules,
        "each_test int",
        "each_test growing",
        "first_test int",
        "min_survivors int",
    ):
        assert races[rule] >= 300, rule
    assert sum(n for name, n in races.items() if "refused" in name) < 20


def test_a_case_that_differs_is_named_with_what_differs(monkeypatch):
    document = recorded.load()
    case = document["cases"]["races/2"]
    case |= {"digest": "0" * 64, "ended": "otherwise", "parts": {**case["parts"], "scores": "0"}}
    monkeypatch.setattr(recorded, "load", lambda: document)
    said = recorded.differences(["races/1", "races/2"])
    assert list(said) == ["races/2"]
    assert "scores differ" in said["races/2"]
    assert "recorded: " in said["races/2"]
    assert "'otherwise'" in said["races/2"]


def test_plain_data_keeps_what_counts():
    assert recorded.canonical(recorded.plain({"b": 1, "a": 1.0})) == '[["b",1],["a",1.0]]'
    assert recorded.canonical(recorded.plain([0.1 + 0.2, -0.0])) == "[0.30000000000000004,-0.0]"
    assert recorded.digest([0.1 + 0.2]) != recorded.digest([0.3])
    with pytest.raises(TypeError, match="set is not plain"):
        recorded.plain({1, 2})
