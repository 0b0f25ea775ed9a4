"""Runs of optimisers as IOHprofiler and COCO record them: folders of .info and .dat files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import read_json
from racer._files import as_path, read_bytes
from racer.errors import ScoresError
from racer.stats import expected_running_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed import StrPath
    from numpy.typing import NDArray

__all__ = ["Trajectories", "read_trajectories"]

_SETTING = re.compile(r"""(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")
_RUN = re.compile(r"(\d+):(\d+)")  # instance and evaluations; "|" and the best value follow
_OF_RUN = ["function", "dimension", "instance", "repetition"]


class _Run(NamedTuple):
    """One run: after which evaluations its best value changed, and to what."""

    algorithm: str
    function: int
    dimension: int
    instance: int
    repetition: int
    used: int
    evaluations: NDArray[np.float64]
    best: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Runs of optimisers, from `racer.read_trajectories`: tables of fixed target or fixed budget.

    Rows of the tables are runs (function, dimension, instance, repetition), columns algorithms; NaN
    is a run that an algorithm does not have.

    Attributes
    ----------
    algorithms : tuple of str
    maximize : bool
        Larger values are better.
    """

    algorithms: tuple[str, ...]
    maximize: bool
    _runs: tuple[_Run, ...]

    def hits(self, target: float) -> pd.DataFrame:
        """Return the evaluations until a target, inf where it was not reached.

        For ``racer.compare(hits, "plackett-luce")`` or `racer.stats.plackett_luce`.
        """
        return self._table(lambda run: self._hit(run, target))

    def values(self, budget: float) -> pd.DataFrame:
        """Return the best value within a budget of evaluations; of a run that ended before, its last."""

        def best(run: _Run) -> float:
            within = run.best[run.evaluations <= budget]
            return float(within[-1]) if len(within) else np.nan

        return self._table(best)

    def expected_running_times(self, target: float) -> pd.DataFrame:
        """Return `racer.stats.expected_running_time` per function and dimension."""
        hits, used = self.hits(target), self._table(lambda run: run.used)
        groups = hits.groupby(level=["function", "dimension"])
        rows = {key: expected_running_time(part, used.loc[part.index]) for key, part in groups}
        index = pd.MultiIndex.from_tuples(list(rows), names=["function", "dimension"])
        return pd.DataFrame(list(rows.values()), index=index, columns=list(self.algorithms))

    def _hit(self, run: _Run, target: float) -> float:
        reached = run.best >= target if self.maximize else run.best <= target
        return float(run.evaluations[reached.argmax()]) if reached.any() else np.inf

    def _table(self, of: Callable[[_Run], float]) -> pd.DataFrame:
        rows = [{**run._asdict(), "value": of(run)} for run in self._runs]
        long = pd.DataFrame(rows).set_index([*_OF_RUN, "algorithm"])["value"]
        table = long.unstack()  # noqa: PD010 (nothing is averaged)
        return table[list(self.algorithms)].rename_axis(columns=None)


def read_trajectories(*folders: StrPath) -> Trajectories:
    """Read runs of optimisers in the text formats of IOHprofiler and of COCO.

    Parameters
    ----------
    *folders : path-like
        Folders with .info files (of IOHprofiler as text or, since version 0.3.3, as JSON), in any
        depth, and the .dat files that they name. COCO's values are distances to the optimum.

    Returns
    -------
    Trajectories

    Raises
    ------
    ScoresError
        No .info file; one that is not of these formats; a .dat file with other runs than it names;
        or some functions are maximised and some minimised.
    OSError
        A file cannot be read.

    References
    ----------
    Doerr, Wang, Ye, van Rijn, Baeck: IOHprofiler (2018); Hansen, Auger, Ros, Mersmann, Tusar,
    Brockhoff: COCO (Optimization Methods and Software 2021).
    """
    infos = [
        info
        for number, folder in enumerate(folders)
        for info in sorted(Path(as_path(folder, f"folders[{number}]", "folder")).rglob("*.info"))
    ]
    if not infos:
        raise ScoresError(f"no .info file in {', '.join(map(str, folders)) or 'no folder'}")
    runs: list[_Run] = []
    directions: dict[bool, Path] = {}
    counts: dict[tuple[Any, ...], int] = {}
    for info in infos:
        text = read_bytes(info).decode("utf-8", "replace")
        for head, data, listed in _of_json(text) if text.lstrip()[:1] == "{" else _of_text(text):
            try:
                maximize = str(head.get("maximization", head.get("suite") == "PBO"))[:1] in "T1t"
                key = str(head["algId"]), int(head["funcId"]), int(head["DIM"])
            except (KeyError, TypeError, ValueError) as error:
                raise ScoresError(
                    f"{info} is no .info file of IOHprofiler or COCO: {error}"
                ) from None
            directions.setdefault(maximize, info)
            found = list(_paths(_beside(info, data), maximize=maximize))
            if len(found) != len(listed):
                raise ScoresError(f"{data} has {len(found)} runs, {info} lists {len(listed)}")
            for (instance, used), path in zip(listed, found, strict=True):
                repetition = counts[*key, instance] = counts.get((*key, instance), 0) + 1
                runs.append(_Run(*key, instance, repetition, used, *path))
    if len(directions) > 1:
        raise ScoresError(f"{directions[True]} is maximised, {directions[False]} minimised")
    return Trajectories(
        tuple(dict.fromkeys(run.algorithm for run in runs)), next(iter(directions)), tuple(runs)
    )


def _of_text(text: str) -> Iterator[tuple[dict[str, Any], str, list[tuple[int, int]]]]:
    """Yield head, .dat file, and instance and evaluations of each run: lines of IOHprofiler and COCO."""
    head: dict[str, Any] = {}
    for line in text.splitlines():
        if "funcId" in line:
            head = {name: next(filter(None, value), "") for name, *value in _SETTING.findall(line)}
        elif line.strip() and not line.lstrip().startswith("%"):
            data, _, listed = line.partition(",")
            yield head, data.strip(), [(int(i), int(n)) for i, n in _RUN.findall(listed)]


def _of_json(text: str) -> Iterator[tuple[dict[str, Any], str, list[tuple[int, int]]]]:
    """Yield the same of IOHprofiler's JSON."""
    try:
        given = read_json(text)
        head = {"algId": given["algorithm"]["name"], "funcId": given["function_id"]}
        head |= {"maximization": given["maximization"]}
        for part in given["scenarios"]:
            listed = [(int(run["instance"]), int(run["evals"])) for run in part["runs"]]
            yield {**head, "DIM": part["dimension"]}, part["path"], listed
    except (KeyError, TypeError, ValueError) as error:
        raise ScoresError(f"an .info file is not IOHprofiler's JSON: {error!r}") from None


def _beside(info: Path, data: str) -> Path:
    """Return the path of a .dat file, which must be in the folder of its .info file."""
    path = info.parent / data.replace("\\", "/")
    if not path.resolve().is_relative_to(info.parent.resolve()):
        raise ScoresError(f"{info} names a file outside of its folder: {data!r}")
    return path


def _paths(
    data: Path, *, maximize: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield evaluations and best values of each run of a .dat file, which begins with a head line."""
    column, rows = 0, None
    lines: Iterable[str] = read_bytes(data).decode("utf-8", "replace").splitlines()
    best = np.maximum if maximize else np.minimum
    for line in [*lines, "%"]:
        if not line.strip():
            continue
        if line[0] not in "0123456789+-":
            if rows is not None:
                t, values = np.array(rows, dtype=np.float64).reshape(-1, 2).T
                yield t, best.accumulate(values)
            names = re.findall(r'"([^"]*)"', line) or re.split(
                r"\|" if line[0] == "%" else " ", line
            )
            named = [name.strip(" %").lower().startswith("best") for name in names]
            column, rows = named.index(True) if any(named) else 1, []
            continue
        try:
            cells = line.split()
            rows.append((float(cells[0]), float(cells[column])))
        except (AttributeError, IndexError, ValueError):
            raise ScoresError(f"{data} is no .dat file of IOHprofiler or COCO: {line!r}") from None
