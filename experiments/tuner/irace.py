"""Debian's irace 3.5 (`apt-get install r-cran-irace`): R asks over a socket, and Python evaluates."""

from __future__ import annotations

import math
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer import Categorical, Integer, Real

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer import Space

__all__ = ["tuned"]

_SCRIPT = Path(__file__).with_name("irace.R")


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


def _condition(space: Space, written: Any) -> str:
    """Return name %in% c(..) of a stored condition on one choice."""
    kind, what, value = written
    parameter = space.parameters[what["param"]]
    if not isinstance(parameter, Categorical):
        raise TypeError(f"{what['param']} is not categorical")
    among = value if kind == "in" else [value]
    places = ", ".join(f'"{list(parameter.choices).index(v)}"' for v in among)
    return f"{_name(what['param'])} %in% c({places})"


def _read(space: Space, fields: list[str]) -> dict[str, Any]:
    """Return the configuration that R tells as name=value, inactive parameters left out."""
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


def tuned(
    space: Space, evaluate: Callable[[dict[str, Any], int, int, float], float], **settings: Any
) -> dict[str, Any]:
    """Return the configuration that irace returns first.

    Parameters
    ----------
    space : Space
    evaluate : callable
        Cost of a configuration, the number of an instance from 0 on, a seed and a bound of run time.
    **settings
        irace's own, as R writes them; `instances` is given as their number.
    """
    instances = f"seq_len({settings.pop('instances')})"
    written = ", ".join(
        f"{name} = {value}" for name, value in {"instances": instances, **settings}.items()
    )
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        script = (
            _SCRIPT.read_text()
            .replace("PORT", f"{server.getsockname()[1]}")
            .replace("SETTINGS", written)
        )
        (Path(folder) / "parameters.txt").write_text(_written(space))
        (Path(folder) / "run.R").write_text(script)
        log = (Path(folder) / "log").open("w+")
        process = subprocess.Popen(
            ["Rscript", "run.R"],  # noqa: S607
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        server.settimeout(60)
        talk, _ = server.accept()
        with talk, talk.makefile("rw") as lines, log, suppress(ConnectionError):
            for line in lines:
                first, seed, bound, *fields = line.rstrip("\n").split("\t")
                config = _read(space, fields)
                if first == "best":
                    process.wait()
                    return config
                try:
                    value = evaluate(config, int(first) - 1, int(seed), float(bound))
                except ArithmeticError:
                    value = math.inf
                lines.write(("Inf" if math.isinf(value) else repr(float(value))) + "\n")
                lines.flush()
        process.wait()
        raise RuntimeError((Path(folder) / "log").read_text()[-2000:])
