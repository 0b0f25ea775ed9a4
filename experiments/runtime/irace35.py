"""Debian's irace 3.5 with adaptive capping, on the problems of `solvers`: run outside CI.

Its runner hands each evaluation to the Python process through a pipe, which measures and stops it
as racer's own are; a run of Python for each would take longer than the solver.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# arguments: configuration, instance number, seed, instance, bound, options; prints cost and time
_RUNNER = """#!/bin/bash
shift 2
echo "$*" > asked
cat answered
"""
_SCRIPT = """
suppressMessages(library(irace))
args <- commandArgs(trailingOnly = TRUE)
parameters <- readParameters("parameters.txt", digits = 4)
scenario <- list(targetRunner = "./runner", instances = readLines("train.txt"), logFile = "",
                 maxTime = as.numeric(args[1]), seed = as.integer(args[2]), capping = TRUE,
                 boundMax = as.numeric(args[3]), boundPar = 10, digits = 4)
found <- irace(scenario = checkScenario(scenario), parameters = parameters)
best <- as.list(removeConfigurationsMetaData(found[1, , drop = FALSE]))
best <- best[!is.na(best)]
writeLines(paste(names(best), vapply(best, function(v) format(v, digits = 15), ""), sep = "="), "best.txt")
"""


def best_of(
    folder: Path,
    parameters: Path,
    train: Sequence[str],
    *,
    seconds: float,
    seed: int,
    limit: float,
    run: Callable[[list[str], str, int, float], float | None],
) -> dict[str, str]:
    """Tune in a folder, and return the best configuration as text.

    `run` solves with options an instance, with a seed and a bound in seconds, and returns the time
    that it took, or None if that failed. irace is told milliseconds, as its bounds are whole.
    """
    folder.mkdir()
    shutil.copy(parameters, folder / "parameters.txt")
    (folder / "train.txt").write_text("\n".join(train) + "\n")
    (folder / "tune.R").write_text(_SCRIPT)
    (folder / "runner").write_text(_RUNNER)
    (folder / "runner").chmod(0o755)
    for name in ("asked", "answered"):
        os.mkfifo(folder / name)
    numbers = f"{1000 * seconds:.0f} {seed} {1000 * limit:.0f}"
    # the line that it ends with is empty
    command = f"Rscript tune.R {numbers} > log.txt 2>&1; code=$?; echo > asked; exit $code"
    with subprocess.Popen(["bash", "-c", command], cwd=folder) as irace:  # noqa: S603, S607
        while words := (folder / "asked").read_text().split():
            its_seed, instance, bound, *options = words
            took = run(options, instance, int(its_seed), float(bound) / 1000.0)
            cost = "Inf 0" if took is None else f"{1000 * took} {1000 * took}"
            (folder / "answered").write_text(f"{cost}\n")
    if irace.returncode:
        raise RuntimeError(f"irace: {(folder / 'log.txt').read_text()[-2000:]}")
    lines = (folder / "best.txt").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)
