"""The suite: classes on which settings of the tuner were chosen, and those kept for the report.

The division was written down before anything was measured.
"""

from __future__ import annotations

from experiments.tuner import algorithms, pipelines, synthetic
from experiments.tuner.problem import ProblemClass

__all__ = ["SUITE"]

SUITE = {
    c.name: c
    for c in (
        ProblemClass(name="sphere", half="chosen", real=False, draw=synthetic.sphere),
        ProblemClass(name="rastrigin", half="chosen", real=False, draw=synthetic.rastrigin),
        ProblemClass(name="scales", half="chosen", real=False, draw=synthetic.scales),
        ProblemClass(name="interactions", half="chosen", real=False, draw=synthetic.interactions),
        ProblemClass(name="categoricals", half="chosen", real=False, draw=synthetic.categoricals),
        ProblemClass(name="boundary", half="chosen", real=False, draw=synthetic.boundary),
        ProblemClass(name="memory", half="chosen", real=False, draw=synthetic.memory),
        ProblemClass(name="annealing", half="chosen", real=True, draw=algorithms.sa),
        ProblemClass(
            name="evolution", half="chosen", real=True, draw=algorithms.differential_evolution
        ),
        ProblemClass(name="classifier", half="chosen", real=True, draw=pipelines.classifier),
        ProblemClass(
            name="many-parameters", half="reported", real=False, draw=synthetic.many_parameters
        ),
        ProblemClass(name="heavy-tails", half="reported", real=False, draw=synthetic.heavy_tails),
        ProblemClass(name="hierarchy", half="reported", real=False, draw=synthetic.hierarchy),
        ProblemClass(name="failures", half="reported", real=False, draw=synthetic.failures),
        ProblemClass(
            name="few-deterministic", half="reported", real=False, draw=synthetic.few_deterministic
        ),
        ProblemClass(name="ant-colony", half="reported", real=True, draw=algorithms.ant_colony),
        ProblemClass(name="walksat", half="reported", real=True, draw=algorithms.walksat),
        ProblemClass(
            name="branch-and-bound", half="reported", real=True, draw=algorithms.branch_and_bound
        ),
        ProblemClass(name="minisat", half="reported", real=True, draw=algorithms.minisat),
        ProblemClass(name="regressor", half="reported", real=True, draw=pipelines.regressor),
    )
}
