"""Cells evaluated in batches: submitted together, collected when they are ready."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from racer._checks import check_positive, whole
from racer._entry import as_user
from racer.errors import ObjectiveError, SettingError, warn
from racer.evaluate.attempt import judged
from racer.evaluate.executor import never

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from racer.evaluate.outcome import Cell, CellKey, Outcome

    Request = dict[str, Any]
    Requests = list[Request]

__all__ = ["Batched"]

_TRIES = 3  # batches in which a request was missing


@dataclass(frozen=True)
class Batched:
    """An objective that is evaluated in batches, as by a provider's batch endpoint or an array job.

    Give it to `racer.race` or `racer.tune` in place of `evaluate`. The result is the same as of
    calls one by one. With a store the handles of batches stand beside it, in ``STORE.batches``: a
    run that was killed goes on with the batches already sent, and none is sent twice.

    Parameters
    ----------
    submit : callable
        ``submit(requests) -> handle`` sends a batch; a request is a dict of id (text, for the
        provider's custom id), config, instance and seed. With a store the handle must be JSON.
    collect : callable
        ``collect(handle)`` returns None while the batch is not ready, then ``{id: value}``; a value
        is as `evaluate` would return it, or an exception. Missing ids are requested again, at most
        twice.
    size : int
        Requests of a batch at most. Blocks ahead fill a batch (`racer.Workers.ahead`).
    find : callable, optional
        ``find(requests) -> handle or None``: whether these were sent; asked after a kill within
        `submit`. Without it they are sent again, with a `RacerWarning`.
    poll : float > 0
        Seconds between two calls of `collect`.

    Raises
    ------
    SettingError
        A number out of range.

    Examples
    --------
    >>> import racer
    >>> sent = {}
    >>> def submit(requests):
    ...     sent["batch"] = {r["id"]: r["config"] + r["seed"] % 7 for r in requests}
    ...     return "batch"
    >>> evaluate = racer.Batched(submit, sent.get, size=30)
    >>> racer.race([1, 2, 3], evaluate, budget=60, seed=1).best
    1
    """

    submit: Callable[[Requests], Any]
    collect: Callable[[Any], Mapping[str, Any] | None]
    _: KW_ONLY
    size: int
    find: Callable[[Requests], Any] | None = None
    poll: float = 10.0
    journal: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        for name in ("submit", "collect", *([] if self.find is None else ["find"])):
            if not callable(one := getattr(self, name)):
                raise SettingError(f"{name}={one!r}: give a function")
        whole(self.size, "size", least=1)
        check_positive(self.poll, "poll")

    def beside(self, store: str | os.PathLike[str]) -> Batched:
        """Return the same with its handles beside a store."""
        found = replace(self)
        object.__setattr__(found, "journal", f"{os.fspath(store)}.batches")
        return found

    def __call__(self, config: Any, instance: Any, seed: int) -> Any:
        """Refuse to be called for one cell."""
        del config, instance, seed
        raise ObjectiveError("a Batched objective is for racer.race and racer.tune, without n_jobs")


class Batches:
    """Workers that send cells in batches.

    The journal has a line with the requests before a batch is sent, and one with its handle after.
    """

    takes_more = True

    def __init__(self, batched: Batched) -> None:
        self.capacity = batched.size
        self._batched = batched
        self._queue: deque[Cell] = deque()
        self._ready: deque[tuple[Cell, Outcome]] = deque()
        self._wanted: dict[CellKey, Cell] = {}  # which have been sent
        self._sent: dict[CellKey, str] = {}  # the batch of each cell
        self._open: dict[str, Any] = {}  # handles by batch
        self._begun: dict[str, Requests] = {}  # whose handle is not known
        self._values: dict[CellKey, Any] = {}  # of batches that were collected
        self._tries: dict[CellKey, int] = {}
        path = Path(batched.journal or "")
        for text in path.read_text("utf-8").splitlines() if path.is_file() else ():
            with suppress(ValueError):  # a line that was not finished
                self._recall(**json.loads(text))

    def _recall(self, batch: str, **line: Any) -> None:
        """Take in a line of the journal."""
        if "handle" in line:
            self._open[batch] = line["handle"]
            self._begun.pop(batch, None)
        else:
            self._begun[batch] = line["requests"]
            self._sent |= {tuple(key): batch for key in line["cells"]}

    def _write(self, **line: Any) -> None:
        if (path := self._batched.journal) is None:
            return
        try:
            text = json.dumps(line, default=str if "requests" in line else None)
        except TypeError as error:
            raise SettingError(
                f"the handle of a batch cannot be kept beside a store: {error}"
            ) from None
        with Path(path).open("a", encoding="utf-8") as file:
            # on a line of its own: one that was not finished spoils no other
            file.write(f"\n{text}\n")
            file.flush()
            os.fsync(file.fileno())

    def submit(self, cell: Cell) -> None:
        """Queue a cell, unless it was sent before."""
        if cell.key in self._sent:
            self._wanted[cell.key] = cell
        else:
            self._queue.append(cell)

    def withdraw(self, cell: Cell) -> bool:
        """Forget a cell that was not sent."""
        before = len(self._queue)
        self._queue = deque(one for one in self._queue if one.key != cell.key)
        return len(self._queue) < before

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Wait for an outcome; None if `stopping()` has become true meanwhile."""
        while not self._ready:
            self._settle()
            while self._queue:
                self._send()
            if self._ready:
                break
            if stopping():
                return None
            if not self._collected():
                time.sleep(self._batched.poll)
        return self._ready.popleft()

    def _settle(self) -> None:
        """Take the wanted cells whose batch is known to have a value, or to have been lost."""
        for key in [*self._wanted]:
            name = self._sent[key]
            if name in self._begun:
                self._recover(name)
            if key in self._values:
                cell, value = self._wanted.pop(key), self._values.pop(key)
                self._ready.append((cell, _outcome(cell, value)))
            elif self._sent.get(key) not in self._open:  # lost, or missing in it
                self._queue.append(self._wanted.pop(key))

    def _recover(self, name: str) -> None:
        """Find a batch whose sending was interrupted."""
        requests, find, handle = self._begun.pop(name), self._batched.find, None
        if find is None:
            warn(
                f"a batch of {len(requests)} may have been sent before the run was killed: it is sent again"
            )
        else:
            with as_user():
                handle = find(requests)
        if handle is not None:
            self._open[name] = handle
            self._write(batch=name, handle=handle)

    def _send(self) -> None:
        """Send a batch of the cells that wait."""
        cells = [self._queue.popleft() for _ in range(min(self.capacity, len(self._queue)))]
        name = uuid.uuid4().hex[:12]
        requests = [
            {"id": _id(name, c.key), "config": c.config, "instance": c.instance, "seed": c.seed}
            for c in cells
        ]
        self._write(batch=name, cells=[c.key for c in cells], requests=requests)
        with as_user():
            handle = self._batched.submit(requests)
        self._write(batch=name, handle=handle)
        self._open[name] = handle
        for cell in cells:
            self._sent[cell.key], self._wanted[cell.key] = name, cell

    def _collected(self) -> bool:
        """Collect the batches with wanted cells; return whether any was ready."""
        names = {self._sent[key] for key in self._wanted}
        found = False
        for name in [name for name in self._open if name in names]:
            with as_user():
                values = self._batched.collect(self._open[name])
            if values is None:
                continue
            if not isinstance(values, Mapping):
                raise ObjectiveError(
                    f"collect returned {type(values).__name__}: give {{id: value}}, or None"
                )
            found = True
            del self._open[name]
            for key in [key for key, batch in self._sent.items() if batch == name]:
                self._tries[key] = self._tries.get(key, 0) + 1
                if _id(name, key) in values:
                    self._values[key] = values[_id(name, key)]
                elif self._tries[key] >= _TRIES:
                    self._values[key] = KeyError(f"missing in {_TRIES} batches")
        return found

    def finish(self) -> list[Cell]:
        """Forget the cells; with a journal the batches that were sent are collected later."""
        self._queue.clear()
        self._wanted.clear()
        return []

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Yield nothing: batches that are open take long."""
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()


def _id(batch: str, key: CellKey) -> str:
    """Return the id of a request."""
    is_held_out, block, candidate, *_ = key
    return f"{batch}-{'test' if is_held_out else 'block'}-{block}-candidate-{candidate}"


def _outcome(cell: Cell, value: Any) -> Outcome:
    def answer(*_: Any) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    return replace(judged(answer, cell), seconds=0.0)  # those of a batch are not known by cell
