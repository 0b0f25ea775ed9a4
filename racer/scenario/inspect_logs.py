"""Logs of inspect_ai as scores."""

from __future__ import annotations

import json
import math
import reprlib
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._checks import is_real
from racer.direction import larger_is_better
from racer.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partially, incorrect, no answer


class Row(NamedTuple):
    """A score as a file has it."""

    algorithm: str | tuple[str, ...]  # a name, or of promptfoo prompt, provider and column
    item: str | None  # what the record says of its item; None if nothing but its place
    instance: str
    score: float
    larger: bool | None  # is better, as the file says
    metric: str | None = None  # the name of the score


def log_of(path: Path) -> dict[str, Any]:
    """Return what an .eval file, a zip of JSON, has of the task and of its samples."""
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
            head = "header.json" if "header.json" in names else "_journal/start.json"
            samples = [name for name in names if name.startswith("samples/")]
            return dict(json.loads(file.read(head))) | {
                "samples": [json.loads(file.read(name)) for name in samples]
            }
    except NotImplementedError:  # Zstandard, of recent versions
        return _read_by_inspect_ai(path)
    except OSError as error:
        raise ScoresError(f"{path} cannot be read: {error.strerror}") from None
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ScoresError(f"{path} is no log of inspect_ai: {error}") from None


def _read_by_inspect_ai(path: Path) -> dict[str, Any]:
    try:
        from inspect_ai.log import read_eval_log  # noqa: PLC0415  (optional)
    except ImportError:
        raise ScoresError(
            f"{path} is packed as inspect_ai alone reads it: pip install inspect_ai, or write it as "
            "JSON, inspect log convert LOG --to json --output-dir FOLDER"
        ) from None
    return dict(read_eval_log(str(path)).model_dump(mode="json"))


def of_inspect(path: Path, log: dict[str, Any], score: str | None) -> Iterator[Row]:
    """Yield one score of the samples of a log; a sample without one is a missing score."""
    samples = log.get("samples") or []
    scorers = [*dict.fromkeys(name for sample in samples for name in sample.get("scores") or {})]
    chosen = [name for name in scorers if score in {None, name}]
    if len(chosen) != 1:
        what = (
            "several scorers" if chosen else "no scores of items" if not score else "no such score"
        )
        raise ScoresError(f"{path}: {what} ({', '.join(scorers)}): name one, score=..")
    larger = larger_is_better(score or "") is not False
    for sample in samples:
        found = (sample.get("scores") or {}).get(chosen[0])
        name, where = str(sample["id"]), f"{path}, sample {sample['id']}"
        value = math.nan if found is None else found["value"]
        value = _GRADES.get(value, value) if isinstance(value, str) else value
        # a number may be of its place: then the input has to be the same, too
        item = [name] if isinstance(sample["id"], str) else [name, sample.get("input")]
        number = number_of(value, chosen[0], where)
        yield Row(str(log["eval"]["model"]), json.dumps(item), name, number, larger)


def number_of(value: Any, name: str, where: str) -> float:
    """Return a score; ScoresError if it is no number."""
    if isinstance(value, bool) or is_real(value):
        return float(value)
    raise ScoresError(f"{where}: {name} is {reprlib.repr(value)}, not a number")
