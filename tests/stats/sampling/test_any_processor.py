"""Draws do not depend on the processor: BLAS kernels and SIMD loops round differently."""

import contextlib
import io
import os
import warnings

import pytest
from processes import python

CODE = """
import warnings

import numpy as np

import racer
from racer.comparison import example_scores
from racer.stats import best_posterior, bradley_terry, win_table

warnings.simplefilter("ignore")
print(racer.compare(example_scores(), "bradley-terry", goal="max"))
print(racer.compare(example_scores(), "plackett-luce", goal="max"))
chains = bradley_terry(win_table([np.arange(8.0)] * 6), draws=1000)  # all in one order
print(chains.posterior.method, chains.strengths.mean(axis=0).round(4).tolist())
equal = bradley_terry(win_table(np.ones((9, 6))), ties="davidson")  # equal eigenvalues
print(equal.posterior.method, equal.strengths.mean(axis=0).round(4).tolist())
costs = np.random.default_rng(1).normal(size=(12, 20)) + 0.05 * np.arange(20)
costs[4:, 10:] = np.nan  # as after eliminations
print(best_posterior(costs).probability_best.round(6).tolist())
print(best_posterior(costs, covariances=[0.9 + 0.1 * np.eye(20)]).probability_best.round(6).tolist())
costs[:3, 5] = np.inf
print(best_posterior(costs).probability_best.round(6).tolist())
"""


def printed(**processor):
    done = python("-c", CODE, env={**os.environ, **processor})
    return done.stdout


@pytest.mark.thorough
def test_the_same_on_every_processor():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        exec(compile(CODE, "here", "exec"), {})
    here = out.getvalue()
    assert "\nhmc [" in here
    old = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}
    assert printed(**old) == here
