"""A contest that is recorded, without what races do around it."""

from __future__ import annotations

from contextlib import contextmanager

from racer.store.recorder import Recorder
from racer.store.replay import begin_or_replay
from racer.store.setup import set_up
from racer.store.writer import Store


@contextmanager
def stored(path, contest, evaluate):
    """Give a contest, its store, and the outcomes in it that were not told."""
    with Store(path) as store:
        how = {"retries": 0, "timeout": None, "memory": None}
        setup = set_up(contest.description(), evaluate, how)
        recorder = Recorder(store.conclude)
        if store.holds_a_race:
            recorder.expect(store.reader, setup)
        contest.watch(recorder)
        yield contest, store, begin_or_replay(store, contest, recorder, setup)
