"""A bundle: a store, its scenario, versions and hashes, in one file for others to check."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import sqlite3
import tempfile
import zipfile
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._checks import whole
from racer._files import as_path, read_bytes, sha256_of, written
from racer.errors import SettingError, StoreError
from racer.evaluate.attempt import evaluate_cell, generators_put_back
from racer.evaluate.objective import seeded
from racer.evaluate.outcome import Cell
from racer.scenario.scenario import read_scenario
from racer.seeding import check_seed
from racer.store.contest import contest_from_store
from racer.store.load import check_store, load_record
from racer.store.reader import open_to_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from racer.evaluate.objective import Objective

__all__ = ["Verification", "bundle", "verify"]

_MOST_BYTES = 256_000_000


class Verification(NamedTuple):
    """What was found out about a bundle.

    Attributes
    ----------
    sha256 : str
        Of the bundle.
    problems : tuple of str
        What speaks against it.
    evaluations, blocks : int
        Recorded outcomes, and verdicts, one after each block of each race, that came out the same
        when replayed (an ablation has none).
    again : int
        Cells evaluated anew.

    Examples
    --------
    >>> import racer
    >>> print(racer.Verification("9f..", ("its SHA-256 is 9f.., not 8a..",)))
    NOT VERIFIED: its SHA-256 is 9f.., not 8a..
    """

    sha256: str
    problems: tuple[str, ...]
    evaluations: int = 0
    blocks: int = 0
    again: int = 0

    def __str__(self) -> str:
        return "\n".join(f"NOT VERIFIED: {text}" for text in self.problems) or (
            f"Verified: {self.evaluations} evaluations, {self.blocks} verdicts that come out the same, "
            f"{self.again} cells evaluated anew. SHA-256 {self.sha256}"
        )


def bundle(
    store: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    scenario: str | os.PathLike[str] | None = None,
) -> str:
    """Write a store and its scenario into one file that others can verify.

    With them go the versions in use, the call that made the run, and the SHA-256 of each file that
    the program or an instance names: held-out ones too, and within tuples, lists and dictionaries.

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
    settings = load_record(store).settings
    with tempfile.TemporaryDirectory() as copies, open_to_read(os.fspath(store)) as reader:
        if reader.ending() is None:
            raise StoreError(f"the run has not come to its end: {reader.how_to_resume()}")
        with closing(sqlite3.connect(f"{copies}/run.db")) as target:
            reader.connection.backup(target)
        members["run.db"] = read_bytes(f"{copies}/run.db", _MOST_BYTES // 2)
        command = reader.setup.settings.get("command") or {"argv": [], "cwd": os.getcwd()}  # noqa: PTH109
        tests = reader.setup.settings.get("test_instances")
        names = [*command["argv"], *_texts([reader.setup.instances, tests])]
    manifest = {
        "bundle": 1,
        "versions": {name: version(name) for name in ("racer-tuning", "numpy", "scipy")},
        "call": {name: str(value) for name, value in settings.items()},
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
        "folder": command["cwd"],
        "files": {name: known for name in names if (known := _hash(name, command["cwd"]))},
    }
    data = _packed(members | {"manifest.json": json.dumps(manifest, indent=1).encode()})
    with written(as_path(path, "path")) as part:
        Path(part).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def verify(
    path: str | os.PathLike[str],
    evaluate: Objective | None = None,
    *,
    sha256: str | None = None,
    again: int = 0,
    folder: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> Verification:
    """Check a bundle: nothing was changed, all verdicts come out the same, cells agree.

    Parameters
    ----------
    path : str or path-like
        A file that `racer.bundle` wrote.
    evaluate : callable, optional
        The objective, for `again`, unless it is a program.
    sha256 : str, optional
        The hash that `racer.bundle` returned. Without it a bundle is only known to be consistent:
        somebody may have made up another one.
    again : int >= 0
        Number of recorded successes, drawn at random, to evaluate anew in this process, one after
        the other; values agree if they are equal to nine digits, run times if they are below the
        limit again. Held-out instances are left out.
    folder : str or path-like, optional
        Where the program runs here, and where its files are, in place of the recorded folder.
    seed : int >= 0, optional
        Of the draw of cells.

    Returns
    -------
    Verification
        With `problems` if anything differs.

    Raises
    ------
    SettingError
        `again` without an objective, or settings out of range.
    StoreError
        `again` where JSON cannot hold the candidates or instances.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import racer, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store, path = f"{folder}/run.db", f"{folder}/run.zip"
    ...     result = racer.race(range(5), lambda x, i, seed: x + seed % 7, budget=60, seed=1, store=store)
    ...     sha256 = racer.bundle(store, path)
    ...     found = racer.verify(path, lambda x, i, seed: x + seed % 7, sha256=sha256, again=10)
    >>> found.problems, found.again
    ((), 10)
    """
    again, seed = whole(again, "again", least=0), check_seed(seed)
    data = read_bytes(as_path(path, "path"), _MOST_BYTES)
    found = hashlib.sha256(data).hexdigest()
    if sha256 is not None and str(sha256).strip().lower() != found:
        return Verification(found, (f"its SHA-256 is {found}, not {sha256}",))
    with tempfile.TemporaryDirectory() as temporary:
        store = f"{temporary}/run.db"
        try:
            manifest = _unpacked(data, store)
            here = str(folder or manifest["folder"])
            now = [(name, old, _hash(name, here)) for name, old in manifest["files"].items()]
            report: Any = check_store(store)
        except Exception as error:  # noqa: BLE001  (of zipfile, json: anything may be in a file)
            text = f"it is not as racer.bundle wrote it ({error})".replace(store, "run.db")
            return Verification(found, (text,))
        changed = [name for name, old, new in now if new not in ("", old)]
        problems = [f"{name} is not the file that was used" for name in changed]
        problems += report.problems or ([] if report.result else report.notes)
        if report.ended is None:
            problems.append("the run has not come to its end")
        if again and not problems:
            with open_to_read(store) as reader:
                contest_from_store(reader)  # an error where JSON cannot hold what is needed
            known = report.result.scores.query("status == 'ok'")
            drawn = known.sample(again := min(again, len(known)), random_state=seed)
            problems = _differences(report.result, evaluate, drawn)
    texts = tuple(text.replace(store, "run.db") for text in problems)
    return Verification(found, texts, report.evaluations, report.verdicts, again)


def _differences(result: Any, evaluate: Any, drawn: Any) -> list[str]:
    """Evaluate recorded successes again; return a text for each that differs."""
    if evaluate is None:
        raise SettingError("again= needs the objective of the run: give evaluate=")
    runtime, found = result.rules.runtime, []
    with generators_put_back():
        for row in drawn.itertuples():
            instance = None if result.instances is None else result.instances[row.instance]
            config, limits = result.configs[row.candidate], {"bound": runtime and runtime.limit}
            limits["metrics"] = result.rules.metric_names
            cell = Cell(row.block, row.candidate, config, instance, row.seed, **limits)
            new = evaluate_cell(seeded(evaluate), cell)
            if new.status != "ok" or not (runtime or math.isclose(new.value or 0.0, row.value)):
                what = f"{new.value} now {new.message}, recorded is {row.value}"
                found.append(f"candidate {row.candidate} on block {row.block} is {what}")
    return found


def _packed(members: Mapping[str, bytes]) -> bytes:
    """Return the zip file of these members, not compressed, which is the same for the same ones."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            file.writestr(info, members[name])
    return buffer.getvalue()


def _unpacked(data: bytes, store: str) -> Any:
    """Write the store of a bundle, return its manifest; an error for one that was changed."""
    end, size = data[-42:], int.from_bytes(data[-10:-6], "little")
    if end[20:24] != b"PK\5\6" or end[:4] == b"PK\6\7" or size > 500:  # no large directory is read
        raise ValueError("it is no bundle")
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        if sum(info.file_size for info in file.infolist()) > len(data):
            raise ValueError("something in it is compressed")
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members["manifest.json"])
    packed = _packed(members)
    hashes = {name: hashlib.sha256(one).hexdigest() for name, one in members.items()}
    if packed != data or manifest["sha256"] | {"manifest.json": hashes["manifest.json"]} != hashes:
        raise ValueError("a file in it is another one than its manifest names")
    Path(store).write_bytes(members["run.db"])
    return manifest


def _texts(value: Any) -> Iterator[str]:
    """Yield each text in recorded instances, at any depth: names of files, perhaps."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _hash(name: str, folder: str) -> str:
    """Return the SHA-256 of a file, empty if there is none."""
    with suppress(OSError, ValueError):
        return sha256_of(os.path.join(folder, name))  # noqa: PTH118
    return ""
