"""Objectives that worker processes import by name."""

from __future__ import annotations

import numpy as np


def bowl(config, instance, seed):
    """Return x² + y², shifted by the instance, with noise that depends on the seed and on x."""
    noise = np.random.default_rng([seed, int(1e6 * (config["x"] + 5))]).normal()
    return config["x"] ** 2 + config["y"] ** 2 + instance + 0.1 * noise
