"""SQLite's write-ahead log: what SQLite would drop because a frame before it is damaged.

A frame (a page) has the header's two salts and a checksum over all that stands before it; see
https://sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from racer.errors import StoreError

if TYPE_CHECKING:
    from typing import BinaryIO

_HEADER = struct.Struct(">8I")  # magic, version, page size, count, salts, checksum
_FRAME = struct.Struct(">6I")  # page, pages after a commit (else 0), salts, checksum
_MAGIC = 0x377F0682  # the last bit: the byte order of the checksums
_LARGEST_PAGE = 65536


class _Lost(NamedTuple):
    commits: int  # transactions whose last frame is dropped
    certain: bool  # another frame follows such a transaction: it was on disk before that began


def has_log(path: str) -> bool:
    """Return True if the write-ahead log is not empty: a race runs, or was killed."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def damage_to_log(path: str) -> str:
    """Return what the log at `path` may have lost; StoreError if SQLite would drop outcomes."""
    if not has_log(path):
        return ""
    log = f"{path}-wal"
    with Path(log).open("rb") as file:  # not that of the database: closing it would drop locks
        lost = _look_through(file)
    if lost is None:
        return ""
    if not lost.certain:
        return (
            f"store {path!r}: the last entry of its log {log!r} is damaged, as when the machine "
            "stops while it is written; if it held an outcome, that is evaluated again"
        )
    what = f"{lost.commits} entries" if lost.commits else "all entries"
    raise StoreError(
        f"store {path!r}: its log {log!r} is damaged, and {what} of it would be lost, outcomes "
        "that were recorded; both files were left as they are: put copies of both in their place, "
        f"or, to evaluate again what stands only in the log, move {log!r} away"
    )


def _look_through(file: BinaryIO) -> _Lost | None:
    """Return what SQLite would drop of a log; None if that is nothing."""
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return None
    magic, _, page_size, _, *salts, one, two = _HEADER.unpack(head)
    order = ">" if magic & 1 else "<"
    state = _checksum(head[:24], order, (0, 0))
    if (
        magic | 1 != _MAGIC | 1
        or state != (one, two)
        or not 512 <= page_size <= _LARGEST_PAGE
        or page_size & (page_size - 1)
    ):
        return _Lost(0, certain=True) if any(file.read()) else None
    sound, commits, certain, damaged = True, 0, False, False
    while len(frame := file.read(_FRAME.size + page_size)) == _FRAME.size + page_size:
        number, pages, *own, one, two = _FRAME.unpack_from(frame)
        if sound:
            state = _checksum(frame[_FRAME.size :], order, _checksum(frame[:8], order, state))
            sound = number > 0 and own == salts and state == (one, two)
        # one salt alone: the other is damaged; those of an older log both differ
        if not sound and (own[0] == salts[0] or own[1] == salts[1]):
            damaged = True
            certain = certain or commits > 0
            commits += pages > 0
    return _Lost(commits, certain) if damaged else None


def _checksum(data: bytes, order: str, state: tuple[int, int]) -> tuple[int, int]:
    one, two = state
    for first, second in struct.iter_unpack(f"{order}2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
