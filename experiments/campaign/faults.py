"""Two faults at file operations, one after the other: stores, and whatever writes a file.

The tool of the tests makes the n-th operation on a folder fail (EIO once, EIO or ENOSPC from then
on, for SQLite's system calls and Python's); here opening, writing and syncing of files for others
fail, too. A race or a tuning with a fault has the same result or is refused and names its file; so
again with a second fault during recovery; then without one, nothing recorded is lost and the result
is the same. An output is whole or as it was before, and what went wrong names the file.
"""

# ruff: noqa: ARG001, C901, PLR0911  (an objective; what is wrong is said where it is seen)

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import io
import math
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

import racer
from experiments.campaign.contests import SPACE
from experiments.campaign.damage import text_of
from experiments.report import print_row
from racer.store.load import check_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["main"]

_TOOL = Path(__file__).resolve().parents[2] / "tests" / "tools" / "faults.py"
KINDS = ["EIO", "EIO, and from then on", "ENOSPC, and from then on"]
SETTINGS: dict[str, Any] = {"first_test": 2, "seed": 1}


def evaluate(config: Any, instance: Any, seed: int) -> float:
    """Return a cost."""
    return float(config["x"] + seed % 7)


def race(path: Path) -> str:
    """Run a small race."""
    pool = [{"x": 0}, {"x": 1}]
    return text_of(racer.race(pool, evaluate, budget=6, decider="f-race", store=path, **SETTINGS))


def tune(path: Path) -> str:
    """Run a small tuning."""
    return text_of(racer.tune(SPACE, evaluate, [1, 2], budget=16, store=path, **SETTINGS))


def ablation(path: Path) -> str:
    """Run a small ablation, of a tuning in memory."""
    tuned = racer.tune(SPACE, evaluate, [1, 2], budget=16, **SETTINGS)
    ends: dict[str, Any] = {"source": {"x": 1.0, "k": "b"}, "target": {"x": 0.1, "k": "a"}}
    return text_of(racer.ablation(tuned, evaluate, **ends, blocks=2, store=path))


@contextlib.contextmanager
def opening(faults: Any) -> Iterator[None]:
    """Let opening, writing and syncing of files in the folder fail as well."""
    plain_open, plain_sync = builtins.open, os.fsync

    class Raw(io.FileIO):
        def write(self, data: Any) -> int:
            if error := faults._error("write"):  # noqa: SLF001
                raise OSError(error, os.strerror(error), self.name)
            return super().write(data)

    def opened(file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
        counts = faults._armed and not isinstance(file, int) and faults._counts(file)  # noqa: SLF001
        if not counts or not {*mode} & {*"wax+"} or named.get("opener"):
            return plain_open(file, mode, buffering, *more, **named)
        if error := faults._error("open"):  # noqa: SLF001
            raise OSError(error, os.strerror(error), file)
        raw = Raw(file, mode.replace("b", "").replace("t", ""))
        buffer: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffer
        names = ("encoding", "errors", "newline")
        return io.TextIOWrapper(buffer, **{**dict(zip(names, more, strict=False)), **named})

    def sync(file: int) -> None:
        if error := faults._error("sync"):  # noqa: SLF001
            raise OSError(error, os.strerror(error))
        plain_sync(file)

    put_in: Any = (builtins, io, os)
    put_in[0].open = put_in[1].open = opened
    put_in[2].fsync = sync
    try:
        yield
    finally:
        put_in[0].open = put_in[1].open = plain_open
        put_in[2].fsync = plain_sync


def rows(path: Path) -> set[Any]:
    """Return the recorded outcomes of a copy, as reading would recover it."""
    copy = path.parent / "look.db"
    for end in ("", "-wal"):
        Path(f"{copy}{end}").unlink(missing_ok=True)
        if Path(f"{path}{end}").exists():
            shutil.copyfile(f"{path}{end}", f"{copy}{end}")
    found: set[Any] = set()
    if copy.exists():
        with (
            contextlib.suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(copy)) as opened,
        ):
            found = set(opened.execute("SELECT block, candidate, status, value FROM outcomes"))
    for file in path.parent.glob("look.db*"):
        file.unlink()
    return found


class Campaign:
    """What is tried, and what came of it."""

    def __init__(self, folder: Path, faults: Any) -> None:
        self.folder, self.faults = folder, faults
        self.contests: dict[str, Callable[[Path], str]] = {
            "race": race,
            "tune": tune,
            "ablation": ablation,
        }
        self.plain = {}
        self.operations = {}
        for name, run in self.contests.items():
            with self.faults.at(0):
                self.plain[name] = run(folder / "plain.db")
            self.operations[name] = len(self.faults.done)
            self._clear()
        self.store = folder.parent / "finished.db"
        racer.tune(SPACE, evaluate, [1, 2], budget=60, store=self.store, **SETTINGS)
        self.scores = folder.parent / "scores.csv"
        table = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "b": [2.0, 3, 4, 5, 6, 8]})
        table.to_csv(self.scores, index_label="data")
        self.outputs = self._outputs()
        self.wanted = {}
        self.only_new: set[str] = set()  # what replaces nothing
        for name, write in self.outputs.items():
            with self.faults.at(0):
                write()
            self.operations[name] = len(self.faults.done)
            self.wanted[name] = self._content()
            try:
                write()
            except (racer.StoreError, OSError):
                self.only_new.add(name)
            self._clear()

    def _outputs(self) -> dict[str, Callable[[], None]]:
        from racer.cli.commands import main as program  # noqa: PLC0415
        from racer.render.html import write_page  # noqa: PLC0415

        def run(*words: str) -> None:
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    program.main([*words], prog_name="racer")
                except SystemExit as end:
                    if end.code in (1, 2):
                        raise racer.StoreError(err.getvalue()) from None

        at, store = str(self.folder), str(self.store)
        return {
            "report": lambda: write_page(f"{at}/page.html", "<p>page</p>" * 3000),
            "show --csv": lambda: run("show", store, "--csv", f"{at}/tables"),
            "show --configurations": lambda: run("show", store, "--configurations", f"{at}/c.txt"),
            "export --csv": lambda: run("export", store, "--csv", f"{at}/tables"),
            "compare --plot": lambda: run("compare", str(self.scores), "--plot", f"{at}/plot.svg"),
            "export --optuna": lambda: run("export", store, "--optuna", f"{at}/study.log"),
        }

    def _content(self) -> dict[str, int]:
        files = [f for f in self.folder.rglob("*") if f.is_file() and not f.name.startswith(".")]
        return {str(f.relative_to(self.folder)): f.stat().st_size for f in files}

    def _clear(self) -> None:
        for file in self.folder.iterdir():
            shutil.rmtree(file) if file.is_dir() else file.unlink()

    def _fault(self, operations: int, rng: random.Random) -> tuple[int, str]:
        return rng.randrange(1, operations + 3), rng.choice(KINDS)

    def contest(self, name: str, rng: random.Random) -> str:
        """Try a contest with two faults; return what is wrong."""
        path, run = self.folder / "run.db", self.contests[name]
        before: set[Any] = set()
        for operations in (self.operations[name], 120):
            number, how = self._fault(operations, rng)
            try:
                with self.faults.at(number, how), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if run(path) != self.plain[name]:
                        return f"{how} at {number}: another result"
            except racer.StoreError as error:
                if str(path) not in str(error):
                    return f"{how} at {number}: the file is not named: {error}"
            except BaseException as error:  # noqa: BLE001
                return f"{how} at {number}: {type(error).__name__}: {error}"
            self._let_go(path)
            now = rows(path)
            if before - now:
                return f"{how} at {number}: rows are lost"
            before = now
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a last entry that was not written
            if run(path) != self.plain[name]:
                return "another result in the end"
        if before - rows(path):
            return "rows are lost in the end"
        return "".join(check_store(path).problems)

    def _let_go(self, path: Path) -> None:
        """Close the lock, as the end of this process would."""
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                if link.readlink() == Path(f"{path}.lock"):
                    os.close(int(link.name))

    def output(self, name: str, rng: random.Random) -> str:
        """Try an output with two faults, in place of an earlier one; return what is wrong."""
        write, wanted = self.outputs[name], self.wanted[name]
        is_new = name in self.only_new
        if not is_new:
            write()
            for file in wanted:
                (self.folder / file).write_bytes(b"earlier")
        for _ in range(2):
            number, how = self._fault(self.operations[name], rng)
            try:
                with self.faults.at(number, how), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    write()
            except (racer.StoreError, OSError) as error:
                if str(self.folder.parent) not in str(error):
                    return f"{how} at {number}: the file is not named: {error}"
            except BaseException as error:  # noqa: BLE001
                return f"{how} at {number}: {type(error).__name__}: {error}"
            for file, size in self._content().items():
                if size not in (7, wanted.get(file)):
                    return f"{how} at {number}: {file} has {size} bytes of {wanted.get(file)}"
            if is_new and "then on" not in how and self._content() not in ({}, wanted):
                return f"{how} at {number}: a part is left: {self._content()}"
            if is_new:
                self._clear()
        write()
        return "" if self._content() == wanted else f"in the end {self._content()}"

    def one(self, name: str, rng: random.Random) -> str:
        """Try one of all."""
        try:
            return (self.contest if name in self.contests else self.output)(name, rng)
        finally:
            self._clear()


@click.command()
@click.option("-n", "number", default=1000, show_default=True, help="Double faults.")
@click.option("--seed", default=0, show_default=True)
@click.option("--only", default="", help="What has this in its name.")
@click.option("--minutes", type=float, help="Begin no double fault after so many.")
def main(*, number: int, seed: int, only: str, minutes: float | None) -> None:
    """Let two file operations fail, one after the other: stores and outputs."""
    tool = importlib.util.spec_from_file_location("faults", _TOOL)
    if tool is None or tool.loader is None:
        raise click.ClickException(f"{_TOOL} is needed, the tool of the tests")
    module = importlib.util.module_from_spec(tool)
    tool.loader.exec_module(module)
    rng = random.Random(seed)  # noqa: S311
    tally: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "files"
        folder.mkdir()
        faults = module.Faults(folder)
        with faults.installed(), opening(faults):
            campaign = Campaign(folder, faults)
            names = [name for name in [*campaign.contests, *campaign.outputs] if only in name]
            until = time.monotonic() + 60.0 * (minutes or math.inf)
            for turn in range(number):
                if time.monotonic() > until:
                    break
                name = names[turn % len(names)]
                wrong = campaign.one(name, rng)
                tally.setdefault(name, Counter())["wrong" if wrong else "right"] += 1
                if wrong:
                    print(f"{name}: {wrong}", file=sys.stderr, flush=True)
                if turn % 100 == 99:
                    print(f"{turn + 1} double faults", file=sys.stderr, flush=True)
    print_row("what", "operations", "double faults", "right", "wrong", head=True)
    for name, counts in tally.items():
        operations = campaign.operations[name]
        print_row(name, operations, counts.total(), counts["right"], counts["wrong"])
    sums = sum(tally.values(), Counter())
    print_row("**all**", "", sums.total(), sums["right"], sums["wrong"])
    sys.exit(bool(sums["wrong"]))
