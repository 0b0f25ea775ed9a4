"""`racer export`: the contents of a store, for other tools."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer.cli.answer import FILE, FOLDER, json_of, reported, write_frames
from racer.errors import MissingExtraError, SettingError
from racer.results.ablation import AblationResult
from racer.results.tuning import TuneResult
from racer.space.space import Space

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

    from racer.results.race import RaceResult


@click.command(short_help="Write a store for other tools.")
@click.argument("store", type=click.Path())
@click.option(
    "--optuna",
    "study",
    type=FILE,
    help="Write an Optuna study into this file (a journal), for optuna-dashboard FILE.",
)
@click.option("--csv", type=FOLDER, help="Write all tables into this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export(store: str, *, study: Path | None, csv: Path | None, as_json: bool) -> None:
    """Write what STORE holds for other tools; it is only read.

    In an Optuna study each candidate is a trial: its mean is the value, its values on the blocks
    are intermediate values, and those that were eliminated are PRUNED.
    """
    from racer.store.load import load_record  # noqa: PLC0415  (a second)

    if study is None and csv is None and not as_json:
        raise click.UsageError("Say what to write: --optuna FILE, --csv FOLDER or --json.")
    with reported():
        result: Any = load_record(store).result
        if isinstance(result, AblationResult):
            raise click.ClickException(f"{store} holds an ablation: racer show --json prints it")
        if study is not None:
            write_study(result, study, Path(store).stem)
            click.echo(study, err=as_json)
        if csv is not None:
            write_frames(csv, result)
            click.echo(csv, err=as_json)
        if as_json:
            click.echo(json_of(result.to_dict()))


def write_study(result: RaceResult | TuneResult, path: Path, name: str) -> None:
    """Write candidates as trials of a study into a new file; ClickException if it is there."""
    try:
        import optuna  # noqa: PLC0415  (an extra)
        from optuna.storages import JournalStorage, journal  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "Optuna is not installed: pip install 'racer-tuning[optuna]'"
        ) from error
    if path.exists():
        raise click.ClickException(f"{path} is there already: give another name")
    if not path.parent.is_dir():
        raise click.ClickException(f"{path} cannot be written: there is no folder {path.parent}")
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(
            storage=JournalStorage(journal.JournalFileBackend(str(path))),
            study_name=name,
            direction="maximize" if result.rules.maximize else "minimize",
        )
        distributions = _distributions(result)
        gone = {drop["candidate"]: drop for drop in result.eliminations.to_dict("records")}
        for candidate in range(len(result.configs)):
            study.add_trial(_trial(result, candidate, distributions, gone.get(candidate)))
    finally:
        optuna.logging.set_verbosity(before)


def _trial(
    result: RaceResult | TuneResult,
    candidate: int,
    distributions: dict[str, BaseDistribution],
    gone: Any,
) -> Any:
    from optuna.trial import TrialState, create_trial  # noqa: PLC0415

    mean = result.mean(candidate)
    stays = candidate in result.survivors
    state = TrialState.COMPLETE if stays else TrialState.PRUNED
    known = result.known.of(candidate)
    config = result.config(candidate)
    params = {n: _kept(v) for n, v in config.items()} if isinstance(config, dict) else {}
    attrs: dict[str, Any] = {"candidate": candidate, "blocks": len(known)}
    if not isinstance(config, dict):
        attrs["config"] = repr(config)
    if stays:
        attrs["P(best)"] = result.probability_best[candidate]
    if gone is not None:
        attrs["eliminated"] = "{reason}, against #{against}, after block {0}".format(
            gone["block"] + 1, **gone
        )
    if isinstance(result, TuneResult):
        attrs["race"] = result.origins[candidate].race
    return create_trial(
        state=TrialState.FAIL if mean is None else state,
        value=mean,
        params=params,
        distributions={name: distributions[name] for name in params},
        intermediate_values={b: o.value for b, o in known.items() if o.value is not None},
        user_attrs=attrs,
    )


def _kept(value: Any) -> Any:
    """Return a value as Optuna keeps it: what is neither text nor a number is written out."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _distributions(result: RaceResult | TuneResult) -> dict[str, BaseDistribution]:
    """Return a distribution per parameter: of the space, else over what occurs."""
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
    """Return a distribution of what occurs."""
    from optuna import distributions as over  # noqa: PLC0415

    if all(type(value) is int for value in values):
        return over.IntDistribution(min(values), max(values))
    if all(type(value) in {int, float} for value in values):
        return over.FloatDistribution(float(min(values)), float(max(values)))
    return over.CategoricalDistribution(list(dict.fromkeys(values)))
