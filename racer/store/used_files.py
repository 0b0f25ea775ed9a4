"""The files that a run used: recorded by their hashes, found again in another folder."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._files import sha256_of
from racer.store.jsonable import decode

if TYPE_CHECKING:
    from collections.abc import Callable

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

        def note(path: Any) -> None:
            names.append(str(path))

        tests = setup.settings.get("test_instances") or ()
        for encoded in chain(setup.instances or (), tests):
            with suppress(ValueError):
                _with_paths(decode(encoded), note)
        folder = command["cwd"]
        hashes = {name: _hash(name, folder) for name in dict.fromkeys(names)}
        return cls(folder, {name: known for name, known in hashes.items() if known})

    def compared(self, here: str) -> tuple[list[str], list[str]]:
        """Return the names of files that differ, and of those missing, in the folder `here`."""
        now = {name: _hash(self.moved(name, here), here) for name in self.hashes}
        changed = [name for name, found in now.items() if found not in ("", self.hashes[name])]
        return changed, [name for name, found in now.items() if not found]

    def moved(self, value: Any, here: str) -> Any:
        """Return a value with each path below the folder as it is below `here`."""
        above = self.folder.rstrip(os.sep) + os.sep

        def there(path: Any) -> Any:
            if not str(path).startswith(above):
                return path
            return type(path)(os.path.join(here, os.path.relpath(path, self.folder)))  # noqa: PTH118

        return _with_paths(value, there)


def _with_paths(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return an instance with each text and path in it, at any depth, as `change` returns it."""
    if isinstance(value, str | PurePath):
        return change(value)
    if isinstance(value, tuple | list | set | frozenset):
        return type(value)([_with_paths(item, change) for item in value])
    if isinstance(value, dict):
        return {name: _with_paths(item, change) for name, item in value.items()}
    return value


def _hash(name: str, folder: str) -> str:
    """Return the SHA-256 of a file, empty if there is none."""
    with suppress(OSError, ValueError):
        return sha256_of(os.path.join(folder, name))  # noqa: PTH118
    return ""
