"""The outcomes of a store in memory: what its file must hold, and what another one is made of."""

from __future__ import annotations

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
    """Rows of `outcomes` as bytes, about a hundred each, with their number and a running checksum."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._sum = self._n = 0

    def add(self, data: bytes, checksum: int) -> None:
        """Keep a row that has been written, or read: packed, with its checksum."""
        self._data += _LENGTH.pack(len(data))
        self._data += data
        self._sum += checksum
        self._n += 1

    def rows(self) -> Iterator[schema.OutcomeRow]:
        """Yield the rows in the order in which they were kept."""
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
    """Return True if SQLite could not read a file, whatever is in it."""
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
