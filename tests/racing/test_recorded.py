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
