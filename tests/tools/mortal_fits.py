"""Estimators that kill their process, hang in it or fill it: workers load them by name."""

import os
import signal
from pathlib import Path

import numpy as np
from objectives import hang
from sklearn.base import BaseEstimator, ClassifierMixin


class Mortal(ClassifierMixin, BaseEstimator):
    """Predicts one class; its process is killed, once or always, for one value of x."""

    def __init__(self, x=0, flag=""):
        self.x = x
        self.flag = flag

    def fit(self, X, y):  # noqa: N803
        self.classes_ = np.unique(y)
        if self.x == 2 and self.flag and (self.flag == "always" or not Path(self.flag).exists()):
            if self.flag != "always":
                Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self

    def predict(self, X):  # noqa: N803
        return np.where(np.arange(len(X)) % 4 < self.x, X[:, 0] > 0, X[:, 0] < 0).astype(int)


class Sleeper(ClassifierMixin, BaseEstimator):
    """Leaves a mark, named by its process, and hangs."""

    def __init__(self, x=0, marks=""):
        self.x = x
        self.marks = marks

    def fit(self, X, y):  # noqa: N803
        (Path(self.marks) / str(os.getpid())).touch()
        hang()
        return self


class Greedy(ClassifierMixin, BaseEstimator):
    """Predicts one class; for x = 2 it hangs, or takes 400 MB, on some rows."""

    def __init__(self, x=0, takes="time"):
        self.x = x
        self.takes = takes

    def fit(self, X, y):  # noqa: N803
        self.classes_ = np.unique(y)
        if self.x == 2 and X[0, 0] == 0:
            if self.takes == "time":
                hang()
            self.held_ = np.ones(50_000_000)
        return self

    def predict(self, X):  # noqa: N803
        return np.full(len(X), self.x > 0)
