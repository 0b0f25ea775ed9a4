"""Bundles that were tampered with: how many of them are noticed, and by what."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import racer
from experiments.options import number_option
from racer.store import schema
from racer.store.archive import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

HERE = Path(__file__).parent
POOL = [{"x": x} for x in range(8)]
INSTANCES = [0.5, 1.0, 2.0]
AGAIN = 20
COLUMNS = ("kind", "bundles", "with_hash", "without_hash", "without_hash_again")


def evaluate(config: dict[str, Any], instance: float, seed: int) -> float:
    """Return a noisy cost."""
    noise = np.random.default_rng(seed + config["x"]).normal()
    return float((config["x"] - 3) ** 2 / 4 + instance * noise)


def bytes_changed(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the bundle with a bit flipped, a byte more or less, or cut off, anywhere."""
    at, way = int(rng.integers(len(data))), int(rng.integers(4))
    if way == 0:
        return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
    if way == 1:
        return data[:at] + bytes([int(rng.integers(256))]) + data[at:]
    return data[:at] + (data[at + 1 :] if way == 2 else b"")


def resealed(data: bytes, change: Callable[[sqlite3.Connection], None]) -> bytes:
    """Return the bundle with its store changed, and all its hashes set right."""
    members = unpacked(data)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "run.db"
        store.write_bytes(members["run.db"])
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
            change(connection)
            connection.commit()
        members["run.db"] = store.read_bytes()
    manifest = members["manifest.json"]
    manifest["sha256"]["run.db"] = hashlib.sha256(members["run.db"]).hexdigest()
    return packed(members | {"manifest.json": json.dumps(manifest, indent=1).encode()})


def value_changed(connection: sqlite3.Connection, rng: np.random.Generator, *, right: bool) -> None:
    """Make one recorded cost better or worse by 1; `right`: with the checksum of the row."""
    rows = connection.execute(schema.ROWS["outcomes"]).fetchall()
    *old, written = rows[int(rng.integers(len(rows)))]
    row = schema.OutcomeRow(*old)
    assert row.value is not None  # noqa: S101  (nothing fails here)
    new = row._replace(value=row.value + float(rng.choice([-1.0, 1.0])))
    connection.execute(
        "UPDATE outcomes SET value = ?, checksum = ? WHERE block = ? AND candidate = ?",
        (new.value, schema.checksum(new) if right else written, row.block, row.candidate),
    )


def verdict_changed(connection: sqlite3.Connection, rng: np.random.Generator) -> None:
    """Change the leader after a block, or who was dropped, with the checksum of the row."""
    rows = connection.execute(schema.ROWS["verdicts"]).fetchall()
    block, best, dropped, evidence, _ = rows[int(rng.integers(len(rows)))]
    drops = json.loads(dropped)
    if drops and rng.random() < 0.5:
        drops[0]["candidate"] = (drops[0]["candidate"] + 1) % len(POOL)
    else:
        best = 0 if best is None else (best + 1) % len(POOL)
    values = (block, best, json.dumps(drops), evidence)
    connection.execute(
        "UPDATE verdicts SET best = ?, dropped = ?, checksum = ? WHERE block = ?",
        (best, values[2], schema.conclusion_checksum(*values), block),
    )


KINDS: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
    "bytes, anywhere": bytes_changed,
    "a cost; hashes set right": lambda data, rng: resealed(
        data, lambda connection: value_changed(connection, rng, right=False)
    ),
    "a cost; hashes and checksum set right": lambda data, rng: resealed(
        data, lambda connection: value_changed(connection, rng, right=True)
    ),
    "a verdict; hashes and checksum set right": lambda data, rng: resealed(
        data, lambda connection: verdict_changed(connection, rng)
    ),
}


def study(each: int) -> list[tuple[Any, ...]]:
    """Return the rows of the table."""
    found: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        store, path = f"{folder}/run.db", Path(folder) / "run.zip"
        racer.race(POOL, evaluate, INSTANCES, budget=300, seed=1, store=store)
        sha256 = racer.bundle(store, path)
        data = path.read_bytes()
        assert not racer.verify(path, evaluate, sha256=sha256, again=AGAIN, seed=1).problems  # noqa: S101
        for kind, tampered in KINDS.items():
            noticed = np.zeros(3, dtype=int)
            for number in range(each):
                path.write_bytes(tampered(data, np.random.default_rng([len(found), number])))
                noticed += [
                    bool(racer.verify(path, sha256=sha256).problems),
                    bool(racer.verify(path).problems),
                    bool(racer.verify(path, evaluate, again=AGAIN, seed=number).problems),
                ]
            found.append((kind, each, *noticed.tolist()))
    return found


@click.command()
@number_option("--each", 25, help="Tampered bundles of each kind.")
def main(each: int) -> None:
    """Tamper with bundles, and write how many are noticed."""
    rows = study(each)
    with (HERE / "tampering.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    for row in (COLUMNS, *rows):
        print(*row, sep=" | ")
