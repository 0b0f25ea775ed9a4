"""A decider from outside, with a reason and a measure of its own: raced, shown, stored, resumed.

Only public names are used here, as by somebody who has nothing but the package.
"""

import flat
import pytest
from outside_decider import TooSlow

import racer
from racer.simulate import NormalWorld, play
from racer.testing import check_decider


def evaluate(config, instance, seed):
    return config * (1.0 + 0.01 * (seed % 10)) * (1.0 + instance / 10.0)


def stop_after(evaluations):
    """Return a callback that stops the race once so many evaluations are used."""

    def callback(event):
        if isinstance(event, racer.BlockCompleted) and event.evaluations >= evaluations:
            raise RuntimeError("stopped")

    return callback


POOL = [2.5, 2.0, 9.0, 2.2, 4.0]
SETTINGS = {"decider": TooSlow(), "budget": 60, "seed": 3, "first_test": 3}


def test_it_passes_the_check_for_deciders():
    check_decider(TooSlow())
    check_decider(TooSlow(factor=1.0))


def test_it_races_and_is_shown(capsys):
    result = flat.race(POOL, evaluate, range(9), progress=True, **SETTINGS)
    assert result.best == 2.0
    assert sorted(result.eliminations["candidate"]) == [2, 4]
    assert set(result.eliminations["reason"]) == {"too slow"}
    assert set(result.eliminations["measure"]) == {"seconds"}
    assert "dropped #2, too slow, against #1 (seconds " in capsys.readouterr().err


def test_a_tuning_with_it_is_resumed_from_its_store(tmp_path):
    space = racer.Space({"x": racer.Real(1.0, 9.0)})

    def cost(config, instance, seed):
        return evaluate(config["x"], instance, seed)

    path = tmp_path / "tune.db"
    settings = {"decider": TooSlow(1.1), "budget": 300, "seed": 3}
    whole = flat.tune(space, cost, range(9), **settings)
    with pytest.raises(RuntimeError, match="stopped"):
        flat.tune(space, cost, range(9), store=path, callbacks=[stop_after(150)], **settings)
    resumed = racer.resume(path, cost, decider=TooSlow(1.1))
    assert resumed.best == whole.best
    assert resumed.evaluations == whole.evaluations > 150


def test_it_is_played_in_a_world():
    world = NormalWorld(4, 0.2)
    one, other = (play(TooSlow(), world, repetitions=4, blocks=20, n_jobs=n) for n in (1, 2))
    assert one.rows == other.rows
