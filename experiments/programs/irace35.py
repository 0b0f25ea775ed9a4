"""The command lines of irace 3.5 (Debian's r-cran-irace) and of racer, compared byte by byte."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path

import click

from racer import Cell, Command, Space
from racer.scenario.scenario import read_scenario
from racer.space.irace.table import written_configurations

IRACE = Path("/usr/lib/R/site-library/irace/bin/irace")
_PARAMETERS = """
algorithm "--"      c      (as, mmas, acs)
alpha     "--alpha "  r    (0.00, 5.00)
rho       "--rho="  r,log  (0.0001, 1)
big       "-b "     r      (0, 100000000)
ants      "--ants  " i,log (1, 100000)
q0        "-q "     r      (0.0, 1.0)  | algorithm == "acs"
level     "--level " o     (low, "mid", high)
words     ""        c      ("--fast", "--slow", "-x 3")
"""
_RUNNER = """#!/bin/sh
for word in "$@"; do printf '%s\\037' "$word"; done >> {log}
echo >> {log}
echo $(($1 * 7 % 13))
"""
_INSTANCES = """a.txt --opt 3 "x y"
b.txt   # the second
"""
_SCENARIO = """
trainInstancesDir = "./inst"
trainInstancesFile = "instances.txt"
targetRunner = "./runner"
configurationsFile = "configurations.txt"
logFile = ""
digits = 4
seed = 3
firstTest = 2
nbIterations = 1
nbConfigurations = {n}
maxExperiments = {budget}
"""


def write(folder: Path, n: int) -> None:
    """Write a scenario with n configurations."""
    (folder / "inst").mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / "inst" / name).touch()
    (folder / "instances.txt").write_text(_INSTANCES)
    (folder / "parameters.txt").write_text(_PARAMETERS)
    (folder / "scenario.txt").write_text(_SCENARIO.format(n=n, budget=7 * n))
    (folder / "runner").write_text(_RUNNER.format(log=folder / "log"))
    (folder / "runner").chmod(0o755)
    space = Space.read_irace(folder / "parameters.txt")
    table = written_configurations(space.sample(n, seed=1), space.parameters)
    (folder / "configurations.txt").write_text(table)


def recorded(folder: Path, n: int) -> list[list[str]]:
    """Return what irace's runner got for the first n configurations, in the order of its calls."""
    subprocess.run(  # noqa: S603
        [str(IRACE), "--scenario", "scenario.txt"],
        cwd=folder,
        check=False,
        stdout=subprocess.DEVNULL,
    )
    lines = [line.split("\037")[:-1] for line in (folder / "log").read_text().splitlines()]
    return [line for line in lines if int(line[0]) <= n]


def ours(folder: Path, calls: list[list[str]]) -> list[list[str]]:
    """Return racer's command lines for the same configurations, instances and seeds."""
    given = read_scenario(str(folder / "scenario.txt")).arguments()
    command, instances = given["evaluate"], given["instances"]
    if not isinstance(command, Command):
        raise TypeError(command)
    return [
        command.argv_of(
            Cell(
                0,
                int(number) - 1,
                given["initial"][int(number) - 1],
                instances[int(index) - 1],
                int(seed),
                instance_index=int(index) - 1,
            )
        )[1:]
        for number, index, seed, *_ in calls
    ]


@click.command()
@click.option("--configurations", "n", type=click.IntRange(1), default=200, show_default=True)
def main(n: int) -> None:
    """Compare the command lines of irace 3.5 with racer's; print the first that differs."""
    if not IRACE.exists():
        print(f"{IRACE} is missing: install Debian's r-cran-irace")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, n)
        calls = recorded(folder, n)
        mine = ours(folder, calls)
    different = [pair for pair in zip(calls, mine, strict=True) if pair[0] != pair[1]]
    tried = len({call[0] for call in calls})
    print(f"{len(calls)} calls of {tried} configurations by irace 3.5: {len(different)} differ")
    for one, other in different[:1]:
        print(f"irace: {shlex.join(one)}\nracer: {shlex.join(other)}")
