"""The memory law: four times the rows take at most 100 MB more, and at most five times the CPU."""

import inspect
import time
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest

import racer
from racer import stats
from racer.comparison.compare import METHODS

ROWS = 100_000
FEWER = {  # what is meant for pairs of candidates, blocks of a race, or data sets with folds
    "front_posterior": 400,
    "plackett_luce_by_budget": 10_000,
    "shaffer": 3_000,
    "hierarchical_t_test": 2_000,
    "compare hierarchical": 200,
}
OFTEN = {"draws": 1000, "flips": 200, "permutations": 99}
FLOOR = 0.2  # seconds of CPU of the small call, below which they say nothing
PROCEDURES = {name: getattr(stats, name) for name in stats.__all__}
PROCEDURES = {name: call for name, call in PROCEDURES.items() if inspect.isfunction(call)}
PROCEDURES["compare votes"] = racer.compare
for name in METHODS:
    design = "unpaired" if "kruskal" in name else "paired"
    PROCEDURES[f"compare {name}"] = partial(
        racer.compare, method=name, design=design, maximize=False
    )


def given(n):
    """Return arguments for n rows, by the name of a parameter, or of a procedure and it."""
    rows = np.random.default_rng(0).normal([0.0, 0.01, 0.02], size=(n, 3))
    counts, runs = rows.argsort(axis=1) + 1, rows[:, :1] + np.random.default_rng(1).random((n, 10))
    names, pair, k = np.array(["a", "b", "c"]), rows.argsort(axis=1)[:, :2], int((2 * n) ** 0.5)
    votes = {"model_a": names[pair[:, 0]], "model_b": names[pair[:, 1]]}
    folds = {
        "data_set": np.repeat(range(n), 5),
        "a": runs[:, :5].ravel(),
        "b": runs[:, 5:].ravel(),
        "fold": np.tile(range(5), n),
    }
    return {
        **dict.fromkeys(["scores", "table"], rows),
        **dict.fromkeys(["evaluations", "used"], counts),
        **OFTEN,
        "x": rows[:, 0],
        "y": rows[:, 1],
        "samples": [*rows.T],
        "p_values": np.abs(rows[:, 0]) % 1.0,
        "outcomes": counts[:, 0] % 2,
        "correlation": 0.1,
        "n_candidates": k,
        "n_blocks": n,
        "shaffer.p_values": rows[0, 0] ** np.arange(k * (k - 1) // 2),
        "front_posterior.scores": np.stack([rows, runs[:, :3]], axis=2),
        "hierarchical_t_test.x": runs,
        "hierarchical_t_test.y": runs[::-1],
        "plackett_luce_by_budget.scores": {1.0: rows, 2.0: rows[::-1]},
        "compare votes.scores": pd.DataFrame({**votes, "winner": votes["model_a"]}),
        "compare hierarchical.scores": pd.DataFrame(folds),
    }


def taken(name, n):
    """Return the seconds of CPU and the bytes at the peak that a call takes for n rows."""
    call, of = PROCEDURES[name], given(n)
    of = {
        p.name: of.get(f"{name}.{p.name}", of.get(p.name))
        for p in inspect.signature(call).parameters.values()
        if p.name in OFTEN or (p.default is p.empty and p.kind is not p.VAR_KEYWORD)
    }
    tracemalloc.start()
    began = time.process_time()  # a ratio of two such is asserted, which no other load changes
    call(**of)
    seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, peak


SLOW = pytest.mark.xfail(
    reason="its draws have a part for each row: 5.3 times from 200 to 800 rows"
)
OF = [pytest.param(name, marks=[SLOW] * (name == "front_posterior")) for name in PROCEDURES]


@pytest.mark.thorough
@pytest.mark.parametrize("name", OF)
def test_four_times_the_rows_take_little_more_memory_and_five_times_the_cpu(name):
    n = FEWER.get(name, ROWS)
    taken(name, 100)  # what is loaded once
    (few, small), (many, large) = taken(name, n // 4), taken(name, n)
    assert large - small < 100e6
    assert many < 5.0 * max(few, FLOOR)
