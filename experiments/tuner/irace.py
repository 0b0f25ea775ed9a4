"""Debian's irace 3.5 on a problem: R asks over a socket, and Python evaluates."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer import Categorical, Integer, Real

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from experiments.tuner.problem import Problem
    from racer import Space

__all__ = ["tuned"]

DIGITS = 8
_SCRIPT = """
suppressMessages(library(irace))
args <- commandArgs(trailingOnly = TRUE)
talk <- socketConnection("127.0.0.1", as.integer(args[2]), open = "r+", blocking = TRUE, timeout = 3600)
runner <- function(experiment, scenario) {
  row <- as.list(experiment$configuration)
  row <- row[!is.na(row)]
  values <- vapply(row, function(v) format(v, digits = 15), "")
  writeLines(paste(c(experiment$id.instance, experiment$seed, paste(names(row), values, sep = "=")),
                   collapse = "\\t"), talk)
  list(cost = as.numeric(readLines(talk, 1)))
}
parameters <- readParameters(args[1], digits = 8)
n <- as.integer(args[3])
scenario <- list(targetRunner = runner, instances = seq_len(n), maxExperiments = as.integer(args[4]),
                 seed = as.integer(args[5]), digits = 8, logFile = "", debugLevel = 0,
                 deterministic = as.logical(args[6]))
found <- irace(scenario = checkScenario(scenario), parameters = parameters)
best <- as.list(removeConfigurationsMetaData(found[1, , drop = FALSE]))
best <- best[!is.na(best)]
values <- vapply(best, function(v) format(v, digits = 15), "")
writeLines(paste(c("best", 0, paste(names(best), values, sep = "=")), collapse = "\\t"), talk)
close(talk)
"""


def _name(name: str) -> str:
    return "p_" + name.replace("-", "_")


def _written(space: Space) -> str:
    """Return the space as irace's parameter file; conditions are of the form {name: values}."""
    lines = []
    for name, parameter in space.parameters.items():
        kind, domain = "c", ""
        if isinstance(parameter, Categorical):
            domain = ", ".join(f'"{i}"' for i in range(len(parameter.choices)))
        elif isinstance(parameter, Real | Integer):
            kind = ("r" if isinstance(parameter, Real) else "i") + (",log" if parameter.log else "")
            domain = f"{parameter.low:.8g}, {parameter.high:.8g}"
        condition = space.conditions.get(name)
        clause = "" if condition is None else f" | {_condition(space, condition.to_json())}"
        lines.append(f'{_name(name)} "" {kind} ({domain}){clause}')
    return "\n".join(lines) + "\n"


def _choices(space: Space, name: str) -> list[Any]:
    parameter = space.parameters[name]
    if not isinstance(parameter, Categorical):
        raise TypeError(f"{name} is not categorical")
    return list(parameter.choices)


def _condition(space: Space, written: Any) -> str:
    """Return name %in% c(..) of a stored condition on one choice."""
    kind, what, value = written
    name = what["param"]
    choices = _choices(space, name)
    among = value if kind == "in" else [value]
    places = ", ".join(f'"{choices.index(v)}"' for v in among)
    return f"{_name(name)} %in% c({places})"


def _read(space: Space, fields: list[str]) -> dict[str, Any]:
    given = dict(field.split("=") for field in fields)
    config: dict[str, Any] = {}
    for name, parameter in space.parameters.items():
        text = given.get(_name(name))
        if text is None:
            continue
        if isinstance(parameter, Categorical):
            config[name] = list(parameter.choices)[int(text)]
        elif isinstance(parameter, Integer):
            config[name] = int(text)
        elif isinstance(parameter, Real):
            config[name] = min(max(float(text), parameter.low), parameter.high)
    return space.check(config)


def _lines(talk: Any) -> Iterator[str]:
    """Yield what R writes, until it stops or dies."""
    with suppress(ConnectionError):
        yield from talk


def tuned(problem: Problem, budget: int, seed: int) -> Mapping[str, Any]:
    """Return what irace returns first."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        (Path(folder) / "parameters.txt").write_text(_written(problem.space))
        (Path(folder) / "run.R").write_text(_SCRIPT)
        port = server.getsockname()[1]
        n, same = problem.tuning, str(problem.deterministic).upper()
        words = ["parameters.txt", port, n, budget, 1 + seed, same]
        log = (Path(folder) / "log").open("w+")
        process = subprocess.Popen(  # noqa: S603
            ["Rscript", "run.R", *map(str, words)],  # noqa: S607
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        server.settimeout(60)
        talk, _ = server.accept()
        with talk, talk.makefile("rw") as lines, log:
            for line in _lines(lines):
                first, given, *fields = line.rstrip("\n").split("\t")
                config = _read(problem.space, fields)
                if first == "best":
                    process.wait()
                    return config
                try:
                    value = problem(config, int(first) - 1, int(given))
                except ArithmeticError:
                    value = math.inf
                lines.write(("Inf" if math.isinf(value) else json.dumps(float(value))) + "\n")
                lines.flush()
            process.wait()
            log.seek(0)
            raise RuntimeError(log.read()[-2000:])
