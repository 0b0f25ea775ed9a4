"""The job of `racer demo`: which settings of SciPy's differential evolution work best."""

from racer.cli.demo.differential_evolution import configurations, evaluate
from racer.cli.demo.problems import Problem, problems

__all__ = ["Problem", "configurations", "evaluate", "problems"]
