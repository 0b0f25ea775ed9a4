"""The suite: classes on which settings of the tuner were chosen, and those kept for the report.

Worlds that fail are a part of their own. The division was written down before anything was measured on a class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.tuner import algorithms, failing, models, pipelines, synthetic
from experiments.tuner.problem import ProblemClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.tuner.problem import Draw, Half

__all__ = ["CHOSEN", "REPORTED", "SUITE"]

CHOSEN = {
    "sphere": synthetic.sphere,
    "rastrigin": synthetic.rastrigin,
    "scales": synthetic.scales,
    "interactions": synthetic.interactions,
    "categoricals": synthetic.categoricals,
    "boundary": synthetic.boundary,
    "memory": synthetic.memory,
    "annealing": algorithms.sa,
    "evolution": algorithms.differential_evolution,
    "classifier": pipelines.classifier,
}
REPORTED = {
    "many-parameters": synthetic.many_parameters,
    "heavy-tails": synthetic.heavy_tails,
    "hierarchy": synthetic.hierarchy,
    "failures": synthetic.failures,
    "few-deterministic": synthetic.few_deterministic,
    "large-noise": synthetic.large_noise,
    "pipelines": models.pipelines,
    "eighty": synthetic.eighty,
    "ant-colony": algorithms.ant_colony,
    "walksat": algorithms.walksat,
    "branch-and-bound": algorithms.branch_and_bound,
    "minisat": algorithms.minisat,
    "regressor": pipelines.regressor,
}
FORMULAS = {failing.__name__, synthetic.__name__, models.__name__}
HALVES: Mapping[Half, Mapping[str, Draw]] = {
    "chosen": CHOSEN,
    "reported": REPORTED,
    "failing": {name: getattr(failing, name) for name in failing.__all__},
}
SUITE = {
    name: ProblemClass(name, half, draw.__module__ not in FORMULAS, draw)
    for half, classes in HALVES.items()
    for name, draw in classes.items()
}
