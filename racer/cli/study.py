"""A store written as an Optuna study: a journal in which each candidate is a trial."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from racer.cli.answer import written_or_refused
from racer.errors import MissingExtraError, SettingError
from racer.results.tuning import TuneResult
from racer.space.space import Space

if TYPE_CHECKING:
    from pathlib import Path

    from optuna.distributions import BaseDistribution

    from racer.core.table import Table
    from racer.results.race import RaceResult

_Direction = Literal["minimize", "maximize"]


def write_study(result: RaceResult | TuneResult, path: Path, name: str) -> None:
    """Write candidates as trials of a study into a new file; ClickException if it is there."""
    try:
        import optuna  # noqa: PLC0415  (an extra)
        from optuna.storages import JournalStorage, journal  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "Optuna is not installed: pip install 'racer-tuning[optuna]'"
        ) from error
    if not path.parent.is_dir():
        raise click.ClickException(f"{path} cannot be written: there is no folder {path.parent}")
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    unshared: Any = _Unshared()
    goals = _goals(result)
    try:
        with written_or_refused(path, is_new=True) as part:
            study = optuna.create_study(
                storage=JournalStorage(journal.JournalFileBackend(part, unshared)),
                study_name=name,
                directions=[direction for direction, _ in goals.values()],
            )
            if len(goals) > 1:
                with warnings.catch_warnings():  # it is called experimental
                    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                    study.set_metric_names(list(goals))
            distributions = _distributions(result)
            gone = {drop["candidate"]: drop for drop in result.eliminations.to_dict("records")}
            for candidate in range(len(result.configs)):
                means = [table.mean(candidate) for _, table in goals.values()]
                study.add_trial(
                    _trial(result, candidate, means, distributions, gone.get(candidate))
                )
    finally:
        optuna.logging.set_verbosity(before)


def _goals(result: RaceResult | TuneResult) -> dict[str, tuple[_Direction, Table]]:
    """Return direction and table of the value, or of each metric of a front."""
    aim, words = result.rules.aim, get_args(_Direction)
    if aim is None or not result.rules.is_front:
        return {"value": (words[result.rules.maximize], result.known)}
    tables = aim.tables(result.known)
    return {n: (words[aim.metrics[n].sign < 0], tables[n]) for n in aim.deciding}


class _Unshared:
    """The lock of a journal that nobody else writes to yet; Optuna's own is a file beside it."""

    def acquire(self) -> bool:
        """Take it."""
        return True

    def release(self) -> None:
        """Let it go."""


def _trial(
    result: RaceResult | TuneResult,
    candidate: int,
    means: list[float | None],
    distributions: dict[str, BaseDistribution],
    gone: Any,
) -> Any:
    from optuna.trial import TrialState, create_trial  # noqa: PLC0415

    is_front = result.rules.is_front
    known_means = [mean for mean in means if mean is not None]
    has_failed = len(known_means) < len(means)
    stays = candidate in result.leaders
    state = TrialState.COMPLETE if stays else TrialState.PRUNED
    known = result.known.of(candidate)
    config = result.config(candidate)
    params = {n: _kept(v) for n, v in config.items()} if isinstance(config, dict) else {}
    attrs: dict[str, Any] = {"candidate": candidate, "blocks": len(known)}
    if not isinstance(config, dict):
        attrs["config"] = repr(config)
    if is_front:
        attrs["P(front)"] = result.probability_front[candidate]
    elif stays:
        attrs["P(best)"] = result.probability_best[candidate]
    if gone is not None:
        attrs["eliminated"] = "{reason}, against #{against}, after block {block}".format(**gone)
    if isinstance(result, TuneResult):
        attrs["race"] = result.origins[candidate].race
    return create_trial(
        state=TrialState.FAIL if has_failed else state,
        values=None if has_failed else known_means,
        params=params,
        distributions={name: distributions[name] for name in params},
        intermediate_values={}
        if is_front
        else {b: o.value for b, o in known.items() if o.value is not None},
        user_attrs=attrs,
    )


def _kept(value: Any) -> Any:
    """Return a value that Optuna keeps as it is, and any other as text."""
    # Optuna has parameters as floats, which hold whole numbers up to 2**53
    is_kept = isinstance(value, str | None) or (
        math.isfinite(value)
        if isinstance(value, float)
        else isinstance(value, int) and abs(value) <= 2**53
    )
    return value if is_kept else repr(value)


def _distributions(result: RaceResult | TuneResult) -> dict[str, BaseDistribution]:
    """Return a distribution per parameter: of the space, else over the values that occur."""
    found: dict[str, BaseDistribution] = {}
    for name, parameter in (
        result.space.parameters.items() if isinstance(result, TuneResult) else ()
    ):
        if parameter.scale == "numeric":
            with suppress(SettingError):  # bounds depend on others, or it is not racer's own
                found[name] = Space({name: parameter}).to_optuna()[name]
    seen: dict[str, list[Any]] = {}
    for config in result.configs:
        for name, value in config.items() if isinstance(config, dict) else ():
            seen.setdefault(name, []).append(_kept(value))
    return {**{name: _over(values) for name, values in seen.items()}, **found}


def _over(values: list[Any]) -> BaseDistribution:
    """Return a distribution of the values that occur."""
    from optuna import distributions as over  # noqa: PLC0415

    if all(type(value) is int for value in values):
        return over.IntDistribution(min(values), max(values))
    if all(type(value) in {int, float} for value in values):
        return over.FloatDistribution(float(min(values)), float(max(values)))
    return over.CategoricalDistribution(list(dict.fromkeys(values)))
