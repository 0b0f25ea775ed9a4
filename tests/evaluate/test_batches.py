"""`racer.Batched`: the same result as one by one; killed anywhere, nothing is lost or sent twice."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

import racer

CANDIDATES, BUDGET = [1, 2, 3, 4], 48


def value(config, seed):
    return float(config + seed % 7)


class Provider:
    """A batch endpoint in a folder, which answers at the third question; a call may be a kill."""

    def __init__(self, folder, kill_at=None, loses=()):
        self.folder, self.kill_at, self.loses, self.calls = Path(folder), kill_at, loses, 0

    def _called(self):
        self.calls += 1
        if self.calls == self.kill_at:
            os._exit(9)

    def submit(self, requests):
        self._called()  # before anything was sent
        name = f"batch{len([*self.folder.glob('batch*')]):03}"
        content = {r["id"]: value(r["config"], r["seed"]) for r in requests}
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")
        self._called()  # sent, but nobody knows
        return name

    def find(self, requests):
        ids = {r["id"] for r in requests}
        some = (p for p in self.folder.glob("batch*") if ids == {*json.loads(p.read_text())})
        return next((path.name for path in some), None)

    def collect(self, handle):
        self._called()
        asked = self.folder / f"asked-{handle}"
        asked.write_text((asked.read_text() if asked.exists() else "") + ".")
        if len(asked.read_text()) < 3:
            return None
        content = json.loads((self.folder / handle).read_text())
        return {i: x for i, x in content.items() if (handle, i.partition("-")[2]) not in self.loses}

    def sent(self):
        ids = (json.loads(p.read_text()) for p in sorted(self.folder.glob("batch*")))
        return Counter(i.partition("-")[2] for content in ids for i in content)


def run(provider, store=None, find=True, **how):
    batched = racer.Batched(
        provider.submit, provider.collect, size=6, poll=1e-3, find=provider.find if find else None
    )
    return racer.race(CANDIDATES, batched, budget=BUDGET, seed=1, store=store, **how)


def one_by_one():
    return racer.race(CANDIDATES, lambda c, i, seed: value(c, seed), budget=BUDGET, seed=1)


def check_same(result):
    expected = one_by_one()
    assert (result.best, result.ended) == (expected.best, expected.ended)
    assert result.table.equals(expected.table)


def test_the_result_is_that_of_calls_one_by_one(tmp_path):
    provider = Provider(tmp_path)
    check_same(run(provider))
    assert max(len(json.loads(p.read_text())) for p in tmp_path.glob("batch*")) == 6
    assert set(provider.sent().values()) == {1}


def test_missing_items_are_asked_again(tmp_path):
    lost = "block-0-candidate-1"
    provider = Provider(tmp_path, loses={("batch000", lost)})
    check_same(run(provider))
    assert {i for i, n in provider.sent().items() if n > 1} == {lost}


def test_an_item_that_is_always_missing_is_a_failure(tmp_path):
    lost = {(f"batch{n:03}", "block-0-candidate-1") for n in range(99)}
    result = run(Provider(tmp_path, loses=lost))
    assert result.failures["message"].str.contains("missing in 3 batches").all()
    assert len(result.failures) == 1


def killed(folder, store, at):
    """Run in a process that is killed at a call of the provider; return whether it was."""
    child = os.fork()
    if not child:
        run(Provider(folder, at), store)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def check_kills(tmp_path, at):
    n_kills = 0
    for i, first in enumerate(at):
        folder = tmp_path / str(i)
        folder.mkdir()
        kill = first
        while killed(folder, folder / "run.db", kill):
            n_kills += 1
            kill += 1  # later each time: what was not yet committed is collected again
            assert n_kills < 10_000
        check_same(run(Provider(folder), folder / "run.db"))
        assert set(Provider(folder).sent().values()) == {1}
    return n_kills


def test_killed_anywhere_nothing_is_lost_or_sent_twice(tmp_path):
    assert check_kills(tmp_path, [4]) >= 4


@pytest.mark.thorough
@pytest.mark.timeout(3000)
def test_100_kills_lose_nothing(tmp_path):
    assert check_kills(tmp_path, [*range(1, 12)] * 2) >= 100


def test_without_find_a_batch_that_may_be_lost_is_sent_again_with_a_warning(tmp_path):
    (tmp_path / "p").mkdir()
    store = tmp_path / "run.db"
    assert killed(tmp_path / "p", store, 2)
    with pytest.warns(racer.RacerWarning, match="is sent again"):
        check_same(run(Provider(tmp_path / "p"), store, find=False))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: racer.Batched(len, list, size=0), "size=0"),
        (lambda: racer.Batched(len, list, size=1, poll=0), "poll=0"),
        (lambda: racer.Batched(len, list, size=1)(1, None, 0), "is for racer.race"),
        (
            lambda: racer.race([1, 2], racer.Batched(len, lambda _: [1], size=2), budget=20),
            "collect returned list",
        ),
    ],
)
def test_wrong_settings_are_refused(make, words):
    with pytest.raises(racer.RacerError, match=words):
        make()


def test_a_handle_that_json_cannot_hold_is_refused_beside_a_store(tmp_path):
    batched = racer.Batched(lambda requests: object(), lambda handle: None, size=2)
    with pytest.raises(racer.SettingError, match="handle of a batch"):
        racer.race([1, 2], batched, budget=20, store=tmp_path / "s.db")
