"""Racing in Hydra: with `hydra/sweeper: racer` a multirun is a race, or a tuning.

The wheel puts this file where Hydra finds plug-ins. It is imported in each run of any Hydra
program of the environment: so nothing heavy is imported before there is a sweep.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.sweeper import Sweeper
from omegaconf import OmegaConf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hydra.core.override_parser.types import Override

_SETTINGS = {
    "_target_": "hydra_plugins.racer_sweeper.RacerSweeper",
    "params": None,  # what is swept over, beside the command line: {lr: "interval(1e-4, 1)"}
    "instances": None,  # overrides that a configuration is to be good at: {fold: "range(10)"}
    "seed_key": None,  # the override that gets the seed of a block
    "budget": None,  # jobs in all; null: no race, each combination once on each instance
    "store": None,  # a folder for what finished jobs return: the same command goes on
    "max_batch_size": None,  # jobs that the launcher gets at a time
    "maximize": False,
    "first_test": 5,
    **dict.fromkeys(("decider", "metrics", "seed", "deterministic")),
}
ConfigStore.instance().store("racer", _SETTINGS, group="hydra/sweeper", provider="racer-tuning")


class RacerSweeper(Sweeper):  # type: ignore[misc]  # Hydra has no types here
    """Race all combinations if the budget pays for the first test of each; otherwise tune.

    `rules` are the settings of `racer.Race` and `racer.Tuner`.
    """

    def __init__(
        self,
        params: Mapping[str, Any] | None,
        instances: Mapping[str, Any] | None,
        seed_key: str | None,
        budget: int | None,
        max_batch_size: int | None,
        store: str | None = None,
        **rules: Any,
    ) -> None:
        self._params, self._instances, self._seed_key = params or {}, instances or {}, seed_key
        self._budget, self._size = budget, max_batch_size
        plain: Any = OmegaConf.to_container(OmegaConf.create(rules), resolve=True)
        self._rules = {name: value for name, value in plain.items() if value is not None}
        self._store = store
        self._kept: Any = None  # the finished jobs, if there is a store
        self._n_asked, self._returns = 0, list[Any]()

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Make the launcher."""
        self.hydra_context, self.config = hydra_context, config
        if self._store is not None:
            from racer.integrations.hydra_sweeps import KeptJobs  # noqa: PLC0415

            self._kept = KeptJobs(self._store, self._rules)
            task_function = self._kept.keeping(task_function)
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Run all jobs; write the best configuration; return the jobs, batch by batch."""
        from racer.integrations import hydra_sweeps as sweeps  # noqa: PLC0415

        if self._size is not None and self._size < 1:
            raise HydraException(f"max_batch_size={self._size}: give a whole number >= 1")
        overrides = self._parsed(self._params, *arguments)
        swept = {key: o for key, o in overrides.items() if o.is_sweep_override()}
        sweeps.check_settings(self._instances, self._seed_key, self._budget)
        instances = self._parsed(self._instances)
        seeds = self._parsed({self._seed_key: 0}) if self._seed_key else {}
        sweeps.check_keys(overrides, instances, seeds)
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        places = [_job({}, place) for place in sweeps.grid(instances)]
        if self._budget is None:
            jobs = [_job(overrides, config) + on for config in sweeps.grid(swept) for on in places]
            for job in self._launched(jobs):
                _ = job.return_value  # raises what a job has raised
            return self._returns
        contest = sweeps.contest_of(
            swept, places if instances else None, budget=self._budget, **self._rules
        )
        result = self._raced(overrides, contest)
        logging.getLogger(__name__).info("%s", result)
        best = None if result.best_index is None else result.mean(result.best_index)
        found = {"name": "racer", "best_params": result.best, "best_value": best}
        OmegaConf.save(OmegaConf.create(found), folder / "optimization_results.yaml")
        return self._returns

    def _parsed(self, params: Mapping[str, Any], *arguments: str) -> dict[str, Override]:
        """Return overrides by key; the last one of a key counts."""
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        given = {key: "null" if value is None else value for key, value in params.items()}
        lines = [*(f"{key}={value}" for key, value in given.items()), *arguments]
        return {o.get_key_element(): o for o in parser.parse_overrides(lines)}

    def _raced(self, overrides: Mapping[str, Override], contest: Any) -> Any:
        """Launch the cells that a contest asks for, until it is over; return its result."""
        from dataclasses import replace  # noqa: PLC0415

        from racer.evaluate.attempt import judged  # noqa: PLC0415

        while cells := contest.ask():
            jobs = [_job(overrides, cell.config) + (cell.instance or []) for cell in cells]
            if self._seed_key:
                jobs = [
                    [*j, f"{self._seed_key}={c.seed}"] for j, c in zip(jobs, cells, strict=True)
                ]
            for cell, job in zip(cells, self._launched(jobs), strict=True):
                outcome = judged(lambda *_, job=job: job.return_value, cell)
                contest.tell(cell, replace(outcome, seconds=0.0))  # Hydra tells no time of jobs
        return contest.result()

    def _launched(self, jobs: list[list[str]]) -> Iterator[Any]:
        """Launch jobs in batches, and yield their return values."""
        for start in range(0, len(jobs), self._size or len(jobs)):
            batch, first = jobs[start:][: self._size], self._n_asked
            self._n_asked += len(batch)
            launch = self._launch if self._kept is None else self._kept.launched(self._launch)
            yield from launch(batch, first)

    def _launch(self, batch: list[list[str]], first: int) -> Any:
        if not self._returns:  # before anything is run; it takes as long as to begin the jobs
            self.validate_batch_is_legal(batch)
        self._returns.append(self.launcher.launch(batch, initial_job_idx=first))
        return self._returns[-1]


def _job(overrides: Mapping[str, Override], config: Mapping[str, Any]) -> list[str]:
    """Return the overrides of a job, in the order in which they were given."""
    lines = {key: override.input_line for key, override in overrides.items()}
    return [*(lines | {key: f"{key}={value}" for key, value in config.items()}).values()]
