"""The files of `racer init` and `racer import-irace`: a first scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SCENARIO = """\
# The scenario of `racer tune` in this folder; `racer check-scenario` tries it. Paths are relative to
# this file. Each setting is an option as well: see `racer tune --help`.

space = "parameters.txt"      # the parameters
instances = "instances"       # a folder, all of whose files are taken; or a file, all of whose lines
held_out = "held-out"         # other ones: the best is compared on these with the default
default = "default.txt"       # the configuration in use now, which is to be beaten
command = ["./runner.py", "{instance}", "{seed}", "{parameters}"]  # prints the cost
budget = 400                  # evaluations
seed = 1                      # repeats the run

# initial = "initial.txt"     # more configurations to begin with: a table, NA for absent
# n_jobs = -1                 # evaluations at a time; -1: one for each core
# timeout = 60                # seconds that an evaluation may take
# runtime = {limit = 60}      # the cost is run time; with reads = "nothing" it is measured
# deterministic = true        # the program ignores its seed
# decider = "f-race"          # what eliminates configurations
# protocol = "irace"          # for target runners of irace; also aclib, paramils, smac
# evaluate = "module:function"  # instead of command: evaluate(config, instance, seed) -> float
"""

_PARAMETERS = """\
# name       switch            type   values                 | condition
algorithm    "--algorithm "    c      (annealing, sampling)
steps        "--steps "        i,log  (10, 300)
temperature  "--temperature "  r,log  (0.01, 10)             | algorithm == "annealing"
width        "--width "        r      (0.01, 2)              | algorithm == "annealing"
"""

_DEFAULT = """\
# The configuration in use now: a header, and its values; NA where there is none.
algorithm  steps  temperature  width
annealing  50     1.0          1.0
"""

_PYTHON = '''\
#!/usr/bin/env python3
"""Run the program once, and print its cost. This is an example: replace it by yours."""

import argparse
import math
import pathlib
import random

parser = argparse.ArgumentParser()
parser.add_argument("instance")
parser.add_argument("seed", type=int)
parser.add_argument("--algorithm", required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--temperature", type=float)
parser.add_argument("--width", type=float)
given = parser.parse_args()

centre = [float(word) for word in pathlib.Path(given.instance).read_text().split()]
rng = random.Random(given.seed)


def cost(point):  # Rastrigin's function
    moved = [x - c for x, c in zip(point, centre)]
    return sum(10 + x * x - 10 * math.cos(2 * math.pi * x) for x in moved)


def anywhere():
    return [rng.uniform(-5, 5) for _ in centre]


here = anywhere()
best = cost(here)
for step in range(1, given.steps):
    if given.algorithm == "sampling":
        best = min(best, cost(anywhere()))
        continue
    there = [x + rng.gauss(0, given.width) for x in here]
    worse = cost(there) - cost(here)
    if worse < 0 or rng.random() < math.exp(-worse * step / given.steps / given.temperature):
        here = there
    best = min(best, cost(here))
print(best)
'''

_HELD_OUT = ("1.5 0.5 -1.0", "-2.0 3.0 0.5", "4.0 -1.5 2.5", "0.0 -4.0 -2.0", "-3.0 -0.5 3.5")
_CENTRES = ("0.5 -1.0 2.0", "3.0 1.5 -2.5", "-4.0 0.0 1.0", "2.0 2.0 -3.0", "1.0 -3.5 4.0")

SKELETON: Mapping[str, str] = {
    "scenario.toml": _SCENARIO,
    "parameters.txt": _PARAMETERS,
    "default.txt": _DEFAULT,
    "runner.py": _PYTHON,
    **{f"instances/{number}.txt": f"{at}\n" for number, at in enumerate(_CENTRES, start=1)},
    **{f"held-out/{number}.txt": f"{at}\n" for number, at in enumerate(_HELD_OUT, start=1)},
}
"""Files by name; those that begin with #! are programs."""


def as_toml(settings: Mapping[str, Any], notes: Sequence[str], source: str) -> str:
    """Return settings as the text of a scenario.toml, with notes as comments."""
    lines = [f"# Made of {source} by racer import-irace."]
    lines += [f"# {note}" for note in notes]
    lines += ["", *(f"{name} = {_toml_value(value)}" for name, value in settings.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {_toml_value(item)}' for name, item in value.items())}}}"
    # in text, JSON's escapes are TOML's, except for DEL
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
