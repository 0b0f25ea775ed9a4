"""Which stores this user began: a mark in the user's state folder for each that runs a program.

A mark is named by the checksum of the settings, which the program and its folder are part of: a
store that asks for anything else has another one, of any origin.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from racer.store.schema import Setup


def mark_as_begun(setup: Setup, digest: str) -> None:
    """Keep in mind that this user began a store with these settings, if they name a program."""
    if "command" in setup.settings:
        with suppress(OSError, RuntimeError):  # without a home, one is asked
            folder = _folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / digest).touch(mode=0o600)


def was_begun_here(digest: str) -> bool:
    """Return True if this user began a store with these settings."""
    try:
        found = (_folder() / digest).lstat()  # a link may be another user's, to a file of this one
        return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
    except (OSError, RuntimeError, AttributeError):  # also without users
        return False


def _folder() -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"  # noqa: PTH117
    return state / "racer" / "begun"
