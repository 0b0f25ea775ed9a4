"""Racing in scikit-learn: searches that race candidates over the folds of a cross-validation."""

try:
    import sklearn as _sklearn  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "sklearn":
        raise
    raise ModuleNotFoundError(
        "racer.integrations.sklearn needs scikit-learn, which is not installed: pip install 'racer-tuning[sklearn]'",
        name="sklearn",
    ) from error

from racer.integrations.sklearn.datasets import evaluator, instances
from racer.integrations.sklearn.search import RacingSearchCV, TunedSearchCV

__all__ = ["RacingSearchCV", "TunedSearchCV", "evaluator", "instances"]
