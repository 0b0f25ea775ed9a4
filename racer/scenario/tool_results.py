"""Results of promptfoo, logs of inspect_ai, samples of lm_eval: the scores of their records."""

from __future__ import annotations

import json
import math
import re
import reprlib
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._checks import is_real
from racer.direction import larger_is_better
from racer.errors import ScoresError
from racer.scenario.csv_files import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Record = dict[str, Any]

SAMPLES = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl")  # task, time
_SAMPLE = {"doc_id", "filter", "metrics"}  # what lm_eval writes of each
_RESULT = {"promptIdx", "testIdx"}  # of promptfoo
_OLD_SAMPLE = {"doc_id", "resps", "filtered_resps"}  # of lm_eval before 0.4.8
_LOG = {"eval", "plan", "samples"}  # of inspect_ai
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # its: correct, partially, incorrect, no answer
_TYPES: dict[str, Any] = {  # of what is read in records; None may stand for an object
    "promptIdx": int,
    "testIdx": int,
    "prompt": dict,
    "provider": dict,
    "vars": dict,
    "testCase": dict,
    "namedScores": dict,
    "doc_id": int | str,
    "filter": str,
    "metrics": list,
}


class Row(NamedTuple):
    """A score as a file has it."""

    algorithm: str | tuple[str, ...]  # a name, or of promptfoo prompt, provider and column
    item: str | None  # what the record says of its item; None if nothing but its place
    instance: str
    score: float
    larger: bool | None  # is better, as the file or the score's name says


def is_of_tool(records: list[Record]) -> bool:
    """Return whether promptfoo or lm_eval has written these records."""
    keys = records[0].keys() if records else set()
    return keys >= _SAMPLE or keys >= _RESULT


def content_of(path: Path) -> list[Record] | Record:
    """Return the records in a file of JSON, or the log of inspect_ai."""
    document = _log_in(path) if path.suffix == ".eval" else _document(path)
    if isinstance(document, dict) and document.keys() >= _LOG:
        return document
    return _results(path, document)


def rows_of(path: Path, content: list[Record] | Record, score: str | None) -> Iterator[Row]:
    """Return the scores that a tool has written."""
    if isinstance(content, dict):
        return _of_inspect_ai(path, content, score)
    of_kind = _of_lm_eval if content[0].keys() >= _SAMPLE else _of_promptfoo
    return of_kind(path, content, score)


def _results(path: Path, document: Any) -> list[Record]:
    """Return the results of promptfoo, or other records, in a JSON document."""
    means = ({"results", "versions"}, {"n-samples", "higher_is_better"})
    if isinstance(document, dict) and any(keys <= document.keys() for keys in means):
        raise ScoresError(
            f"{path} has the means of lm_eval only, not the scores of items: run it with "
            "--log_samples, and give the folder"
        )
    results = document
    if isinstance(document, dict):
        results = document.get("results")
        results = results.get("results") if isinstance(results, dict) else None
    is_list = isinstance(results, list) and all(isinstance(one, dict) for one in results)
    records = _objects(results, path) if is_list else []
    if not records or (results is not document and not records[0].keys() >= _RESULT):
        raise ScoresError(
            f"{path} is neither output of promptfoo eval -o nor a list of records: give CSV, or "
            '[{"instance": .., "algorithm": .., "score": ..}, ..], with a record for each score'
        )
    return records


def _of_inspect_ai(path: Path, log: Record, score: str | None) -> Iterator[Row]:
    """Yield one score of the samples of a log; a sample without one is a missing score."""
    try:
        model = str(log["eval"]["model"])
        samples = [(one["id"], one.get("input"), one.get("scores") or {}) for one in log["samples"]]
        known = {name: name for *_, scores in samples for name in scores}
        scorer = _chosen(path, known, score)
        values = [
            scores[scorer]["value"] if scorer in scores else math.nan for *_, scores in samples
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise ScoresError(f"{path} is no log of inspect_ai: {error!r}") from None
    larger = larger_is_better(score or "") is not False
    for (name, given, _), value in zip(samples, values, strict=True):
        # a number may be of its place: then the input has to be the same, too
        item = [name] if isinstance(name, str) else [name, given]
        graded = _GRADES.get(value, value) if isinstance(value, str) else value
        number = _number(graded, scorer, f"{path}, sample {name}")
        yield Row(model, json.dumps(item), str(name), number, larger)


def _log_in(path: Path) -> Record:
    """Return the task's head and the samples of an .eval file, a zip of JSON."""
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


def _read_by_inspect_ai(path: Path) -> Record:
    try:
        from inspect_ai.log import read_eval_log  # noqa: PLC0415  (optional)
    except ImportError:
        raise ScoresError(
            f"{path} is packed as inspect_ai alone reads it: pip install inspect_ai, or write it as "
            "JSON, inspect log convert LOG --to json --output-dir FOLDER"
        ) from None
    return dict(read_eval_log(str(path)).model_dump(mode="json"))


def _chosen(path: Path, known: dict[str, Any], score: str | None) -> Any:
    """Return the score that is meant, by name: the only one, or its name without the filter's."""
    chosen = [one for name, one in known.items() if score in {None, name, name.split(",")[0]}]
    if len(chosen) != 1:
        raise ScoresError(
            f"{path}: {f'no metric {score!r}' if not chosen else 'several metrics'} among "
            f"{', '.join(known)}: name one, score=.."
        )
    return chosen[0]


def _of_promptfoo(path: Path, records: list[Record], score: str | None) -> Iterator[Row]:
    """Yield promptfoo's scores: of prompts and providers on tests, which are known by their vars."""
    who: dict[int, tuple[str, str]] = {}
    for record in records:
        prompt, provider = record.get("prompt") or {}, record.get("provider") or {}
        label = str(prompt.get("label") or prompt.get("raw") or "?")
        by = str(provider.get("label") or provider.get("id") or "?")
        who[record["promptIdx"]] = label, by
    twice = {column for column in who.values() if [*who.values()].count(column) > 1}
    larger = larger_is_better(score or "") is not False
    for record in sorted(records, key=lambda record: (record["testIdx"], record["promptIdx"])):
        never_came = record.get("failureReason") == 2
        found = (record.get("namedScores") or {}).get(score) if score else record.get("score")
        if found is None and score:  # asserted in some tests only
            continue
        where = f"{path}, test {record['testIdx']}"
        column, index = who[record["promptIdx"]], record["promptIdx"]
        more = f" (column {index})" if column in twice else ""
        number = math.nan if never_came else _number(found, "score", where)
        yield Row((*column, more), _test_of(record), str(record["testIdx"]), number, larger)


def _test_of(record: Record) -> str | None:
    """Return a test's identity in a record, by its vars or else its case; None without either."""
    test = record.get("testCase") or {}
    given = record.get("vars") or test.get("vars") or {}
    said: Record = {k: v for k, v in given.items() if not k.startswith("_") and k != "sessionId"}
    said = said or {k: test[k] for k in ("description", "assert") if test.get(k)}
    return json.dumps(said, sort_keys=True) if said else None


def short_names(labels: set[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return names of prompts with providers, without any part that all have in common."""
    if not labels:
        return {}
    prompts, providers, _ = (set(part) for part in zip(*labels, strict=True))
    names: dict[tuple[str, ...], str] = {}
    for prompt, provider, more in labels:
        both = f"[{provider}] {prompt}" if len(providers) > 1 else prompt
        name = provider if len(prompts) == 1 < len(providers) else both
        names[prompt, provider, more] = name + more
    return names


def task_of(path: Path) -> str:
    """Return the task of a file of samples."""
    match = SAMPLES.fullmatch(path.name)
    return match[1] if match else path.stem.removeprefix("samples_")


def _of_lm_eval(path: Path, records: list[Record], score: str | None) -> Iterator[Row]:
    """Yield one metric of the samples of a task."""
    known: dict[str, tuple[str, str]] = {}  # metric and filter by both their names
    for record in records:
        for metric in record.get("metrics", ()):
            known[f"{metric},{record['filter']}"] = (metric, record["filter"])
    metric, by = _chosen(path, known, score)
    model, task = path.absolute().parent.name, task_of(path)
    larger = _said_of(path, task, metric)
    for record in records:
        if record["filter"] == by:
            name = f"{task}/{record['doc_id']}"
            number = _number(record.get(metric), metric, f"{path}, doc_id {record['doc_id']}")
            doc = record.get("doc_hash") or record.get("doc")
            item = f"{task}/{json.dumps(doc, sort_keys=True)}" if doc else None
            yield Row(model, item, name, number, larger)


def _said_of(path: Path, task: str, metric: str) -> bool | None:
    """Return whether larger is better, by the results of lm_eval beside samples, or the name."""
    for results in sorted(path.parent.glob("results*.json"), reverse=True):
        document = _parsed(text_of(results), str(results))
        said = document.get("higher_is_better") if isinstance(document, dict) else None
        of_task = said.get(task) if isinstance(said, dict) else None
        larger = of_task.get(metric) if isinstance(of_task, dict) else None
        if isinstance(larger, bool):
            return larger
    return larger_is_better(metric)


def _number(value: Any, name: str, where: str) -> float:
    """Return a score; ScoresError if it is not a number."""
    if isinstance(value, bool) or is_real(value):
        return float(value)
    raise ScoresError(f"{where}: {name} is {reprlib.repr(value)}, not a number")


def _document(path: Path) -> Any:
    """Return the JSON of a file, or the values of one with a value on each line."""
    text = text_of(path)
    if path.suffix == ".json" or text.lstrip().startswith("["):  # of old versions of lm_eval
        return _parsed(text, str(path))
    lines = enumerate(text.split("\n"), start=1)  # U+2028 may be within a string
    return [_parsed(line, f"{path}, line {n}") for n, line in lines if line.strip()]


def _objects(records: list[Record], path: Path) -> list[Record]:
    """Return records that are all of one kind, of old versions as of new ones."""
    for record in records:
        if record.keys() >= _OLD_SAMPLE and "metrics" not in record:
            metrics = [n for n, v in record.items() if n != "doc_id" and (is_real(v) or v is True)]
            record |= {"filter": "none", "metrics": metrics}
    first = records[0].keys() if records else set()
    needed = first & (_SAMPLE | _RESULT)
    for number, record in enumerate(records, start=1):
        if not needed <= record.keys():
            raise ScoresError(f"{path}, record {number} is not like the first one")
        if needed:
            _check_types(record, f"{path}, record {number}")
    return records


def _check_types(record: Record, where: str) -> None:
    """Raise ScoresError for a value that no writer of such records gives."""
    for name, kind in _TYPES.items():
        value = record.get(name)
        is_missing = value is None and (kind is dict or name not in record)
        if not is_missing and not isinstance(value, kind):
            raise ScoresError(f"{where}: {name} is {reprlib.repr(value)}, of another type")
    if not all(isinstance(metric, str) for metric in record.get("metrics", ())):
        raise ScoresError(f"{where}: metrics are {reprlib.repr(record['metrics'])}, not names")


def _parsed(text: str, where: str) -> Any:
    """Return parsed JSON; ScoresError with the place where it is invalid."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ScoresError(f"{where} is not JSON: {error}") from None
    except RecursionError:
        raise ScoresError(f"{where} is nested too deeply") from None
