"""Four times the rows: 100 MB more at most, and five times the CPU, over two such steps."""

import inspect
import re
import sys
import time
from functools import partial
from math import isqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import racer
from racer import stats
from racer.comparison.compare import METHODS

PROCEDURES = [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]
MOST = 25_000  # rows
# these draw for each row: 50 000 weights, or, for ten rows, 64 chains
FEWER = {"signed-rank": 500, "hierarchical": 500, "hierarchical_t_test": 4000}


def of_rows(name, n):
    """Return the procedure with noise of n rows as its arguments."""
    rng, m, at = np.random.default_rng(1), isqrt(2 * n), np.arange(n)
    scores = rng.uniform(size=(n, 3))
    if name in METHODS:
        table = pd.DataFrame(scores, columns=[*"abc"])
        folds = {"data_set": at // 10, "fold": at % 10} if name == "hierarchical" else {}
        return partial(racer.compare, table.assign(**folds), name, goal="min")
    of_folds = scores.T.reshape(3, -1, 10) if name == "hierarchical_t_test" else scores.T
    given = {"x": of_folds[0], "y": of_folds[1], "low": 0.0, "high": 1.0, "correlation": 0.1}
    given |= {"evaluations": scores, "used": scores, "outcomes": scores[:, 0] > 0.5}
    given |= {"n_candidates": m, "n_blocks": n, "p_values": rng.uniform(size=m * (m - 1) // 2)}
    given |= {"table": n * (1.0 - np.eye(3)), "draws": 1000, "flips": 1000}
    several = {"front_posterior": [scores, scores[::-1]], "plackett_luce_by_budget": {1.0: scores}}
    given["scores"] = several.get(name, scores)
    call = getattr(stats, name)
    takes = inspect.signature(call).parameters.values()
    chosen = {p.name for p in takes if p.default is p.empty or p.name in ("draws", "flips")}
    return partial(call, **{key: given[key] for key in chosen & given.keys()})


def cost(call):
    """Return the CPU seconds of a call, and the bytes by which it raised the peak of memory."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak memory
    before = peak()
    # of this process alone, whatever runs beside it
    begun = time.process_time()
    call()
    return time.process_time() - begun, peak() - before  # as above


def peak():
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory cannot be set back")
@pytest.mark.parametrize("name", [*PROCEDURES, *METHODS])
def test_four_times_the_rows(name):
    n = FEWER.get(name, MOST)
    of_rows(name, 100)()  # late imports, before anything is measured
    # a step's ratio alone also has what arrays cost that a processor's cache no longer holds
    few, middle, many = (cost(of_rows(name, size)) for size in (n // 4, n, 4 * n))
    assert many[1] < middle[1] + 1e8
    for _ in range(3):  # times of a busy machine: the best of some
        if many[0] <= 25 * max(few[0], 0.004):
            return
        few = min(few, cost(of_rows(name, n // 4)))
        many = min(many, cost(of_rows(name, 4 * n)))
    raise AssertionError(f"{many[0] / few[0]:.1f} times the CPU, of 16 times the rows")
