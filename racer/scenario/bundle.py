"""A bundle: a store, its scenario and report, versions and hashes, in one file for others to check."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import tempfile
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from racer._files import as_path, read_bytes, written
from racer.errors import MissingExtraError, StoreError
from racer.scenario.scenario import read_scenario
from racer.store.archive import MANIFEST, MOST_BYTES, hashes_of, packed
from racer.store.load import load_record
from racer.store.reader import open_to_read
from racer.store.used_files import UsedFiles

__all__ = ["bundle"]

_LIBRARIES = ("racer-tuning", "numpy", "scipy", "pandas", "joblib")


def bundle(
    store: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    scenario: str | os.PathLike[str] | None = None,
) -> str:
    """Write a store, its scenario and its report into one file that others can verify.

    With them go the versions in use, and the SHA-256 of each file that the program or an instance
    names: held-out ones too, and within tuples, lists and dictionaries. The report needs the extra
    ``report``, and is left out without it.

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
    SettingError
        `scenario` is no scenario file.
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
    members = {}
    if scenario is not None:
        read_scenario(as_path(scenario, "scenario"))  # an error for any other file
        members["scenario.toml"] = read_bytes(scenario)
    result: Any = load_record(store).result
    with tempfile.TemporaryDirectory() as folder:
        with open_to_read(os.fspath(store)) as reader:
            copy = f"{folder}/run.db"
            with closing(sqlite3.connect(copy)) as target:
                reader.connection.backup(target)
            files = UsedFiles.from_setup(reader.setup)
            if reader.ending() is None:
                raise StoreError(
                    f"store {reader.path!r}: the run has not come to its end: go on with "
                    f"{reader.how_to_resume()}"
                )
        members["run.db"] = read_bytes(copy, MOST_BYTES)
        with suppress(MissingExtraError, AttributeError):  # an ablation has none
            result.report(f"{folder}/report.html")
            members["report.html"] = read_bytes(f"{folder}/report.html")
    manifest = {
        "bundle": 1,
        "versions": {"python": platform.python_version()} | {n: version(n) for n in _LIBRARIES},
        "platform": platform.platform(),
        "sha256": hashes_of(members),
        "folder": files.folder,
        "files": files.hashes,
    }
    members[MANIFEST] = json.dumps(manifest, indent=1).encode()
    data = packed(members)
    if len(data) > MOST_BYTES:
        raise StoreError(f"store {os.fspath(store)!r}: a bundle has at most {MOST_BYTES} bytes")
    with written(path) as part:
        Path(part).write_bytes(data)
    return hashlib.sha256(data).hexdigest()
