"""The pipeline that is tuned, and what was measured with it."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

import numpy as np

from experiments.classifier.pipeline import (
    DATA,
    DEFAULT,
    _rows,
    error_rate,
    held_out,
    instances,
    space,
)


def test_the_default_is_in_the_space_and_is_scikit_learns():
    from sklearn.svm import SVC

    from experiments.classifier.pipeline import _data

    assert DEFAULT in space()
    for instance in held_out():
        rows, labels = _data(instance.data)
        train, test = _rows(instance)
        model = SVC().fit(rows[train], labels[train])
        assert error_rate(DEFAULT, instance, 0) == np.mean(
            model.predict(rows[test]) != labels[test]
        )


def test_held_out_rows_are_in_no_instance():
    for outside in held_out():
        _, test = _rows(outside)
        inside = [_rows(i) for i in instances(3) if i.data == outside.data]
        assert all(not set(test) & {*train, *validation} for train, validation in inside)
        assert all(not set(train) & set(validation) for train, validation in inside)


@pytest.mark.parametrize("seed", range(8))
def test_every_configuration_has_an_error_rate(seed):
    (config,) = space().sample(1, seed=seed)
    assert 0.0 <= error_rate(config, instances(1)[seed % len(DATA)], 0) <= 1.0


def test_tuned_is_better_than_the_default_on_held_out_rows():
    with Path("experiments/classifier/held_out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    tuned, default = ([float(row[name]) for row in rows] for name in ("tuned", "default"))
    assert statistics.mean(tuned) < 0.5 * statistics.mean(default)
