"""A bundle: a store, its scenario and report, versions and hashes, in one file for others to check.

It is a zip file with the fewest of freedoms: known names, nothing compressed, fixed dates. So it
cannot grow when it is read, no name leads anywhere, and a byte that differs is noticed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import sqlite3
import struct
import tempfile
import zipfile
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from racer._files import read_bytes, sha256_of, written
from racer.errors import MissingExtraError, StoreError
from racer.store.jsonable import decode
from racer.store.load import load_record
from racer.store.reader import open_to_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from racer.store.schema import Setup

__all__ = ["bundle"]

MOST_BYTES = 256_000_000
_NAMES = ("run.db", "scenario.toml", "report.html", "manifest.json")
_LIBRARIES = ("racer-tuning", "numpy", "scipy", "pandas", "joblib")
_OF_ZIPFILE = (NotImplementedError, RuntimeError, EOFError, OverflowError, IndexError)
_END = 22  # bytes of a zip file's last record


def bundle(
    store: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    scenario: str | os.PathLike[str] | None = None,
) -> str:
    """Write a store, its scenario and its report into one file that others can verify.

    With them go the versions in use, and the SHA-256 of each file that the program or an instance
    names. The report needs the extra ``report``, and is left out without it.

    Parameters
    ----------
    store : str or path-like
        It is only read, and may be in use.
    path : str or path-like
        The file to write; what is there is replaced.
    scenario : str or path-like, optional
        The scenario file of the run.

    Returns
    -------
    str
        The SHA-256 of the bundle. Whoever has it from elsewhere, from a paper, say, knows that
        the bundle is the one that was made: `racer.verify` compares it.

    Raises
    ------
    StoreError
        The store is not sound, cannot be replayed from the file alone, is too large, or the run has
        not come to its end.
    OSError
        A file cannot be read, or written.

    Examples
    --------
    >>> import racer, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store, path = f"{folder}/run.db", f"{folder}/run.zip"
    ...     result = racer.race(range(5), lambda x, i, seed: x + seed % 7, budget=60, seed=1, store=store)
    ...     sha256 = racer.bundle(store, path)
    ...     racer.verify(path, sha256=sha256).problems
    ()
    """
    result: Any = load_record(store).result
    members = {}
    with tempfile.TemporaryDirectory() as folder:
        with open_to_read(os.fspath(store)) as reader:
            copy = f"{folder}/run.db"
            with closing(sqlite3.connect(copy)) as target:
                reader.connection.backup(target)
            named, place = named_files(reader.setup)
            if reader.ending() is None:
                raise StoreError(
                    f"store {reader.path!r}: the run has not come to its end: go on with "
                    f"{reader.how_to_resume()}"
                )
        members["run.db"] = read_bytes(copy, MOST_BYTES)
        if scenario is not None:
            members["scenario.toml"] = read_bytes(scenario)
        with suppress(MissingExtraError, AttributeError):  # an ablation has none
            result.report(f"{folder}/report.html")
            members["report.html"] = read_bytes(f"{folder}/report.html")
    manifest = {
        "bundle": 1,
        "versions": {"python": platform.python_version()} | {n: version(n) for n in _LIBRARIES},
        "platform": platform.platform(),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
        "folder": place,
        "files": hashes(named, place),
    }
    members["manifest.json"] = json.dumps(manifest, indent=1).encode()
    data = packed(members)
    if len(data) > MOST_BYTES:
        raise StoreError(f"store {os.fspath(store)!r}: a bundle has at most {MOST_BYTES} bytes")
    with written(path) as part:
        Path(part).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def packed(members: Mapping[str, bytes]) -> bytes:
    """Return the zip file of these members, which is the same for the same members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            file.writestr(info, members[name])
    return buffer.getvalue()


def unpacked(data: bytes) -> dict[str, Any]:
    """Return the members of a bundle, the manifest decoded; ValueError for one that was changed."""
    end = data[-_END:]
    largest = len(_NAMES) * 100  # bytes of a directory; larger files than these have another mark
    is_end = end[:4] == b"PK\5\6" and data[-_END - 20 :][:4] != b"PK\6\7"
    if not is_end or int.from_bytes(end[12:16], "little") > largest:
        raise ValueError("it is not a bundle")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            infos = file.infolist()
            if any(i.compress_type or i.file_size > len(data) for i in infos):
                raise ValueError("something in it is compressed")
            members: dict[str, Any] = {i.filename: file.read(i) for i in infos}
    except (zipfile.BadZipFile, struct.error, OSError, *_OF_ZIPFILE) as error:
        raise ValueError(f"it cannot be read ({error})") from error
    if not {"run.db", "manifest.json"} <= set(members) <= set(_NAMES) or packed(members) != data:
        raise ValueError("it is not as racer.bundle wrote it")
    manifest = members["manifest.json"] = json.loads(members["manifest.json"])
    hashed = {name: members[name] for name in members if name != "manifest.json"}
    if manifest["sha256"] != {n: hashlib.sha256(data).hexdigest() for n, data in hashed.items()}:
        raise ValueError("a file in it is not the one that its manifest names")
    place, files = manifest["folder"], manifest["files"]
    if not isinstance(files, dict) or not all(isinstance(t, str) for t in (place, *files.values())):
        raise ValueError("its manifest makes no sense")
    return members


def named_files(setup: Setup) -> tuple[list[str], str]:
    """Return the texts of a program and its instances, and the folder where it runs."""
    command = setup.settings.get("command") or {"argv": [], "cwd": os.getcwd()}  # noqa: PTH109
    texts = list(command["argv"])
    for encoded in setup.instances or ():
        with suppress(ValueError):
            instance = decode(encoded)
            texts += [str(instance)] if isinstance(instance, str | PurePath) else []
    return list(dict.fromkeys(texts)), command["cwd"]


def hashes(names: Iterable[str], folder: str) -> dict[str, str]:
    """Return the SHA-256 of those names that are files."""
    found = {}
    for name in names:
        with suppress(OSError, ValueError):
            found[name] = sha256_of(os.path.join(folder, name))  # noqa: PTH118
    return found


def moved(text: Any, old: str, new: str) -> Any:
    """Return a path below the old folder as it is below the new one, anything else as it is."""
    is_below = isinstance(text, str) and text.startswith(old.rstrip(os.sep) + os.sep)
    return os.path.join(new, os.path.relpath(text, old)) if is_below else text  # noqa: PTH118
