"""A contest that is recorded, without what races do around it."""

from __future__ import annotations

from contextlib import contextmanager

from racer.store.replay import Recording
from racer.store.writer import Store


@contextmanager
def stored(path, contest, evaluate):
    """Give a contest, its store, and the outcomes in it that were not told."""
    with Store(path) as store:
        how = {"retries": 0, "timeout": None, "memory": None}
        recording = Recording(store, contest, evaluate, how)
        yield contest, store, recording.begin()
