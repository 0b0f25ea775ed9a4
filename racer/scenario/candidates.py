"""Files of given candidates: a JSON list of objects, or CSV with a column for each parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from racer._checks import read_json, repeated
from racer._files import read_bytes
from racer.errors import CandidateError, warn
from racer.scenario.csv_files import csv_lines


def read_candidates(path: str) -> list[dict[str, Any]]:
    """Return the configurations in a file; CandidateError if it has none.

    Warns RacerWarning of a first column without a name, as a table written with its index has.
    """
    if Path(path).suffix != ".json":
        return _from_csv(path)
    try:
        configs = read_json(read_bytes(path))
    except (OSError, ValueError, RecursionError) as error:
        raise CandidateError(f"{path} cannot be read: {error}") from None
    if not isinstance(configs, list) or not all(isinstance(config, dict) for config in configs):
        raise CandidateError(f"{path} is not a list of objects, one for each candidate")
    return configs


def _from_csv(path: str) -> list[dict[str, Any]]:
    names, *rows = csv_lines(Path(path))
    if names[0] == "":
        warn(f"{path}: the first column has no name and is no parameter: left out")
        names, *rows = (line[1:] for line in (names, *rows))
    if again := repeated(names):
        raise CandidateError(f"{path}: the column {again[0]!r} is there twice")
    configs = [
        {name: text.strip() for name, text in zip(names, row, strict=True) if text.strip()}
        for row in rows
    ]
    if any("" in config for config in configs):
        raise CandidateError(f"{path}: a column with values has no name: give it one")
    return configs
