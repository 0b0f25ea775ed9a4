"""The outcomes of a store in memory: the contents of its file, or of a new one."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from racer.errors import StoreError
from racer.store import schema
from racer.store.reader import Reader, connect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from racer.store.log import Pages

    Statement = tuple[str, tuple[Any, ...]]

_LENGTH = struct.Struct("<I")


class Recorded:
    """Rows of `outcomes` as bytes, about a hundred each, with their number and a running checksum.

    The first are those in the `image` of a database, if there is one: `known` is their number and
    the sum of their checksums.
    """

    def __init__(self, image: bytes = b"", known: tuple[int, int] = (0, 0)) -> None:
        self._data = bytearray()
        self._image = image
        self._n, self._sum = known

    def _in_image(self) -> Iterator[tuple[Any, ...]]:
        if self._image:
            with closing(sqlite3.connect(":memory:")) as connection:
                # without a log beside it
                connection.deserialize(self._image[:18] + b"\1\1" + self._image[20:])
                yield from connection.execute(schema.ROWS["outcomes"])

    def add(self, data: bytes, checksum: int) -> None:
        """Keep a row that has been written, or read: packed, with its checksum."""
        self._data += _LENGTH.pack(len(data))
        self._data += data
        self._sum += checksum
        self._n += 1

    def rows(self) -> Iterator[schema.OutcomeRow]:
        """Yield the rows in the order in which they were kept."""
        for *values, _ in self._in_image():
            yield schema.OutcomeRow(*values)
        at = 0
        while at < len(self._data):
            (size,) = _LENGTH.unpack_from(self._data, at)
            at += _LENGTH.size + size
            yield schema.unpacked(bytes(self._data[at - size : at]))

    def image_in(self, file: str, pages: Pages) -> bytes | None:
        """Return the image of a database that has these rows, and `pages` as they were written.

        None of another; the file is read anew.
        """
        with (
            suppress(sqlite3.Error, MemoryError, StoreError),
            closing(connect(file, "ro")) as connection,
        ):
            connection.execute("BEGIN")
            image = connection.serialize()
            found = Reader(file, connection).count_outcomes()
            if found == (self._n, self._sum) and pages.are_those_of(image):
                return image
        return None

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
