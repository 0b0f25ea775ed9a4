"""What a contributor adds is a line in one place."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

ADDED = {
    "deciders/coin.py": '''
from dataclasses import dataclass

import numpy as np

from racer.deciders.decider import Decider, Drop, Verdict


@dataclass(frozen=True)
class CoinRace(Decider):
    """Drop the last candidate at each test."""

    share: float = 0.5

    def start(self, setting):
        return None

    def decide(self, state, blocks):
        first, last = int(blocks.candidates[0]), int(blocks.candidates[-1])
        said = {"probability": self.share, "measure": "win-share"}
        dropped = () if first == last else (Drop(last, "inferior", against=first, **said),)
        return state, Verdict(dropped, first, np.arange(float(len(blocks.candidates))))
''',
    "space/even.py": '''
from dataclasses import dataclass

from racer.space.domains import Choices
from racer.space.parameters import Record


@dataclass(frozen=True, eq=False)
class Even(Record):
    """An even number below an end."""

    end: int
    scale = "numeric"

    def names(self):
        return frozenset()

    def checked(self, name):
        return self

    def domain(self, values):
        return Choices(tuple(range(0, self.end, 2)))

    def to_json(self):
        return {"end": self.end}
''',
}
LINES = {
    "deciders/registry.py": "from racer.deciders.coin import CoinRace as CoinRace\n",
    "space/registry.py": "from racer.space.even import Even as Even\n",
}
COLUMN = '    Column("half", "float64", "half the value", lambda e: e.outcome.value / 2),\n'
USER = """
import racer
from racer.space.even import Even

assert "coin" in racer.deciders.DECIDERS and "CoinRace" in racer.deciders.__all__
race = racer.race([3, 1, 2], lambda config, *_: config, decider="coin", budget=60, seed=1)
assert race.survivors == (0,), race.survivors
assert (race.scores["half"] == race.scores["value"] / 2).all()
space = racer.Space({"n": Even(20), "x": racer.Real(0, 1)})
found = racer.tune(space, lambda c, *_: c["n"] + c["x"], budget=200, seed=1, store="tuning.db")
again = racer.load("tuning.db")
assert again.best == found.best and again.best["n"] % 2 == 0
assert again.space == space
"""


def test_a_decider_a_parameter_and_a_column_are_a_line_each(tmp_path):
    package = tmp_path / "racer"
    # with compiled modules, except temporary files of a process that compiles one now
    shutil.copytree(ROOT / "racer", package, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name, code in ADDED.items():
        (package / name).write_text(code, encoding="utf-8")
    for name, line in LINES.items():
        with (package / name).open("a", encoding="utf-8") as file:
            file.write(line)
    scores = package / "results" / "scores.py"
    head, tail = scores.read_text(encoding="utf-8").split("COLUMNS = (\n")
    scores.write_text(f"{head}COLUMNS = (\n{COLUMN}{tail}", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", USER], cwd=tmp_path, env=environment, check=True)
