"""What a store holds, as a result: nothing is run, imported or written."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from racer.errors import RacerError, SettingError, StoreError
from racer.racing.ablation import Ablation
from racer.racing.race import Race
from racer.racing.rules import Rules
from racer.space.space import Space
from racer.space.stored import not_kept
from racer.store.jsonable import decode, is_plain
from racer.store.reader import open_to_read, sense_made_of
from racer.store.recorder import Recorder
from racer.store.replay import Untold, replay
from racer.store.schema import query
from racer.store.setup import proposals_of, rebuilt
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from os import PathLike

    from racer.racing.contest import Contest
    from racer.racing.result import RaceResult
    from racer.store.reader import Reader
    from racer.store.schema import Setup
    from racer.tuner.result import TuneResult

__all__ = ["Recorded", "load", "load_record"]


class Recorded(NamedTuple):
    """A result, and the settings of the race, those decoded that JSON can hold."""

    result: RaceResult | TuneResult
    settings: dict[str, Any]


def load(store: str | PathLike[str]) -> RaceResult | TuneResult:
    """Return the result of a race or a tuning from its store, without running anything.

    The race is made again from what is recorded, and its verdicts are compared with the recorded
    ones. The file is only read, and may be in use; of a race that has not come to its end, the
    result has `ended` "interrupted".

    Parameters
    ----------
    store : str or path-like
        The file that `racer.race(.., store=)` or `racer.tune(.., store=)` was given.

    Returns
    -------
    RaceResult or TuneResult
        Candidates that JSON cannot hold are replaced by their numbers.

    Raises
    ------
    StoreError
        No race there, a damaged one, or one that cannot be made again from the file alone: with a
        decider, a repair hook or parameters that are not racer's own.

    Examples
    --------
    >>> import racer, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/run.db"
    ...     first = racer.race(range(5), lambda x, *_: x, budget=60, seed=1, store=path)
    ...     racer.load(path).best == first.best
    True
    """
    return load_record(store).result


def load_record(store: str | PathLike[str]) -> Recorded:
    """Return what `load` does, and the recorded settings."""
    given: Any = store
    if not isinstance(given, str | os.PathLike):
        raise SettingError(f"store={store!r}: give the path of a file")
    with open_to_read(os.fspath(store)) as reader, sense_made_of(reader.path):
        reader.check_schema()
        setup = reader.setup()
        if (why := why_not_replayed(setup)) is not None:
            raise StoreError(
                f"store {reader.path!r}: {why}, so that it cannot be loaded from the file alone: "
                f"use {reader.how_to_resume()}"
            )
        settings = seen_settings(reader, setup)
        result, _ = replayed(reader, setup, settings)
        names = ("racer", "evaluate", "command", "retries", "timeout", "memory")
        how = {name: settings[name] for name in names if name in settings}
        outcomes = query("outcomes", reader.version)
        workers = reader.rows(f"SELECT DISTINCT worker FROM ({outcomes})")  # noqa: S608
        how |= {"workers": len(workers) or None, "store": reader.path}
    return Recorded(replace(result, how=how), settings)


def why_not_replayed(setup: Setup) -> str | None:
    """Say what the file cannot hold that its verdicts depend on, None if nothing."""
    if not is_plain(setup.settings["decider"]):
        return "its decider is not one of racer's own"
    if not is_plain(setup.settings.get("runtime")):
        return "the function of its utility is not in the file"
    written = setup.settings.get("space")
    if isinstance(written, dict) and written.get("repair"):
        return "its repair is not in the file"
    missing = not_kept(written)
    return None if missing is None else f"its space has {missing}"


def seen_settings(reader: Reader, setup: Setup) -> dict[str, Any]:
    """Return the settings as they were given, what JSON cannot hold as it is described."""
    return {
        name: rebuilt(reader.path, name, value) if is_plain(value) else value
        for name, value in setup.settings.items()
    }


def replayed(
    reader: Reader, setup: Setup, settings: dict[str, Any]
) -> tuple[RaceResult | TuneResult, Contest]:
    """Return the result of what is recorded, and its contest; StoreError if it is not sound."""
    recorder = Recorder(_forget)
    try:
        contest = _made(reader, setup, settings)
        recorder.expect(reader, setup)
        contest.watch(recorder)
        untold = replay(contest, reader, recorder)
    except StoreError:
        raise
    except (RacerError, TypeError) as error:
        reader.damaged(f"no race can be made of its settings ({error})")
    if reader.ending() is not None and contest.ended is None:
        reader.damaged("it has an ending, but the race of its outcomes goes on")
    return replace(contest.result(), unused=Untold.of(contest, untold).unused()), contest


def _made(reader: Reader, setup: Setup, settings: dict[str, Any]) -> Contest:
    """Return the contest that the settings make; what is only described has a number instead."""
    names = [*(field.name for field in fields(Rules)), "initial", "elites", "instance_order"]
    given = {name: settings[name] for name in names if name in settings}
    instances = None if setup.instances is None else _values(reader, "instances", setup.instances)
    if "ablation" in settings:
        return _ablation(settings["ablation"], instances, given)
    if "space" not in settings:
        return Race(_values(reader, "candidates", setup.candidates), instances, **given)
    tests = _values(reader, "test_instances", setup.settings["test_instances"]) or None
    space = Space.from_json(settings["space"])
    tuner = Tuner(space, instances, test_instances=tests, **given)
    if not tuner.go_on_as(proposals_of(setup)):
        sampled = [decode(json.loads(row.value)) for row in reader.sampled()]
        tuner.sample_as_recorded(sampled, proposals_of(setup))
    return tuner


def _ablation(ends: dict[str, Any], instances: list[Any] | None, given: dict[str, Any]) -> Ablation:
    space = Space.from_json(ends["space"])
    return Ablation(space, ends["source"], ends["target"], instances, ends["seeds"], **given)


def _values(reader: Reader, name: str, encoded: list[Any]) -> list[Any]:
    """Return candidates or instances as they were given, or their numbers."""
    return rebuilt(reader.path, name, encoded) if is_plain(encoded) else list(range(len(encoded)))


def _forget(verdict: object) -> None:
    """Record nothing: this does not write."""
