"""Objectives that worker processes import by name."""

import os
import signal
import time

import numpy as np


def bowl(config, instance, seed):
    """Return x² + y², shifted by the instance, with noise that depends on the seed and on x."""
    noise = np.random.default_rng([seed, int(1e6 * (config["x"] + 5))]).normal()
    return config["x"] ** 2 + config["y"] ** 2 + instance + 0.1 * noise


def interrupt():
    raise KeyboardInterrupt


class Counting:
    """An objective that keeps the cells of its calls; before one of these something happens."""

    def __init__(self, evaluate, at=None, happens=interrupt):
        self.evaluate, self.at, self.happens = evaluate, at, happens
        self.calls = []

    def __call__(self, config, instance, seed):
        self.calls.append((config, instance, seed))
        if len(self.calls) == self.at:
            self.happens()
        return self.evaluate(config, instance, seed)


def hang(held=None):
    """Do not return, nor let go of an argument: whoever calls this is killed."""
    time.sleep(600)  # longer than any test may take; at last it ends what a failed one has left


def misbehaving(config, instance, seed):
    """Die, or run out of memory on some instances, as the configuration says."""
    if config == "dies" and instance in (0.3, 0.6):
        os.kill(os.getpid(), signal.SIGKILL)
    if config == "hoards" and instance == 0.4:
        raise MemoryError
    return instance + len(config) / 10


def says_its_time(config, instance, seed, *, bound):
    """Take so many seconds as the configuration says."""
    return min(config, bound)


def evaluate(config, instance, seed):
    """Return noise around a number, or raise: a function of its arguments alone."""
    rng = np.random.default_rng([seed, config["n"], len(instance), int(1e6 * config.get("x", 3))])
    if rng.random() < 0.1:
        raise ValueError("no luck")
    return config["n"] + config.get("x", 3.0) + rng.normal()


def two_metrics(config, instance, seed):
    """Return two metrics of a number: one grows with it, the other shrinks."""
    rng = np.random.default_rng([seed, config])
    return {"error": config / 4 + rng.normal(), "dollars": 2 - config / 4 + rng.normal()}


def two_metrics_of_x(config, instance, seed):
    """Return two metrics of parameters x and y, and something else."""
    rng = np.random.default_rng([seed, int(1e6 * config["x"])])
    error = config["x"] + 0.1 * rng.normal()
    return {"error": error, "dollars": (1 - config["x"]) ** 2 + config["y"], "ignored": "text"}


def paid(config, instance, seed):
    """Return a cost that grows with a number, and a spend that shrinks from 9 to 1."""
    rng = np.random.default_rng([seed, config])
    return {"cost": config + rng.normal(), "spend": max(9.0 - config, 1.0) * (1 + instance % 3 / 4)}


def paid_of_x(config, instance, seed):
    """Return two metrics of parameters x and y, the first alone where one is asked for, and a spend."""
    rng = np.random.default_rng([seed, int(1e6 * config["x"])])
    spend = (0.1 + config["x"]) * (1 + (instance or 0) % 3 / 4)
    return {"error": (config["x"] - 0.5) ** 2 + 0.01 * rng.normal(), "spend": spend}


def quality(config):
    """Return the cost of `telling`, without its noise."""
    return sum((x - 0.3) ** 2 for x in config.values())


def telling(config, instance, seed, epochs):
    """Learning curves that do not cross, but for some noise."""
    key = [seed, int(epochs), *(round(1e9 * x) for x in config.values())]
    noise = 0.02 * np.random.default_rng(key).standard_normal()
    return quality(config) + 1 / epochs + noise + (instance or 0)
