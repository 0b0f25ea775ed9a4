"""`racer export`: an Optuna study, tables, JSON."""

import json

import numpy as np
import pytest
from typed import typed as said

import racer

optuna = pytest.importorskip("optuna")


def loaded(path):
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return optuna.load_study(
        study_name="run", storage=JournalStorage(JournalFileBackend(str(path)))
    )


@pytest.fixture(name="store")
def _store(tmp_path):
    space = racer.Space(
        {
            "x": racer.Real(1e-3, 1, log=True),
            "k": racer.Categorical(["a", (1, 2), None, True]),
            "n": racer.Integer(1, 9),
            "y": racer.Real(0, racer.Param("n")),
        },
        conditions={"n": racer.Param("k") == "a"},
    )

    def evaluate(config, instance, seed):
        if config["x"] > 0.9:
            raise ValueError
        return config["x"] + np.random.default_rng(seed).normal(0, 0.01)

    path = tmp_path / "run.db"
    racer.tune(space, evaluate, [0, 1], budget=150, seed=1, store=path)
    return path


def test_a_tuning_is_a_study(store, tmp_path):
    said("export", store, "--optuna", tmp_path / "study.log", exits=0)
    study, result = loaded(tmp_path / "study.log"), racer.load(store)
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    assert len(study.trials) == len(result.configs)
    for trial in study.trials:
        config = result.config(trial.number)
        assert trial.params.keys() == config.keys()
        assert trial.params["x"] == config["x"]
        values = {
            b: o.value for b, o in result.known.of(trial.number).items() if o.value is not None
        }
        assert trial.intermediate_values == values
        if values:
            assert trial.value == result.mean(trial.number)
            assert (trial.state.name == "COMPLETE") is (trial.number in result.leaders)
        else:
            assert trial.state.name == "FAIL"
    again = said("export", store, "--optuna", tmp_path / "study.log", exits=1)
    assert "is there already" in again.stderr


def test_a_race_too(tmp_path, path):
    racer.race(["a", "b"], lambda c, i, s: len(c), budget=30, seed=1, store=path)
    said("export", path, "--optuna", tmp_path / "study.log", exits=0)
    assert [t.user_attrs["config"] for t in loaded(tmp_path / "study.log").trials] == ["'a'", "'b'"]


def test_a_race_to_a_front_is_a_study_with_several_directions(tmp_path, path):
    def evaluate(config, instance, seed):
        if config == 4:
            raise ValueError
        return {"error": config, "speed": -config + seed % 3, "other": 0.0}

    result = racer.race(
        [1, 2, 3, 4],
        evaluate,
        budget=80,
        seed=1,
        goal=racer.Pareto({"error": "min", "speed": "max", "other": "min"}, "speed", "error"),
        store=path,
    )
    words = ("--optuna", tmp_path / "study.log", "--csv", tmp_path / "csv", "--json")
    done = said("export", path, *words, exits=0)
    assert json.loads(done.stdout)["ended"] == result.ended.value
    assert (tmp_path / "csv" / "scores.csv").exists()
    study = loaded(tmp_path / "study.log")
    assert [d.name for d in study.directions] == ["MAXIMIZE", "MINIMIZE"]
    assert study.metric_names == ["speed", "error"]
    assert [t.state.name for t in study.trials] == ["COMPLETE", "PRUNED", "PRUNED", "FAIL"]
    assert study.trials[0].values == [result.mean(0), 1.0]
    assert study.trials[0].user_attrs["P(front)"] == result.probability_front[0]


@pytest.mark.parametrize("large", [10**30, 10**400])
def test_a_number_too_large_for_optuna_is_text(tmp_path, path, large):
    racer.race(
        [{"a": large, "b": large}, {"a": 3, "b": 2.5}],
        lambda c, i, s: s % 3,
        budget=30,
        seed=1,
        store=path,
    )
    said("export", path, "--optuna", tmp_path / "study.log", exits=0)
    params = [trial.params for trial in loaded(tmp_path / "study.log").trials]
    assert params == [{"a": str(large), "b": str(large)}, {"a": 3, "b": 2.5}]


def test_what_to_write_must_be_said(store):
    done = said("export", store, exits=2)
    assert "--optuna FILE" in done.stderr
