"""Instances as files have them: all files of a folder, or the lines of a file."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_instances(path: str, folder: str | None, where: str, *, is_line: bool) -> list[str]:
    """Return the files of a folder, sorted, or the lines of a file, with their folder before them.

    `is_line`: they will be split as a shell would, so what would come apart is quoted.
    """
    place = Path(path)
    if folder is not None and not place.exists() and not Path(folder).is_dir():
        raise SettingError(f"{where}_folder = {folder!r}: there is no such folder")
    if place.is_dir():
        files = sorted(str(file) for file in place.rglob("*") if file.is_file())
        found = [shlex.quote(file) if is_line else file for file in files]
    else:
        found = _lines(place, folder, where, is_line=is_line)
    if not found:
        what = "no files are in this folder" if place.is_dir() else "no lines are in this file"
        raise SettingError(f"{where} = {path!r}: {what}")
    return found


def _lines(place: Path, folder: str | None, where: str, *, is_line: bool) -> list[str]:
    try:
        text = place.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingError(f"{where} = {str(place)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SettingError(f"{where} = {str(place)!r} is not UTF-8 text: {error.reason}") from None
    lines = [stripped for line in text.splitlines() if (stripped := _bare(line))]
    if folder is None:
        return lines
    prefix = folder if folder.endswith("/") else f"{folder}/"
    return [(shlex.quote(prefix) if is_line else prefix) + line for line in lines]


def _bare(line: str) -> str:
    """Return a line without its comment, which begins with # at its start or after white space."""
    for at, letter in enumerate(line):
        if letter == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at].strip()
    return line.strip()


def not_files(lines: Iterable[str], *, is_line: bool) -> list[str]:
    """Return the paths of instances that are not there."""
    found = []
    for line in lines:
        with suppress(ValueError):  # a quote that does not end is refused where it is used
            path = shlex.split(line)[0] if is_line else line
            if not Path(path).exists():
                found.append(path)
    return found
