"""Optuna's distributions in and out."""

import math

import numpy as np
import pytest

from racer import Integer, Ordinal, Param, Real, SettingError, Space

distributions = pytest.importorskip("optuna.distributions")

ALL = {
    "rate": distributions.FloatDistribution(1e-5, 1e-1, log=True),
    "share": distributions.FloatDistribution(0.0, 1.0),
    "stepped": distributions.FloatDistribution(0.1, 0.7, step=0.2),
    "layers": distributions.IntDistribution(1, 9, step=2),
    "units": distributions.IntDistribution(4, 512, log=True),
    "kind": distributions.CategoricalDistribution(["a", 1, 2.5, True, None]),
}


def test_all_distributions_come_in_and_out_again():
    space = Space(ALL)
    assert space.parameters["stepped"] == Real(0.1, 0.7, step=0.2)
    assert space.parameters["layers"] == Integer(1, 9, step=2)
    assert space.to_optuna() == ALL


def test_what_distributions_cannot_say():
    space = Space({"o": Ordinal(["l", "h"]), "x": Real(0.14, 0.46, digits=1), "f": 3})
    assert space.to_optuna() == {
        "o": distributions.CategoricalDistribution(("l", "h")),
        "x": distributions.FloatDistribution(0.2, 0.4, step=0.1),
        "f": distributions.CategoricalDistribution((3,)),
    }
    for digits in (8, 28, 300):  # more than floats have, or Optuna discerns
        fine = Space({"x": Real(0, 1, digits=digits)}).to_optuna()
        assert fine == {"x": distributions.FloatDistribution(0.0, 1.0)}
    only = Space({"x": Real(0, 1e-12, digits=4)}).to_optuna()
    assert only == {"x": distributions.FloatDistribution(0.0, 0.0)}
    with pytest.raises(SettingError, match="m: Optuna has no bounds that depend"):
        Space({"n": Integer(1, 9), "m": Integer(1, Param("n"))}).to_optuna()


@pytest.mark.parametrize(
    ("parameter", "step"),
    [
        (Real(0, 1, digits=7), 1e-7),
        (Real(1e6, 1e6 + 1, digits=5), None),  # so large that steps are rounded
        (Real(0, math.pi, step=math.pi / 8), None),  # by its decimals, Optuna leaves out pi
        (Real(0, 1, step=0.3), 0.3),  # up to 0.9
        (Real(0, 1, step=1e-9), None),
        (Real(1000, 1001, step=1e-5), 1e-5),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_step_is_given_where_optuna_accepts_all_values(parameter, step):
    space = Space({"x": parameter})
    distribution = space.to_optuna()["x"]
    assert distribution.step == step
    values = space.domain("x", {})
    for u in np.linspace(0.0, 1.0, 300).tolist():
        assert distribution._contains(values.decode(u))
