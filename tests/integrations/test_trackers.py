"""Callbacks of MLflow and Weights & Biases: what they log is read back by the packages' own code."""

import itertools
import json
import math
import shutil
import struct
import warnings
from pathlib import Path

import door_pages
import pytest

import racer
from racer.errors import RacerError
from racer.integrations.tracking import TrackerCallback

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of theirs
CONFIGS = [{"x": 1, "kind": "a"}, {"x": 2, "kind": "b"}, {"x": 3, "kind": "a"}]


def evaluate(config, instance, seed):
    if config["x"] == 3 and seed % 5 == 0:
        raise ValueError("no such model")
    return config["x"] + seed % 2


def raced(callback, **given):
    return racer.race(CONFIGS, evaluate, budget=60, seed=1, callbacks=[callback], **given)


class Kept(TrackerCallback):
    """Keeps what it is to log."""

    def __init__(self, configs=()):
        super().__init__(configs)
        self.logged, self.ended = [], []

    def log(self, metrics, block):
        self.logged.append((block, metrics))

    def end(self, ended):
        self.ended.append(ended)


def test_records_are_those_of_the_result():
    kept = Kept(CONFIGS)
    with kept:
        result = raced(kept)
    assert kept.ended == [result.ended.value]
    assert [block for block, _ in kept.logged] == list(range(len(result.blocks)))
    assert kept.logged[-1][1]["evaluations"] == result.evaluations
    for number, record in kept.records.items():
        outcomes = result.known.of(number)
        values = {b: v for b, v in record.values.items() if math.isfinite(v)}
        assert values == {b: o.value for b, o in outcomes.items() if o.value is not None}
        assert set(record.values) == set(outcomes)
    gone = result.eliminations.set_index("candidate")
    assert {r.candidate for r in kept.records.values() if r.eliminated} == set(gone.index)
    assert kept.records[2].eliminated == (
        f"{gone.reason[2]}, against #{gone.against[2]}, after block {gone.block[2]}"
    )


def test_records_of_a_tuning_have_its_configurations():
    kept = Kept()
    space = racer.Space({"x": racer.Integer(0, 99)})
    result = racer.tune(space, lambda c, i, s: c["x"] + s % 9, budget=120, seed=1, callbacks=[kept])
    assert [kept.records[i].config for i in range(len(result.configs))] == list(result.configs)
    assert kept.by_blocks(1)[0].candidate in result.survivors


@pytest.mark.parametrize("stop", [60, 100, 150, 190, 235])
def test_a_tuning_that_goes_on_has_records_of_earlier_elites(stop, tmp_path, monkeypatch):
    monkeypatch.setattr("racer.tuner.tuning.SMALL", 0)  # races in series
    space = racer.Space({"x": racer.Real(0, 9)})

    def run(last=-1):
        calls = itertools.count(1)

        def cost(config, instance, seed):
            if next(calls) == last:
                raise KeyboardInterrupt
            return abs(config["x"] - 3) * (instance + 1) + seed % 7 * 0.01

        store, kept = tmp_path / "run.db", Kept()
        with kept:
            return kept, racer.tune(
                space, cost, range(5), budget=250, seed=1, store=store, callbacks=[kept]
            )

    with pytest.raises(racer.RaceInterrupted):
        run(stop)
    kept, result = run()
    assert kept.ended == [result.ended.value]
    assert [kept.records[i].config for i in range(len(result.configs))] == list(result.configs)
    assert kept.record(kept.best).params == result.config(kept.best)
    assert all(record.values for record in kept.by_blocks(1000))


def interrupted(config, instance, seed):
    raise KeyboardInterrupt


def useless(config, instance, seed):
    return "no number"


@pytest.mark.parametrize(
    ("evaluate", "error", "ended"),
    [
        (interrupted, racer.RaceInterrupted, "interrupted"),
        (useless, racer.ObjectiveError, "failed"),
    ],
)
def test_a_race_that_raises_ends_its_run(evaluate, error, ended):
    kept = Kept(CONFIGS)
    with pytest.raises(error), kept:
        racer.race(CONFIGS, evaluate, budget=60, seed=1, callbacks=[kept])
    assert kept.ended == [ended]


def test_a_deadline_ends_the_run_without_a_context():
    kept = Kept(CONFIGS)
    given = {"budget": 10_000_000, "deadline": 0.2, "first_test": 1_000_000, "callbacks": [kept]}
    with pytest.warns(racer.RacerWarning, match="before the first test"):
        racer.race(CONFIGS, lambda c, i, s: c["x"], **given, seed=1)
    assert kept.ended == ["deadline"]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database of MLflow, which takes seconds to make."""
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("alembic")
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        mlflow.MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def client(tmp_path, database):
    import mlflow

    shutil.copy(database, tmp_path / "mlflow.db")
    return mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")


def test_mlflow_reads_back_the_race(client):
    from racer.integrations.mlflow import MLflowCallback

    given = {"configs": CONFIGS, "params": {"budget": 60}, "run_name": "first"}
    with MLflowCallback("solver", **given, tracking_uri=client.tracking_uri) as tracker:
        result = raced(tracker)
    run = client.get_run(tracker.run_id)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "first")
    assert run.data.params == {"budget": "60", "best.x": "1", "best.kind": "a"}
    assert run.data.tags["racer.ended"] == result.ended.value
    history = client.get_metric_history(tracker.run_id, "alive")
    assert [(m.step, m.value) for m in history][-1] == (len(result.blocks) - 1, 1.0)
    assert run.data.metrics["best_mean"] == pytest.approx(result.mean(0))
    below = client.search_runs(
        [run.info.experiment_id], f"tags.mlflow.parentRunId = '{tracker.run_id}'"
    )
    assert sorted(child.info.run_name for child in below) == ["#0", "#1", "#2"]
    for child in below:
        number = int(child.info.run_name[1:])
        is_in = number in result.survivors
        assert child.info.status == ("FINISHED" if is_in else "KILLED")
        assert child.data.params == {name: str(v) for name, v in CONFIGS[number].items()}
        known = {b: o.value for b, o in result.known.of(number).items() if o.value is not None}
        logged = client.get_metric_history(child.info.run_id, "value")
        assert {m.step: m.value for m in logged} == known


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt, "KILLED"), (ValueError, "FAILED")]
)
def test_mlflow_takes_a_run_that_was_stopped(client, error, status):
    from racer.integrations.mlflow import MLflowCallback

    tracker = MLflowCallback("solver", most=0, tracking_uri=client.tracking_uri)
    with pytest.raises(error), tracker:
        raise error
    assert client.get_run(tracker.run_id).info.status == status
    with pytest.raises(RacerError, match="most=-1: give a whole number >= 0"):
        MLflowCallback("solver", most=-1)


def records(folder):
    """Return the records of an offline run: a log in LevelDB's format of W&B's own messages."""
    import wandb
    from wandb.proto import wandb_internal_pb2

    wandb.teardown()  # its service has written all then
    (path,) = Path(folder).rglob("*.wandb")
    data, at, whole = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, size, kind = struct.unpack_from("<IHB", data, at)
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in {1, 4}:  # whole, or the last part
            yield wandb_internal_pb2.Record.FromString(whole)
            whole = b""


def values(items):
    """Return what a record says, by names."""
    return {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items}


def test_wandb_reads_back_the_race(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    from racer.integrations.wandb import WandbCallback

    settings = {"mode": "offline", "dir": str(tmp_path), "project": "solver"}
    with WandbCallback(configs=CONFIGS, **settings) as tracker:
        result = raced(tracker)
    kept = list(records(tmp_path))
    rows = [values(r.history.item) for r in kept if r.HasField("history")]
    blocks = [row for row in rows if "alive" in row]
    assert [row["block"] for row in blocks] == list(range(len(result.blocks)))
    assert blocks[-1]["alive"] == 1
    assert blocks[-1]["evaluations"] == result.evaluations
    (path,) = tmp_path.rglob("*.table.json")
    table = json.loads(path.read_text())
    assert table["columns"] == ["candidate", "blocks", "mean", "eliminated", "x", "kind"]
    assert table["data"][0][:2] == [0, len(result.known.of(0))]
    assert table["data"][0][3:] == ["", 1, "a"]
    (summary,) = (found for r in kept if "ended" in (found := values(r.summary.update)))
    assert summary["ended"] == result.ended.value
    assert summary["best_params"] == CONFIGS[0]
    assert [r.exit.exit_code for r in kept if r.HasField("exit")] == [0]
    assert wandb.run is None


def test_the_page(tmp_path, monkeypatch, client):
    wandb = pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    wandb.teardown()  # what it has read of the environment
    names = door_pages.run("MLflowCallback(", page="trackers.md")
    assert client.get_run(names["tracker"].run_id).info.status == "FINISHED"
    door_pages.run("WandbCallback(", names, page="trackers.md")
    assert list(records(tmp_path))
