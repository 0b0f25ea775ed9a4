"""Runs of optimisers as IOHprofiler and COCO record them: folders of .info and .dat files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from racer._checks import read_json
from racer._files import as_path, read_bytes
from racer.errors import ScoresError
from racer.stats import expected_running_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import StrPath

__all__ = ["Trajectories", "read_trajectories"]

_SETTING = re.compile(r"""(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")
_RUN = re.compile(r"(\d+):(\d+)")  # instance and evaluations; "|" and the best value follow
_HEAD = re.compile(r"^(?![-+\d])(\S.*)\n?", re.MULTILINE)  # of a run in a .dat file
_OF_RUN = ["function", "dimension", "instance", "repetition"]


@dataclass(frozen=True, eq=False)
class Trajectories:
    r"""Runs of optimisers, from `racer.read_trajectories`: tables of fixed target or fixed budget.

    Rows of the tables are runs (function, dimension, instance, repetition), columns algorithms; NaN
    is a run that an algorithm does not have.

    Attributes
    ----------
    algorithms : tuple of str
    maximize : bool
        Larger values are better.

    Examples
    --------
    >>> import pathlib, racer, tempfile
    >>> info = "suite = 'PBO', funcId = 1, DIM = 16, maximization = 'T', algId = 'EA'"
    >>> runs = "evaluations best\n1 5\n4 7\n", "evaluations best\n1 4\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder)
    ...     _ = (place / "f1.info").write_text(f"{info}\n%\na.dat, 1:10|7, 1:20|4")
    ...     _ = (place / "a.dat").write_text("".join(runs))
    ...     runs = racer.read_trajectories(folder)
    >>> runs.hits(6)["EA"].tolist(), runs.expected_running_times(6)["EA"].tolist()
    ([4.0, inf], [24.0])
    """

    algorithms: tuple[str, ...]
    maximize: bool
    _used: pd.Series[Any]  # evaluations, by run and algorithm
    _steps: pd.DataFrame  # after which evaluations the best value changed, and to what

    def hits(self, target: float) -> pd.DataFrame:
        """Return the evaluations until a target, inf where it was not reached.

        For ``racer.compare(hits, "plackett-luce")`` or `racer.stats.plackett_luce`.
        """
        best = self._steps["best"]
        reached = self._steps[best >= target if self.maximize else best <= target]
        first = reached["evaluations"].groupby(level=self._used.index.names).first()
        return self._table(first.reindex(self._used.index, fill_value=np.inf))

    def values(self, budget: float) -> pd.DataFrame:
        """Return the best value within a budget of evaluations; of a run that ended before, its last."""
        within = self._steps[self._steps["evaluations"] <= budget]
        last = within["best"].groupby(level=self._used.index.names).last()
        return self._table(last.reindex(self._used.index))

    def expected_running_times(self, target: float) -> pd.DataFrame:
        """Return `racer.stats.expected_running_time` per function and dimension."""
        hits, used = self.hits(target), self._table(self._used)
        groups = hits.groupby(level=["function", "dimension"])
        rows = {key: expected_running_time(part, used.loc[part.index]) for key, part in groups}
        index = pd.MultiIndex.from_tuples(list(rows), names=["function", "dimension"])
        return pd.DataFrame(list(rows.values()), index=index, columns=list(self.algorithms))

    def _table(self, values: pd.Series[Any]) -> pd.DataFrame:
        table = values.unstack()  # noqa: PD010 (nothing is averaged)
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
        No .info file, or another format; a .dat file with other runs than its .info file lists;
        or some functions are maximised and some minimised.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import racer
    >>> racer.read_trajectories("no/such/folder")
    Traceback (most recent call last):
      ...
    racer.errors.ScoresError: no .info file in no/such/folder

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
    listed = [each for info in infos for each in _listed(info)]
    if not listed:
        raise ScoresError(f"no .info file in {', '.join(map(str, folders)) or 'no folder'}")
    directions = {maximize: data for _, maximize, data, _ in listed}
    if len(directions) > 1:
        raise ScoresError(f"{directions[True]} is maximised, {directions[False]} minimised")
    runs: list[tuple[Any, ...]] = []
    steps: list[pd.DataFrame] = []
    for names, maximize, data, of_data in listed:
        found = list(_paths(data, maximize=maximize))
        if len(found) != len(of_data):
            raise ScoresError(f"{data} has {len(found)} runs, its .info file lists {len(of_data)}")
        runs += [(*names, *run) for run in of_data]
        steps += found
    table = pd.DataFrame(runs, columns=["algorithm", *_OF_RUN[:3], "used"])
    table["repetition"] = table.groupby(["algorithm", *_OF_RUN[:3]]).cumcount() + 1
    used = table.set_index([*_OF_RUN, "algorithm"])["used"]
    return Trajectories(
        tuple(dict.fromkeys(table["algorithm"])),
        listed[0][1],
        used,
        pd.concat(dict(zip(used.index, steps, strict=True)), names=used.index.names),
    )


def _listed(info: Path) -> Iterator[tuple[tuple[str, int, int], bool, Path, list[tuple[int, int]]]]:
    """Yield the .dat files of an .info file, which must be in its folder.

    With algorithm, function and dimension; whether larger is better; and instance and evaluations of
    each run.
    """
    text = read_bytes(info).decode("utf-8", "replace")
    try:
        for head, name, runs in _of_json(text) if text.lstrip()[:1] == "{" else _of_text(text):
            maximize = str(head.get("maximization", head.get("suite") == "PBO"))[:1] in "T1t"
            data = info.parent / name.replace("\\", "/")
            # folders are downloaded: a name in one must not reach other files
            if not data.resolve().is_relative_to(info.parent.resolve()):
                raise ScoresError(f"{info} names a file outside of its folder: {name!r}")
            yield (str(head["algId"]), int(head["funcId"]), int(head["DIM"])), maximize, data, runs
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ScoresError):
            raise
        raise ScoresError(f"{info} is no .info file of IOHprofiler or COCO: {error!r}") from None


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
    """Yield the same as `_of_text`, from IOHprofiler's JSON."""
    given = read_json(text)
    head = {"algId": given["algorithm"]["name"], "funcId": given["function_id"]}
    head |= {"maximization": given["maximization"]}
    for part in given["scenarios"]:
        runs = [(int(run["instance"]), int(run["evals"])) for run in part["runs"]]
        yield {**head, "DIM": part["dimension"]}, part["path"], runs


def _paths(data: Path, *, maximize: bool) -> Iterator[pd.DataFrame]:
    """Yield evaluations and best values of each run of a .dat file, which begins with a head line."""
    _, *parts = _HEAD.split(read_bytes(data).decode("utf-8", "replace"))
    for head, body in zip(parts[::2], parts[1::2], strict=True):
        names = re.findall(r'"([^"]*)"', head) or re.split(r"\|" if head[0] == "%" else " ", head)
        named = [name.strip(" %").lower().startswith("best") for name in names]
        column = named.index(True) if any(named) else 1
        cells = [line.split() for line in body.splitlines() if line.strip()]
        try:
            steps = np.array([(row[0], row[column]) for row in cells], dtype=np.float64)
        except (IndexError, ValueError) as error:
            raise ScoresError(f"{data} is no .dat file of IOHprofiler or COCO: {error}") from None
        found = pd.DataFrame(steps.reshape(-1, 2), columns=["evaluations", "best"])
        found["best"] = found["best"].cummax() if maximize else found["best"].cummin()
        yield found
