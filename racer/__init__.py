"""Racing and algorithm configuration.

>>> import racer
>>> def evaluate(config, instance, seed):
...     return config + seed % 7
>>> result = racer.race([1, 2, 3], evaluate, budget=60, seed=1)
>>> result.best
1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from racer import deciders as deciders
    from racer import plots as plots
    from racer import simulate as simulate
    from racer import space as space
    from racer import stats as stats
    from racer import tuner as tuner
    from racer.comparison.compare import compare as compare
    from racer.comparison.result import Comparison as Comparison
    from racer.core.arguments import Instances as Instances
    from racer.core.budget import Budget as Budget
    from racer.core.events import BlockCompleted as BlockCompleted
    from racer.core.events import Elimination as Elimination
    from racer.core.events import Ended as Ended
    from racer.core.events import RaceEnded as RaceEnded
    from racer.core.objective import Constrained as Constrained
    from racer.core.objective import Metric as Metric
    from racer.core.objective import Pareto as Pareto
    from racer.core.objective import Within as Within
    from racer.core.runtime import Runtime as Runtime
    from racer.errors import BudgetError as BudgetError
    from racer.errors import CandidateError as CandidateError
    from racer.errors import MissingExtraError as MissingExtraError
    from racer.errors import ObjectiveError as ObjectiveError
    from racer.errors import RaceInterrupted as RaceInterrupted
    from racer.errors import RacerError as RacerError
    from racer.errors import RacerWarning as RacerWarning
    from racer.errors import RaceStateError as RaceStateError
    from racer.errors import ScoresError as ScoresError
    from racer.errors import SettingError as SettingError
    from racer.errors import SpaceFileError as SpaceFileError
    from racer.errors import StoreError as StoreError
    from racer.evaluate.batches import Batched as Batched
    from racer.evaluate.command.command import Command as Command
    from racer.evaluate.fidelity import Fidelity as Fidelity
    from racer.evaluate.limits.limits import Limits as Limits
    from racer.evaluate.outcome import Cell as Cell
    from racer.evaluate.outcome import Outcome as Outcome
    from racer.evaluate.pace import Throttled as Throttled
    from racer.evaluate.workers import Workers as Workers
    from racer.racing.race import Race as Race
    from racer.results.ablation import AblationResult as AblationResult
    from racer.results.bench import BenchResult as BenchResult
    from racer.results.duel import DuelResult as DuelResult
    from racer.results.gate import GateResult as GateResult
    from racer.results.race import RaceResult as RaceResult
    from racer.results.tuning import TuneResult as TuneResult
    from racer.run.ablation import ablation as ablation
    from racer.run.bench import bench as bench
    from racer.run.calls import race as race
    from racer.run.calls import tune as tune
    from racer.run.duel import duel as duel
    from racer.run.resume import resume as resume
    from racer.scenario.gate import gate as gate
    from racer.scenario.score_files import read_scores as read_scores
    from racer.simulate.plan import plan as plan
    from racer.space.expressions import Param as Param
    from racer.space.numeric import Integer as Integer
    from racer.space.numeric import Real as Real
    from racer.space.parameters import Categorical as Categorical
    from racer.space.parameters import Ordinal as Ordinal
    from racer.space.space import Space as Space
    from racer.store.load import load as load
    from racer.tuner.plan import Search as Search
    from racer.tuner.tuner import Tuner as Tuner

    __version__: str

_HOME = {
    "AblationResult": "racer.results.ablation",
    "Batched": "racer.evaluate.batches",
    "BenchResult": "racer.results.bench",
    "BlockCompleted": "racer.core.events",
    "Budget": "racer.core.budget",
    "BudgetError": "racer.errors",
    "CandidateError": "racer.errors",
    "Categorical": "racer.space.parameters",
    "Cell": "racer.evaluate.outcome",
    "Command": "racer.evaluate.command.command",
    "Comparison": "racer.comparison.result",
    "Constrained": "racer.core.objective",
    "DuelResult": "racer.results.duel",
    "Elimination": "racer.core.events",
    "Ended": "racer.core.events",
    "Fidelity": "racer.evaluate.fidelity",
    "GateResult": "racer.results.gate",
    "Instances": "racer.core.arguments",
    "Integer": "racer.space.numeric",
    "Limits": "racer.evaluate.limits.limits",
    "Metric": "racer.core.objective",
    "MissingExtraError": "racer.errors",
    "ObjectiveError": "racer.errors",
    "Ordinal": "racer.space.parameters",
    "Outcome": "racer.evaluate.outcome",
    "Param": "racer.space.expressions",
    "Pareto": "racer.core.objective",
    "Race": "racer.racing.race",
    "RaceEnded": "racer.core.events",
    "RaceInterrupted": "racer.errors",
    "RaceResult": "racer.results.race",
    "RaceStateError": "racer.errors",
    "RacerError": "racer.errors",
    "RacerWarning": "racer.errors",
    "Real": "racer.space.numeric",
    "Runtime": "racer.core.runtime",
    "ScoresError": "racer.errors",
    "SettingError": "racer.errors",
    "Search": "racer.tuner.plan",
    "Space": "racer.space.space",
    "SpaceFileError": "racer.errors",
    "StoreError": "racer.errors",
    "Throttled": "racer.evaluate.pace",
    "TuneResult": "racer.results.tuning",
    "Tuner": "racer.tuner.tuner",
    "Within": "racer.core.objective",
    "Workers": "racer.evaluate.workers",
    "ablation": "racer.run.ablation",
    "bench": "racer.run.bench",
    "compare": "racer.comparison.compare",
    "duel": "racer.run.duel",
    "gate": "racer.scenario.gate",
    "load": "racer.store.load",
    "plan": "racer.simulate.plan",
    "race": "racer.run.calls",
    "read_scores": "racer.scenario.score_files",
    "resume": "racer.run.resume",
    "tune": "racer.run.calls",
}
_ROOMS = ("deciders", "plots", "simulate", "space", "stats", "tuner")

__all__ = sorted([*_HOME, *_ROOMS])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: `import racer` itself loads nothing heavy."""
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"racer.{name}")
    elif name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        value = version("racer-tuning")
    else:
        raise AttributeError(f"module 'racer' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
