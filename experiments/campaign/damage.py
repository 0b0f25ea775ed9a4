"""Damaged files: stores, scenarios, parameter files, candidates, tables of scores.

Bits are flipped, parts cut, zeroed, repeated or exchanged, lines and words of text as well. What
reads a damaged store has to refuse it and name it, return what the whole one says, or say that
something is missing; check has to see what others refuse. Of text any error has to be racer's own.
A store that is refused has to stay as it is.
"""

# ruff: noqa: ARG001, C901  (an objective; what is wrong is said where it is seen)

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.testing import CliRunner

import racer
from experiments.campaign.contests import ENDS, SPACE, text_of
from experiments.report import print_row
from racer.cli import main as program
from racer.scenario.scenario import read_scenario as scenario
from racer.store.load import check_store

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parents[2]
_WHOLE = Path(__file__).with_name("texts")  # whole files of text, and files that these name
POOL = [0, 1, 2, 3]
SETTINGS: dict[str, Any] = {"budget": 60, "seed": 5, "decider": "f-race"}
WORDS = [b"[", b"]", b"{", b"\0", b'"', b"nan", b"1e999", b"-", b",", b"=", b"\xff", b"'''", b"#"]


def evaluate(config: Any, instance: Any, seed: int) -> float:
    """Return noise around a configuration, or raise."""
    x = config["x"] if isinstance(config, dict) else config
    if seed % 11 == 0:
        raise ValueError("no luck")
    return float(x + np.random.default_rng(seed).normal())


def damaged(data: bytes, rng: random.Random, *, is_text: bool) -> tuple[bytes, str]:
    """Return data that are damaged in a random way, and which."""
    new, n = bytearray(data), len(data)
    place, size = rng.randrange(n), rng.choice([1, 4, 64, 512, 4096])
    other = rng.randrange(n)
    ways = ["flip", "flip", "flip", "cut", "zero", "repeat", "exchange", "insert"]
    way = rng.choice([*ways, *(["word", "word", "line", "line", "lines"] if is_text else [])])
    match way:
        case "flip":
            for _ in range(rng.choice([1, 1, 3])):
                new[rng.randrange(n)] ^= 1 << rng.randrange(8)
        case "cut":
            del new[place:]
        case "zero":
            new[place : place + size] = bytes(len(new[place : place + size]))
        case "repeat":
            new[place:place] = new[other : other + size]
        case "exchange":
            part = new[other : other + size]
            new[place : place + len(part)] = part
        case "insert":
            new[place:place] = rng.randbytes(size)
        case "word":
            new[place:place] = rng.choice(WORDS)
        case "line":
            lines = bytes(new).split(b"\n")
            del lines[rng.randrange(len(lines))]
            new = bytearray(b"\n".join(lines))
        case "lines":
            lines = bytes(new).split(b"\n")
            rng.shuffle(lines)
            new = bytearray(b"\n".join(lines))
    return bytes(new), f"{way} at {place} of {n}"


class Stores:
    """Recorded contests, and what they say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        racer.race(POOL, evaluate, [1, 2, 3], store=folder / "race.db", **SETTINGS)
        tuned = racer.tune(
            SPACE, evaluate, [1, 2, 3], budget=60, seed=1, store=folder / "tuning.db"
        )
        racer.ablation(tuned, evaluate, **ENDS, blocks=5, store=folder / "ablation.db")
        script = (
            "import os, racer\nfrom racer.store import writer\nwriter._TOGETHER = 0.0\nfrom experiments.campaign.damage import POOL, SETTINGS, evaluate\nseen = []\n"
            "def killed(config, instance, seed):\n"
            "    seen.append(seed)\n"
            "    return evaluate(config, instance, seed) if len(seen) < 15 else os._exit(9)\n"
            f"racer.race(POOL, killed, [1, 2, 3], store={str(folder / 'killed.db')!r}, **SETTINGS)\n"
        )
        subprocess.run([sys.executable, "-c", script], check=False, cwd=_ROOT)  # noqa: S603
        self.kinds = ("race.db", "tuning.db", "ablation.db", "killed.db")
        self.said = {name: self._loaded(folder / name)[0] for name in self.kinds}
        self.goes_on = {}
        for name in ("race.db", "killed.db", "tuning.db"):
            with warnings.catch_warnings(action="ignore"):  # of another name of evaluate
                self.goes_on[name] = text_of(racer.resume(self.copy(name), evaluate))

    def copy(self, name: str) -> Path:
        """Return a copy of a store."""
        new = self.folder / "copy.db"
        for end in ("-journal", ".lock", ".saved"):
            Path(f"{new}{end}").unlink(missing_ok=True)
        return Path(shutil.copyfile(self.folder / name, new))

    def _loaded(self, path: Path) -> tuple[str, bool]:
        with warnings.catch_warnings(record=True, action="always") as caught:
            text = text_of(racer.load(path))
        return text, any(issubclass(w.category, racer.RacerWarning) for w in caught)

    def one(self, rng: random.Random) -> tuple[str, str, str]:
        """Damage a store; return its kind, what came of it, and what is wrong."""
        name = rng.choice(self.kinds)
        path = self.copy(name)
        before, way = damaged(path.read_bytes(), rng, is_text=False)
        path.write_bytes(before)
        report: Any = None
        try:
            report = check_store(path)
            problems = report.problems + report.notes
        except racer.StoreError as error:
            problems = [str(error)]
        try:
            text, is_said = self._loaded(path)
        except racer.StoreError as error:
            if str(path) not in str(error):
                return name, "wrong", f"the file is not named: {error}"
            if not problems:
                return name, "wrong", f"check sees nothing: {error}"
            how = "refused"
        else:
            how = "right" if text == self.said[name] else "said" if is_said else "wrong"
            if how == "wrong":
                return name, "wrong", f"{way}: load says something else: {problems}"
        if path.read_bytes() != before:
            return name, "wrong", "reading changed it"
        return name, *self._resumed(name, path, before, how)

    def _resumed(self, name: str, path: Path, before: bytes, how: str) -> tuple[str, str]:
        """Go on with a damaged store."""
        if name not in self.goes_on:
            return how, ""
        try:
            with warnings.catch_warnings(record=True, action="always") as caught:
                text = text_of(racer.resume(path, evaluate))
        except racer.StoreError as error:
            if path.read_bytes() != before:
                return "wrong", f"refused, and changed: {error}"
            return "refused", ""
        if text == self.goes_on[name] or caught:
            return how, ""
        return "wrong", "resume has another result"


def texts(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """Return files of text by name, and what reads each."""
    shutil.copytree(_WHOLE, folder, dirs_exist_ok=True)

    def told(*words: str) -> Callable[[Path], object]:
        def run(path: Path) -> None:
            done = CliRunner().invoke(program, [w.format(path=path) for w in words])
            if done.exit_code in (1, 2) and isinstance(done.exception, SystemExit):
                raise racer.SettingError(done.output)
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception

        return run

    racing = ["race", "{path}", "--instances", str(folder / "list.txt"), "--budget", "1", "--"]
    racing += [str(folder / "run.sh"), "{{parameters}}", "{{instance}}"]
    reads: dict[str, Callable[[Path], object]] = {
        "scenario.toml": lambda path: scenario(str(path)).arguments(),
        "scenario.txt": lambda path: scenario(str(path)).arguments(),
        "space.txt": racer.Space.read_irace,
        "space.json": racer.Space.read_configspace,
        "racers_space.json": lambda path: racer.Space.from_json(_parsed(path)),
        "wide.csv": told("compare", "{path}", "--minimize", "--json"),
        "long.csv": told("compare", "{path}", "--minimize", "--json"),
        "samples_a.jsonl": racer.read_scores,
        "candidates.json": told(*racing),
        "candidates.csv": told(*racing),
    }
    return {name: ((_WHOLE / name).read_bytes(), read) for name, read in reads.items()}


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise racer.SettingError("no JSON") from None


def one_text(
    name: str, data: bytes, read: Callable[[Path], object], folder: Path, rng: random.Random | None
) -> tuple[str, str, str]:
    """Read a damaged file of text."""
    path = folder / name
    path.write_bytes(data)
    if rng is not None:
        path.write_bytes(damaged(data, rng, is_text=True)[0])
    try:
        with warnings.catch_warnings(action="ignore"):
            read(path)
    except racer.RacerError as error:
        if "budget of 1" in str(error):  # candidates are read, and nothing is run
            return name, "right", str(error)
        return name, "refused" if str(error) else "wrong", str(error)
    except BaseException as error:  # noqa: BLE001
        kept = folder.parent / f"damaged_{name}"
        shutil.copyfile(path, kept)
        return name, "wrong", f"{type(error).__name__}: {error} ({kept})"
    return name, "right", ""


@click.command()
@click.option("-n", "number", default=5000, show_default=True, help="Damaged files.")
@click.option("--seed", default=0, show_default=True)
def main(*, number: int, seed: int) -> None:
    """Read damaged files: refused, right, or said."""
    rng = random.Random(seed)  # noqa: S311
    tally: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        stores, files = Stores(folder), texts(folder)
        for kind, file in files.items():  # whole ones are read
            _, how, why = one_text(kind, *file, folder, None)
            if how != "right":
                raise RuntimeError(f"{kind} is refused while it is whole: {why}")
        for turn in range(number):
            if turn % 2:
                kind, how, why = stores.one(rng)
            else:
                kind = rng.choice(sorted(files))
                kind, how, why = one_text(kind, *files[kind], folder, rng)
            tally.setdefault(kind, Counter())[how] += 1
            if how == "wrong":
                print(f"{kind}: {why}", file=sys.stderr, flush=True)
    ways = ("refused", "right", "said", "wrong")
    sums = sum(tally.values(), Counter())
    print_row("file", *ways, head=True)
    for kind, counts in (*sorted(tally.items()), ("**all**", sums)):
        print_row(kind, *(counts[way] for way in ways))
    sys.exit(bool(sums["wrong"]))
