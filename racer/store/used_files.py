"""The files that a run used: recorded by their hashes, found again in another folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._files import sha256_of
from racer.store.jsonable import decode

if TYPE_CHECKING:
    from racer.store.schema import Setup


class UsedFiles(NamedTuple):
    """The files that a program or an instance names: the program's folder, and their SHA-256."""

    folder: str
    hashes: dict[str, str]  # by the name that the run has for the file

    @classmethod
    def from_setup(cls, setup: Setup) -> UsedFiles:
        """Return those of a recorded run, as they are now."""
        command = setup.settings.get("command") or {"argv": [], "cwd": os.getcwd()}  # noqa: PTH109
        names = list(command["argv"])
        for encoded in setup.instances or ():
            with suppress(ValueError):
                instance = decode(encoded)
                names += [str(instance)] if isinstance(instance, str | PurePath) else []
        folder = command["cwd"]
        hashes = {name: _hash(name, folder) for name in dict.fromkeys(names)}
        return cls(folder, {name: known for name, known in hashes.items() if known})

    def compared(self, here: str) -> tuple[list[str], list[str]]:
        """Return the names of files that differ, and of those missing, in the folder `here`."""
        now = {name: _hash(self.moved(name, here), here) for name in self.hashes}
        changed = [name for name, found in now.items() if found not in ("", self.hashes[name])]
        return changed, [name for name, found in now.items() if not found]

    def moved(self, value: Any, here: str) -> Any:
        """Return a path below the folder as it is below `here`, anything else as it is."""
        is_below = isinstance(value, str) and value.startswith(self.folder.rstrip(os.sep) + os.sep)
        return os.path.join(here, os.path.relpath(value, self.folder)) if is_below else value  # noqa: PTH118


def _hash(name: str, folder: str) -> str:
    """Return the SHA-256 of a file, empty if there is none."""
    with suppress(OSError, ValueError):
        return sha256_of(os.path.join(folder, name))  # noqa: PTH118
    return ""
