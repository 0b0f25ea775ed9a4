"""SQLite's write-ahead log: frames that SQLite would drop after a damaged one.

A frame (a page) has the header's two salts and a checksum over all that stands before it; see
https://sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from numpy.typing import NDArray

_HEADER = struct.Struct(">8I")  # magic, version, page size, count, salts, checksum
_FRAME = struct.Struct(">6I")  # page, pages after a commit (else 0), salts, checksum
_MAGIC = 0x377F0682  # the last bit: the byte order of the checksums
_LARGEST_PAGE = 65536
_AT_ONCE = 24  # frames: what is allocated without new pages of memory
_WORD = 0xFFFFFFFF
_LOOKS = 5  # at a log that is being written


class _Lost(NamedTuple):
    commits: int  # transactions whose last frame is dropped
    # another frame follows such a transaction: it was on disk before that began; or one is not in
    # its place, as no write that was broken off leaves it
    certain: bool


def has_log(path: str) -> bool:
    """Return True if the write-ahead log is not empty: a race runs, or was killed."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _state(log: str) -> tuple[int, ...] | None:
    """Return a stamp that changes with each write of a log; None if it is empty or missing."""
    try:
        found = Path(log).stat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else None


def damage_to_log(path: str) -> str:
    """Return possible losses of the log at `path`; StoreError if SQLite would drop outcomes."""
    log = f"{path}-wal"
    for _ in range(_LOOKS):
        before = _state(log)
        if before is None:
            return ""
        with Path(log).open("rb") as file:  # not that of the database: closing it would drop locks
            lost = _look_through(file)
        if lost is None or _state(log) == before:
            break
    else:  # a race is writing to it, and its end is never at rest
        return ""
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
    """Return the part of a log that SQLite would drop; None if there is none."""
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
    at = _HEADER.size
    for (number, _, *own, one, two), added in _frames(file, page_size, order):
        state = _after(state, page_size + 8, added)
        if not (number > 0 and own == salts and state == (one, two)):
            break
        at += _FRAME.size + page_size
    file.seek(at)
    return _lost(file.read(), _FRAME.size + page_size, head[16:24])


def _lost(data: bytes, size: int, salts: bytes) -> _Lost | None:
    """Return what SQLite drops of the end of a log, whose first frame is not sound.

    A frame that is not where it should be has both salts: bytes before it were inserted or removed.
    """
    # one salt alone: the other is damaged; those of an older log both differ
    own = {
        at
        for at in range(0, len(data), size)
        if data[at + 8 : at + 12] == salts[:4] or data[at + 12 : at + 16] == salts[4:]
    }
    own |= {found.start() - 8 for found in re.finditer(re.escape(salts), data)}
    whole = sorted(at for at in own if 0 <= at <= len(data) - size)
    commits = [at for at in whole if any(data[at + 4 : at + 8])]
    certain = any(at % size for at in whole) or (bool(commits) and whole[-1] > commits[0])
    return _Lost(len(commits), certain) if whole else None


def _frames(
    file: BinaryIO, page_size: int, order: str
) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
    """Yield the header of each whole frame, and its addition to the running checksum."""
    size = _FRAME.size + page_size
    of_header = np.zeros(4, np.uint32)  # salts and checksum
    weights = [np.insert(w, 2, of_header) for w in _weights(page_size + 8)]
    while len(data := file.read(_AT_ONCE * size)) >= size:
        n = len(data) // size
        words = np.frombuffer(data, f"{order}u4", n * size // 4).reshape(n, size // 4)
        words = words.astype(np.uint32, copy=False)
        added = [np.einsum("ij,j->i", words, w).tolist() for w in weights]
        headers = (_FRAME.unpack_from(data, i * size) for i in range(n))
        yield from zip(headers, zip(*added, strict=True), strict=True)


def _checksum(data: bytes, order: str, state: tuple[int, int]) -> tuple[int, int]:
    """Return SQLite's checksum of words after others: one += x + two; two += y + one, modulo 2^32."""
    words = np.frombuffer(data, f"{order}u4").astype(np.uint32)
    one, two = (int(np.einsum("j,j->", words, weights)) for weights in _weights(len(data)))
    return _after(state, len(data), (one, two))


def _after(state: tuple[int, int], size: int, added: tuple[int, int]) -> tuple[int, int]:
    """Return the checksum after bytes that add so much to it."""
    (one, two), n = state, size // 4
    f = _fibonacci(n)
    return (
        (f[n - 1] * one + f[n] * two + added[0]) & _WORD,
        (f[n] * one + f[n + 1] * two + added[1]) & _WORD,
    )


@lru_cache(maxsize=8)
def _weights(size: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the weights of the words of so many bytes in the two sums."""
    n = size // 4
    f = _fibonacci(n)
    return np.array(f[n - 1 :: -1], np.uint32), np.array(f[n:0:-1], np.uint32)


@lru_cache(maxsize=8)
def _fibonacci(n: int) -> list[int]:
    """Return the Fibonacci numbers F(0) to F(n + 1), modulo 2^32."""
    found = [0, 1]
    while len(found) < n + 2:
        found.append((found[-1] + found[-2]) & _WORD)
    return found
