"""Files of others, read within bounds, and files for others, written whole or not at all."""

from __future__ import annotations

import errno
import os
import reprlib
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import StrPath

MOST_BYTES = 16_000_000
"""Size of the largest file that is read as text."""

SQLITE = b"SQLite format 3\0"
_BESIDE_A_STORE = ("-journal", ".lock")


def as_path(value: object, name: str, what: str = "file") -> str:
    """Return the path that `value` is as text; SettingError for anything else."""
    if not isinstance(value, str | os.PathLike) or "\0" in os.fspath(value) or not str(value):
        raise SettingError(f"{name}={reprlib.repr(value)}: give the path of a {what}")
    return os.fspath(value)


def read_bytes(path: StrPath, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; OSError for another kind of file, or a larger one."""
    with open(_opened(path), "rb") as file:
        is_large = os.fstat(file.fileno()).st_size > most
        data = b"" if is_large else file.read(most + 1)
    if is_large or len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB", os.fspath(path))
    return data


def beginning(path: StrPath, size: int = 256) -> bytes:
    """Return the first bytes of a regular file; none if it cannot be read."""
    with suppress(OSError, ValueError), open(_opened(path), "rb") as file:
        return file.read(size)
    return b""


def _opened(path: StrPath) -> int:
    """Open a file without waiting for a writer; OSError unless it is regular."""
    if "\0" in os.fspath(path):
        raise OSError(errno.EINVAL, "a path has no NUL", os.fspath(path))
    wanted = ("O_BINARY", "O_NONBLOCK", "O_CLOEXEC")  # as far as the system has them
    file = os.open(path, sum((getattr(os, name, 0) for name in wanted), os.O_RDONLY))
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode):
        os.close(file)
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        what = os.strerror(code) if stat.S_ISDIR(mode) else "this is no regular file"
        raise OSError(code, what, os.fspath(path))
    return file


@contextmanager
def written(path: StrPath, *, is_new: bool = False) -> Iterator[str]:
    """Give the name of a file to write, which takes the place of `path` if all goes well.

    Until then `path` stays as it is. OSError if it is there although `is_new`, or is a store, a
    file beside one, or no regular file.
    """
    target = Path(os.path.realpath(path))
    _check_replaceable(target, os.fspath(path), is_new=is_new)
    # a picture's format is its suffix
    part = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(4)}{target.suffix}")
    try:
        yield str(part)
        with part.open("r+b") as file:  # Windows syncs what is open for writing
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        _move(part, target, is_new=is_new)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.errno is not None:  # of the part, or of no file
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def _move(part: Path, target: Path, *, is_new: bool) -> None:
    """Move a file to its name; OSError if that is to be new, and was taken meanwhile."""
    if not is_new:
        part.replace(target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except (AttributeError, OSError):  # no links here
        part.replace(target)
        return
    try:
        part.unlink()
    except OSError:
        target.unlink()
        raise


def write_text(path: StrPath, text: str, *, is_new: bool = False) -> None:
    """Write a file, whole or not at all; OSError as `written`."""
    with written(path, is_new=is_new) as part:
        Path(part).write_text(text, encoding="utf-8")


def write_texts(folder: StrPath, texts: Mapping[str, str]) -> Path:
    """Write files by their names into a folder, which is made if it is not there; return it."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(place / name, f"{text.rstrip()}\n")
    return place


def _check_replaceable(target: Path, given: str, *, is_new: bool) -> None:
    if os.path.lexists(target):
        if is_new:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), given)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), given)
        if not target.is_file():
            raise OSError(errno.EINVAL, "this is no regular file", given)
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), given)
    elif not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", os.path.split(given)[0])
    name = str(target)
    ends = next((end for end in _BESIDE_A_STORE if name.endswith(end)), "")
    for store in {name, name.removesuffix(ends)}:
        if beginning(store, len(SQLITE)) == SQLITE:
            raise FileExistsError(
                errno.EEXIST, f"{store!r} is a store, or another database: give another name", given
            )
