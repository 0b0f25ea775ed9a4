"""The outcomes of a store in memory: the contents of its file, or of a new one."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from typing import TYPE_CHECKING, Any

from racer.errors import StoreError
from racer.store import schema
from racer.store.reader import Reader, connect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Statement = tuple[str, tuple[Any, ...]]

_LENGTH = struct.Struct("<I")


class Recorded:
    """Rows of `outcomes` as bytes, about a hundred each, with their number and a running checksum.

    The first are those in the `image` of a database, if there is one.
    """

    def __init__(self, image: bytes | None = None) -> None:
        self._data = bytearray()
        self._sum = self._n = 0
        self._image = b""
        if image is not None:
            self._image = image[:18] + b"\1\1" + image[20:]  # without a log beside it
            ((self._n, self._sum),) = self._in_image("SELECT count(*), sum(checksum) FROM outcomes")

    def _in_image(self, query: str) -> Iterator[tuple[Any, ...]]:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(self._image)
            yield from connection.execute(query)

    def add(self, data: bytes, checksum: int) -> None:
        """Keep a row that has been written, or read: packed, with its checksum."""
        self._data += _LENGTH.pack(len(data))
        self._data += data
        self._sum += checksum
        self._n += 1

    def rows(self) -> Iterator[schema.OutcomeRow]:
        """Yield the rows in the order in which they were kept."""
        for *values, _ in self._in_image(schema.ROWS["outcomes"]) if self._image else ():
            yield schema.OutcomeRow(*values)
        at = 0
        while at < len(self._data):
            (size,) = _LENGTH.unpack_from(self._data, at)
            at += _LENGTH.size + size
            yield schema.unpacked(bytes(self._data[at - size : at]))

    def is_in(self, file: str) -> bool:
        """Return True if the store in a file is sound and holds these rows; it is read anew.

        StoreError if it cannot be read for another reason than its content.
        """
        with closing(connect(file, "ro")) as connection:
            connection.execute("BEGIN")
            reader = Reader(file, connection)
            try:
                reader.check_schema()
                _ = reader.setup
                _ = list(reader.verdicts())
                found = reader.check_outcomes()
            except StoreError as error:
                if _is_of_disk(error):
                    raise
                return False
        return found == (self._n, self._sum)


def _is_of_disk(error: StoreError) -> bool:
    """Return True if SQLite could not read a file of any content."""
    name = getattr(error.__cause__, "sqlite_errorname", None) or ""
    return not name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT")) and (
        bool(name) or isinstance(error.__cause__, OSError)
    )


def write_store(path: str, statements: Iterable[Statement], recorded: Recorded) -> None:
    """Write a new store: `statements` that define its contest, and outcomes."""
    with closing(connect(path, "rwc")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement, values in statements:
            connection.execute(statement, values)
        rows = ((*row, schema.checksum(row)) for row in recorded.rows())
        connection.executemany(schema.ADD_OUTCOME, rows)
        connection.execute("COMMIT")
