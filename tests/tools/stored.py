"""A contest that is recorded, without what races do around it."""

from __future__ import annotations

from contextlib import contextmanager

from racer.store import schema
from racer.store.replay import Recording
from racer.store.writer import Store


@contextmanager
def stored(path, contest, evaluate):
    """Give a contest, its store, and the outcomes in it that were not told."""
    with Store(path) as store:
        how = {"retries": 0, "timeout": None, "memory": None}
        recording = Recording(store, contest, evaluate, how)
        yield contest, store, recording.begin()


def counted_anew(connection):
    """Write numbers and checksums of the outcomes that are left, as their writer would."""
    rows = [row[:12] for row in connection.execute("SELECT * FROM outcomes ORDER BY number")]
    connection.execute("DELETE FROM outcomes")
    before = 0
    for number, row in enumerate(rows, 1):
        before = schema.checksum(row, before)
        connection.execute(schema.ADD["outcomes"], (*row, number, before))
    connection.execute("UPDATE recorded SET outcomes = ?, checksum = ?", (len(rows), before))
    connection.commit()
