"""A scenario of ASlib (Bischl et al., Artificial Intelligence 2016): a folder of YAML and ARFF."""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._files import make_folder, write_text
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import StrPath
    from numpy.typing import NDArray

_FOLDS = 10
_ROW = ("instance_id STRING", "repetition NUMERIC")
_TAKEN = ("instance_id", "repetition", "algorithm", "runstatus")  # columns beside those given


def write_scenario(
    folder: StrPath,
    name: str,
    measure: str,
    members: Sequence[Any],
    instances: Sequence[Any],
    values: NDArray[np.float64],
    is_known: NDArray[np.bool_],
    features: Mapping[str, Sequence[float]],
    *,
    maximize: bool,
) -> None:
    """Write values (instances, members, repeats); SettingError for names that ARFF cannot hold."""
    ids = [f"i{place}" for place in range(len(values))]
    columns = _checked(name, measure, features, len(ids))
    description = _description(name, measure, members, features, maximize=maximize)
    known = [
        (at, 1, *(repr(float(v[i])) if math.isfinite(v[i]) else "?" for v in columns.values()))
        for i, at in enumerate(ids)
    ]
    numeric = [f"{feature} NUMERIC" for feature in features]
    statuses = "{ok, timeout, memout, not_applicable, crash, other}"
    run = [*_ROW, "algorithm STRING", f"{measure} NUMERIC", f"runstatus {statuses}"]
    ended = np.where(is_known, "ok", "crash")
    runs = [
        (ids[i], r + 1, f"m{m}", float(values[i, m, r]), ended[i, m, r])
        for i, m, r in np.ndindex(values.shape)
    ]
    folds = [(at, 1, i % _FOLDS + 1) for i, at in enumerate(ids)]
    shown = [
        f"{at}: {' '.join(repr(one).splitlines())}" for at, one in zip(ids, instances, strict=True)
    ]
    texts = {
        "description.txt": json.dumps(description, indent=1) + "\n",  # which is YAML, too
        "algorithm_runs.arff": _arff(f"ALGORITHM_RUNS_{name}", run, runs),
        "feature_values.arff": _arff(f"FEATURE_VALUES_{name}", [*_ROW, *numeric], known),
        "feature_runstatus.arff": _arff(
            f"FEATURE_RUNSTATUS_{name}",
            [*_ROW, f"all {statuses.replace('not_applicable', 'presolved')}"],
            [(at, 1, "ok") for at in ids],
        ),
        "readme.txt": "\n".join([f"Instances of {name}, by their instance_id:", "", *shown]) + "\n",
        "cv.arff": _arff(f"CV_{name}", [*_ROW, "fold NUMERIC"], folds),
    }
    make_folder(folder)
    for file, text in texts.items():
        write_text(f"{folder}/{file}", text)


def _checked(name: Any, measure: Any, features: Any, n: int) -> dict[str, NDArray[np.float64]]:
    """Return the features as numbers; SettingError for words that ARFF cannot hold."""
    if not isinstance(features, Mapping):
        raise SettingError(f"features={reprlib.repr(features)}: give numbers by name")
    words: tuple[Any, ...] = (name, measure, *features)
    for word in words:
        if not isinstance(word, str) or not re.fullmatch(r"[\w.-]+", word):
            raise SettingError(f"{word!r}: give letters, digits, '_', '.' and '-' alone")
    for column in words[1:]:
        if column.lower() in _TAKEN:
            raise SettingError(f"{column!r}: ASlib has a column of that name: give another one")
    return {word: _numbers(word, column, n) for word, column in features.items()}


def _description(
    name: str, measure: str, members: Sequence[Any], features: Iterable[str], *, maximize: bool
) -> dict[str, Any]:
    """Return what `description.txt` holds."""
    return {
        "scenario_id": name,
        "performance_measures": [measure],
        "maximize": [maximize],
        "performance_type": ["solution_quality"],
        **dict.fromkeys(("algorithm_cutoff_time", "algorithm_cutoff_memory"), "?"),
        **dict.fromkeys(("features_cutoff_time", "features_cutoff_memory"), "?"),
        "features_deterministic": list(features),
        "features_stochastic": [],
        "number_of_feature_steps": 1,
        "default_steps": ["all"],
        "feature_steps": {"all": {"provides": list(features)}},
        "metainfo_algorithms": {
            f"m{place}": {"configuration": repr(config), "deterministic": False}
            for place, config in enumerate(members)
        },
    }


def _numbers(word: str, column: Any, n: int) -> NDArray[np.float64]:
    """Return a feature as n numbers."""
    try:
        found = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n,):
        raise SettingError(f"feature {word!r}: give {n} numbers, one per instance")
    return found


def _arff(relation: str, attributes: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = [f"@RELATION {relation}", "", *(f"@ATTRIBUTE {line}" for line in attributes)]
    lines = [*head, "", "@DATA", *(",".join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"
