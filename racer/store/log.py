"""SQLite's write-ahead log: frames that SQLite would drop after a damaged one.

A frame (a page) has the header's two salts and a checksum over all that stands before it; see
https://sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import re
import struct
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

_HEADER = struct.Struct(">8I")  # magic, version, page size, count, salts, checksum
_FRAME = struct.Struct(">6I")  # page, pages after a commit (else 0), salts, checksum
_MAGIC = 0x377F0682  # the last bit: the byte order of the checksums
_LARGEST_PAGE = 65536
_PAGE_SIZE = 16, 18  # its place in a database; 1 stands for the largest
_AT_ONCE = 2**19  # bytes: what stays in the processor's cache
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


class Pages:
    """Checksums of the pages of a database: of an image, then of what a log says anew.

    Only the writer of a database can have those of all pages.
    """

    def __init__(self, image: bytes = b"") -> None:
        self._sums = dict(enumerate(_sums_of_pages(image), 1))
        self._new: dict[int, int] = {}  # in frames that are not committed yet

    def begin(self) -> None:
        """Begin with the first frame of a log."""
        self._new = {}

    def add(self, data: memoryview, headers: NDArray[np.uint32], page_size: int) -> None:
        """Add the pages of sound frames, `data`, whose headers are given."""
        size, begin = _FRAME.size + page_size, 0
        commits = np.flatnonzero(headers[:, 1])
        ends = [int(commits[-1]) + 1] if len(commits) else []
        for end in [*ends, len(headers)]:
            last = dict(zip(headers[begin:end, 0].tolist(), range(begin, end), strict=True))
            for number, i in last.items():
                at = i * size + _FRAME.size
                self._new[number] = zlib.crc32(data[at : at + page_size])
            if end in ends:
                self._sums |= self._new
                self._new = {}
            begin = end

    def are_those_of(self, image: bytes) -> bool:
        """Return True if an image of the database has these pages."""
        return bool(self._sums) and self._sums == dict(enumerate(_sums_of_pages(image), 1))


def _sums_of_pages(image: bytes) -> Iterator[int]:
    if len(image) >= _PAGE_SIZE[1]:
        size = int.from_bytes(image[slice(*_PAGE_SIZE)]) or 1
        size, data = (_LARGEST_PAGE if size == 1 else size), memoryview(image)
        for at in range(0, len(data), size):
            yield zlib.crc32(data[at : at + size])


def damage_to_log(path: str, pages: Pages | None = None) -> str:
    """Return possible losses of the log at `path`; StoreError if SQLite would drop outcomes.

    What it says of pages is added to `pages`.
    """
    log = f"{path}-wal"
    for _ in range(_LOOKS):
        before = _state(log)
        if before is None:
            return ""
        with Path(log).open("rb") as file:  # not that of the database: closing it would drop locks
            lost = _look_through(file, pages)
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


def _look_through(file: BinaryIO, pages: Pages | None) -> _Lost | None:
    """Return the part of a log that SQLite would drop; None if there is none."""
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return None
    magic, _, page_size, _, *salts, one, two = _HEADER.unpack(head)
    order = ">" if magic & 1 else "<"
    state: Sequence[int] | NDArray[np.uint32] = _checksum(head[:24], order, (0, 0))
    if (
        magic | 1 != _MAGIC | 1
        or state != (one, two)
        or not 512 <= page_size <= _LARGEST_PAGE
        or page_size & (page_size - 1)
    ):
        return _Lost(0, certain=True) if any(file.read()) else None
    at, size = _HEADER.size, _FRAME.size + page_size
    if pages is not None:
        pages.begin()
    for data in _frames(file, size):
        headers = np.frombuffer(data, ">u4").reshape(-1, size // 4)[:, :6].astype(np.uint32)
        n = _n_sound(
            np.frombuffer(data, f"{order}u4").reshape(-1, size // 4), headers, salts, state
        )
        if pages is not None:
            pages.add(data, headers[:n], page_size)
        at += n * size
        if n < len(headers):
            break
        state = headers[-1, 4:]
    file.seek(at)
    return _lost(file.read(), size, head[16:24])


def _frames(file: BinaryIO, size: int) -> Iterator[memoryview]:
    """Yield whole frames, some at once, in a buffer that is used again."""
    data = np.empty(max(_AT_ONCE // size, 1) * size, np.uint8).data
    while n := file.readinto(data) // size:  # type: ignore[attr-defined]
        yield data[: n * size]


def _n_sound(
    words: NDArray[np.uint32],
    headers: NDArray[np.uint32],
    salts: Sequence[int],
    state: Sequence[int] | NDArray[np.uint32],
) -> int:
    """Return how many frames, from the first, are as they were written after a checksum, `state`."""
    n_words = words.shape[1] - 4
    before = np.empty((len(headers), 2), np.uint32)
    before[0], before[1:] = state, headers[:-1, 4:]
    words = words.astype(np.uint32, copy=False)
    is_sound = (headers[:, 0] > 0) & (headers[:, 2:4] == np.array(salts, np.uint32)).all(axis=1)
    added = [np.einsum("ij,j->i", words, weights) for weights in _weights_of_frame(n_words)]
    after = _after((*before.T,), 4 * n_words, added)
    is_sound &= (np.array(after) == headers[:, 4:].T).all(axis=0)
    return len(headers) if is_sound.all() else int(is_sound.argmin())


@lru_cache(maxsize=8)
def _weights_of_frame(n_words: int) -> list[NDArray[np.uint32]]:
    """Return the weights of all words of a frame: salts and checksum have none."""
    return [np.insert(w, 2, np.zeros(4, np.uint32)) for w in _weights(4 * n_words)]


def _lost(data: bytes, size: int, salts: bytes) -> _Lost | None:
    """Return what SQLite drops of the end of a log, whose first frame is not sound.

    A frame that is not where it should be has both salts: bytes before it were inserted or removed.
    """
    if not data:
        return None
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


def _checksum(data: bytes, order: str, state: tuple[int, int]) -> tuple[int, int]:
    """Return SQLite's checksum of words after others: one += x + two; two += y + one, modulo 2^32."""
    words = np.frombuffer(data, f"{order}u4").astype(np.uint32)
    one, two = (int(np.einsum("j,j->", words, weights)) for weights in _weights(len(data)))
    return _after(state, len(data), (one, two))


def _after(state: Sequence[Any], size: int, added: Sequence[Any]) -> tuple[Any, Any]:
    """Return the checksum after bytes that add so much to it; of arrays, each of theirs."""
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
