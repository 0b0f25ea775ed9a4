# %% [markdown]
"""Cross-validation folds as instances: a support vector machine for scikit-learn's digits.

Run:  python experiments/optuna_study/cross_validation.py [storage] [picture.png]

Three studies with the same sampler: the mean over 20 folds per trial; the same with RacingPruner;
and `race_study` with as many fits as the first one had. With a storage, "sqlite:///digits.db" say,
they can be looked at with `optuna-dashboard sqlite:///digits.db` while they run.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, cast

import optuna
from optuna.exceptions import ExperimentalWarning
from sklearn.datasets import load_digits
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from racer.integrations.optuna import (
    RacingPruner,
    best_trials_by_evidence,
    finish,
    race_study,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# %% The data, and 20 folds: 10 in each of 2 repetitions. Each of them is an instance.
X, y = load_digits(return_X_y=True)
X, y = X[::3], y[::3]  # a third of it is hard enough, and fast
FOLDS = list(RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0).split(X, y))
fits = 0


def suggest(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    """Return a configuration."""
    return {
        "C": trial.suggest_float("C", 1e-2, 1e3, log=True),
        "gamma": trial.suggest_float("gamma", 1e-5, 1e0, log=True),
    }


def evaluate(config: dict[str, Any], fold: int, seed: int = 0) -> float:  # noqa: ARG001
    """Return the error rate on one fold, in percent."""
    global fits  # noqa: PLW0603
    fits += 1
    train, test = FOLDS[fold]
    model = make_pipeline(StandardScaler(), SVC(**config)).fit(X[train], y[train])
    return float(100.0 * (1.0 - model.score(X[test], y[test])))


# %% The objective: a value per fold, a question after each, and the mean in the end.
def objective(trial: optuna.Trial) -> float:
    """Return the mean error rate."""
    config = suggest(trial)
    errors = []
    for fold in range(len(FOLDS)):
        errors.append(evaluate(config, fold))
        trial.report(errors[-1], step=fold)
        if trial.should_prune():
            finish(trial)
    return sum(errors) / len(errors)


def new_study(name: str, storage: str | None, pruner: optuna.pruners.BasePruner) -> optuna.Study:
    """Return a study with the same sampler each time."""
    sampler = optuna.samplers.TPESampler(seed=1)
    return optuna.create_study(study_name=name, storage=storage, sampler=sampler, pruner=pruner)


def show(study: optuna.Study) -> None:
    """Print how many fits it took, and which trial is best by evidence."""
    global fits  # noqa: PLW0603
    states = [trial.state.name for trial in study.trials]
    print(f"\n{study.study_name}: {fits} fits, {len(states)} trials")
    print({state: states.count(state) for state in sorted(set(states))})
    evidence = best_trials_by_evidence(study)
    print(f"best_trial is #{study.best_trial.number}; by evidence: {evidence}")
    print(study.trials[evidence.best].params)
    print(evidence.trials.head(5).round(3).to_string())
    fits = 0


def main(storage: str | None = None, picture: str | None = None, trials: int = 40) -> None:
    """Run the three studies."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    # %% All folds for each trial.
    study = new_study("all-folds", storage, optuna.pruners.NopPruner())
    study.optimize(objective, n_trials=trials)
    show(study)

    # %% The same objective with RacingPruner.
    study = new_study("racing-pruner", storage, RacingPruner(instances=len(FOLDS)))
    study.optimize(objective, n_trials=trials)
    show(study)

    # %% Racing: new trials against the best so far, as many fits in all as the first study.
    study = new_study("race-study", storage, optuna.pruners.NopPruner())
    folds = range(len(FOLDS))
    race_study(study, evaluate, folds, suggest=suggest, budget=trials * len(FOLDS), seed=1)
    show(study)

    # %% The race, as Optuna draws it: a line per trial, on the instances that it has seen.
    if picture is not None:
        from optuna.visualization.matplotlib import plot_intermediate_values  # noqa: PLC0415

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            axes = plot_intermediate_values(study)
        axes.set_ylim(-1.0, 30.0)
        if legend := axes.get_legend():
            legend.remove()  # a line for each of many trials
        cast("Figure", axes.figure).savefig(picture, dpi=100)


if __name__ == "__main__":
    given = [*sys.argv[1:], None, None]
    main(given[0], given[1])
