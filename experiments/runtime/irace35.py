"""Debian's irace 3.5 with adaptive capping, on the problem of `minisat`: run outside CI."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from experiments.programs.tables import HERE as PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_RUNNER = """#!/bin/bash
# Arguments: configuration, instance number, seed, instance, bound, options. Prints cost and time:
# CPU milliseconds (irace takes whole bounds only), at most the bound. Wall time may be much more.
seed=$3 instance=$4 bound=$5
shift 5
TIMEFORMAT="%U %S"
wall=$(awk "BEGIN {print $bound / 100}")
{ time timeout -s KILL "$wall" minisat -verb=0 -rnd-seed="$seed" "$@" "$instance" > /dev/null 2>&1; } 2>&1 |
  awk -v bound="$bound" '{t = 1000 * ($1 + $2)} END {if (t > bound) t = bound; print t, t}'
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
    folder: Path, train: Sequence[str], seconds: float, seed: int, limit: float
) -> dict[str, str]:
    """Tune in a folder, and return the best configuration as text."""
    folder.mkdir()
    shutil.copy(PROGRAMS / "minisat" / "parameters.txt", folder)
    (folder / "train.txt").write_text("\n".join(train) + "\n")
    (folder / "tune.R").write_text(_SCRIPT)
    (folder / "runner").write_text(_RUNNER)
    (folder / "runner").chmod(0o755)
    command = ["Rscript", "tune.R", str(round(1000 * seconds)), str(seed), str(round(1000 * limit))]
    with (folder / "log.txt").open("w") as log:
        subprocess.run(command, cwd=folder, check=True, stdout=log, stderr=log)  # noqa: S603
    lines = (folder / "best.txt").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)
