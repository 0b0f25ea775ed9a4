"""A contest that is recorded, without what races do around it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager

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


def executed(path, statement, *values):
    """Execute a statement on a store, as any program might; return the rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()


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


def changed(path, *statements):
    """Execute statements on a store, and write the checksum of its settings as its writer would."""
    with closing(sqlite3.connect(path)) as connection:
        for statement, *values in statements:
            connection.execute(statement, values)
        texts, *parts = (
            dict(connection.execute(f"SELECT * FROM {table} ORDER BY 1"))
            for table in ("settings", "candidates", "instances")
        )
        del texts["checksum"]
        if texts.get("kind") == '"tuning"':  # its candidates are sampled
            parts[0].clear()
        digest = schema.settings_digest(texts, *(list(part.items()) for part in parts))
        connection.execute("UPDATE settings SET value = ? WHERE name = 'checksum'", (digest,))
        connection.commit()
