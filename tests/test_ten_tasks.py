"""The ten tasks of a first page: each takes three lines of racer at most, and does what it says."""

import sys

import pytest

WORLD = """
import racer
import numpy as np
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(1)
scores = rng.normal([0.8, 0.7, 0.7], 0.02, (20, 3))
prompts, passes = ["short", "long", "odd"], rng.random((60, 3)) < [0.5, 0.9, 0.4]
def graded(prompt, item):
    at = prompts.index(prompt)
    return {"right": float(passes[item, at]), "spend": 0.001 * (1 + at)}
def noisy(config, instance, seed):
    return abs(config["x"] - 3) + instance + seed % 7 / 10
def both(config, instance, seed):
    return {"error": 1 / config["x"] + seed % 7 / 100, "seconds": config["x"] + seed % 5 / 100}
configs = [{"x": x} for x in range(1, 7)]
def suggest(trial):
    return {"x": trial.suggest_float("x", 0, 6)}
class Halves(racer.deciders.Decider):
    def start(self, setting):
        return np.zeros(setting.n_candidates)
    def decide(self, state, blocks):
        state[blocks.candidates] += blocks.costs.sum(axis=0)
        order = blocks.candidates[np.argsort(state[blocks.candidates])]
        gone = [
            racer.deciders.Drop(int(c), "worse half", against=int(order[0]), probability=1.0, measure="place")
            for c in order[(len(order) + 1) // 2 :]
        ]
        return state, racer.deciders.Verdict(tuple(gone), int(order[0]), state[blocks.candidates])
"""
TASKS = {  # what it takes, and what is seen then
    "search": (
        (
            "from racer.integrations.sklearn import RacingSearchCV\n"
            "search = RacingSearchCV(DecisionTreeClassifier(random_state=0), {'max_depth': [1, 2, 3]})\n"
            "search.fit(X, y)"
        ),
        "search.best_params_['max_depth'] > 1",
    ),
    "comparison to a paper": (
        "comparison = racer.compare(scores, 'signed-rank', goal='max')\nprint(comparison.prose())",
        "comparison.ranking['algorithm'].iloc[0] == '0'",
    ),
    "solver with PAR10": (
        (
            "solver = racer.Command([python, '-c', 'pass', '{x}', '{instance}'], reads='nothing')\n"
            "result = racer.race(configs[:2], solver, [1, 2], budget=12, goal=racer.Runtime(20))"
        ),
        "result.rules.runtime.par == 10.0 and result.evaluations <= 12",
    ),
    "prompts with dollars": (
        (
            "money = racer.Budget(spend=0.3)\n"
            "result = racer.race(prompts, graded, range(60), budget=money, goal={'right': 'max'}, seed=1)"
        ),
        "result.best == 'long' and result.spent <= 0.3",
    ),
    "Optuna study": (
        (
            "from racer.integrations.optuna import race_study\n"
            "found = race_study(study, noisy, range(9), suggest=suggest, budget=60, seed=1)"
        ),
        "len(study.trials) > 2 and found.best is not None",
    ),
    "program timing": (
        "result = racer.bench({'sort': lambda: sorted(range(9)), 'slow': lambda: sum(range(9**5))})",
        "result.fastest == 'sort'",
    ),
    "cluster and tracker": (
        (
            "from concurrent.futures import ThreadPoolExecutor as Cluster\n"
            "result = racer.race(configs, noisy, range(9), budget=90, seed=1, n_jobs=Cluster(2), "
            "callbacks=[seen.append])"
        ),
        "result.best == {'x': 3} and isinstance(seen[-1], racer.RaceEnded)",
    ),
    "two metrics": (
        (
            "goal = racer.Within({'seconds': 'min', 'error': 'min'}, error=0.2)\n"
            "result = racer.race(configs, both, budget=300, goal=goal, seed=1)"
        ),
        "result.best == {'x': 3}",
    ),
    "notebook": (
        "result = racer.tune(space, noisy, range(9), budget=90, seed=1)\nresult",
        "'<table' in result._repr_html_() and abs(result.best['x'] - 3) < 1",
    ),
    "own decider": (
        "result = racer.race(configs, noisy, range(9), budget=90, decider=Halves(), seed=1)",
        "result.best == {'x': 3}",
    ),
}


@pytest.mark.parametrize("task", TASKS)
def test_it_takes_three_lines_at_most(task):
    code, seen = TASKS[task]
    assert len(code.splitlines()) <= 3
    world = {"python": sys.executable, "seen": []}
    exec(WORLD, world)
    world["space"] = world["racer"].Space({"x": world["racer"].Real(0, 6)})
    if task == "Optuna study":
        world["study"] = pytest.importorskip("optuna").create_study()
    exec(code, world)
    assert eval(seen, world)
