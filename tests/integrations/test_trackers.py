"""Callbacks of MLflow and Weights & Biases: what they log is read back by the packages' own code."""

import itertools
import json
import math
import shutil
import struct
import warnings
from pathlib import Path

import door_pages
import flat
import numpy as np
import pytest
from objectives import Counting

import racer
from racer.errors import RacerError
from racer.integrations.tracking import TrackerCallback, records_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of theirs
CONFIGS = [{"x": 1, "kind": "a"}, {"x": 2, "kind": "b"}, {"x": 3, "kind": "a"}]


def evaluate(config, instance, seed):
    if config["x"] == 3 and seed % 5 == 0:
        raise ValueError("no such model")
    return config["x"] + seed % 2


def raced(callback, configs=CONFIGS):
    return racer.race(configs, evaluate, budget=60, seed=1, callbacks=[callback])


class Kept(TrackerCallback):
    """Keeps what it is to log."""

    def __init__(self):
        super().__init__()
        self.logged, self.ended, self.result = [], [], None

    def log(self, metrics, step):
        self.logged.append((step, metrics))

    def end(self, ended, result):
        self.ended.append(ended)
        self.result = result


def as_logged(result):
    """Return the values of all candidates by block that a tracker logs of a result."""
    values = {}
    for row in result.scores.itertuples():
        values.setdefault(row.candidate, {})[row.block] = row.value
    return values


def successes(values):
    return {at: value for at, value in values.items() if not math.isnan(value)}


def check(kept, result):
    """Compare what was logged with the result."""
    assert kept.ended == [result.ended.value]
    records = records_of(kept.result)
    expected = as_logged(result)
    assert {r.candidate for r in records} == set(expected)
    for record in records:
        values = expected[record.candidate]
        assert set(record.values) == set(values)
        assert successes(record.values) == successes(values)
        assert record.mean == result.mean(record.candidate)
    step, last = kept.logged[-1]
    assert step > max((step for step, _ in kept.logged[:-1]), default=-1)
    assert last["evaluations"] == result.evaluations
    if result.best_index is not None:
        assert (last["best"], last["best_mean"]) == (
            result.best_index,
            result.mean(result.best_index),
        )
    return records


def test_records_are_those_of_the_result():
    kept = Kept()
    with kept:
        result = raced(kept)
    records = check(kept, result)
    assert [step for step, _ in kept.logged] == list(range(len(result.blocks) + 1))
    assert [r.params for r in sorted(records, key=lambda r: r.candidate)] == CONFIGS
    assert any(math.isnan(value) for value in records[-1].values.values())  # some have failed
    gone = result.eliminations.set_index("candidate")
    texts = {r.candidate: r.eliminated for r in records if r.eliminated}
    assert texts == {
        c: f"{gone.reason[c]}, against #{gone.against[c]}, after block {gone.block[c]}"
        for c in gone.index
    }


def step_and_method(config, instance, seed):
    return (config["step"] - 1) ** 2 + (config["method"] == "gradient") + seed % 7


SPACE = racer.Space(
    {"step": racer.Real(-5, 5), "method": racer.Categorical(["newton", "gradient"])}
)


@pytest.mark.parametrize(
    "given",
    [
        {"budget": 100},  # the opening: hardly a race
        {"budget": 200, "instances": range(4)},
        {"budget": 600, "instances": range(4), "decider": "f-race"},
        {"budget": 200, "instances": range(4), "test_instances": range(9, 12)},
    ],
)
def test_a_tuning_is_logged_as_it_has_ended(given):
    kept = Kept()
    with kept:
        result = flat.tune(SPACE, step_and_method, **given, seed=2, callbacks=[kept])
    records = check(kept, result)
    assert [r.params for r in records] == [result.config(r.candidate) for r in records]
    assert records_of(kept.result, 3) == records[:3]
    assert [r.candidate for r in records[: len(result.leaders)]] == list(result.leaders)
    blocks = [len(r.values) for r in records[len(result.leaders) :]]
    assert blocks == sorted(blocks, reverse=True)
    assert not any(r.eliminated for r in records if r.candidate in result.survivors)
    tests = {r.candidate: r.tests for r in records if r.tests}
    assert tests == {c: dict(found) for c in result.tests if len(found := result.tests[c].dropna())}
    assert bool(tests) == ("test_instances" in given)
    assert {c: mean for c, mean in result.test_means.items() if c in tests} == {
        r.candidate: r.test_mean for r in records if r.tests
    }


@pytest.mark.parametrize("stop", [60, 235])
def test_an_interrupted_tuning_is_logged_and_the_resumed_one_as_a_whole(stop, tmp_path):
    space = racer.Space({"x": racer.Real(0, 9)})

    def cost(config, instance, seed):
        return abs(config["x"] - 3) * (instance + 1) + seed % 7 * 0.01

    def run(last=None, budget=250):
        given = {"budget": budget, "seed": 1, "store": tmp_path / "run.db"}
        kept = Kept()
        try:
            with kept:
                return kept, flat.tune(
                    space, Counting(cost, last), range(5), **given, callbacks=[kept]
                )
        except racer.RaceInterrupted as interrupted:
            return kept, interrupted.result

    kept, known = run(stop)
    assert known.ended == "interrupted"
    check(kept, known)
    check(*run())
    check(*run())  # it has ended before
    check(*run(budget=300))


def test_the_result_of_a_race_without_a_best_has_none():
    kept = Kept()
    with kept:
        result = racer.race(CONFIGS, lambda c, i, s: s % 7, budget=60, seed=1, callbacks=[kept])
    assert result.best_index is None
    check(kept, result)
    assert math.isnan(kept.logged[-1][1]["best"])


class Broken(Kept):
    """Breaks down while it logs."""

    def log(self, metrics, step):
        super().log(metrics, step)
        raise ConnectionError("the server is gone")

    end = log


def test_an_error_of_a_tracker_does_not_cost_the_result():
    kept = Broken()
    with kept, pytest.warns(racer.RacerWarning, match="the server is gone") as given:
        result = raced(kept)
    assert result.best == CONFIGS[0]
    assert len(given) == 3
    assert str(given[0].message) == (
        "Broken could not log a block: ConnectionError: the server is gone; no further block is "
        "logged"
    )


def useless(config, instance, seed):
    return "no number"


def test_a_race_that_raises_ends_its_run():
    kept = Kept()
    with pytest.raises(racer.ObjectiveError), kept:
        racer.race(CONFIGS, useless, budget=60, seed=1, callbacks=[kept])
    assert kept.ended == ["failed"]


def test_a_deadline_ends_the_run_without_a_context(monkeypatch):
    monkeypatch.setattr("racer.run.deadline._clock", itertools.count().__next__)
    kept = Kept()
    budget = racer.Budget(evaluations=10_000_000, wall=50)
    given = {"budget": budget, "first_test": 1_000_000, "callbacks": [kept]}
    with pytest.warns(racer.RacerWarning, match="before the first test"):
        flat.race(CONFIGS, lambda c, i, s: c["x"], **given, seed=1)
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

    given = {"params": {"budget": 60}, "run_name": "first"}
    with MLflowCallback("solver", **given, tracking_uri=client.tracking_uri) as tracker:
        result = raced(tracker)
    run = client.get_run(tracker.run_id)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "first")
    assert run.data.params == {"budget": "60", "best.x": "1", "best.kind": "a"}
    assert run.data.tags["racer.ended"] == result.ended.value
    history = client.get_metric_history(tracker.run_id, "alive")
    assert [m.step for m in history] == list(range(len(result.blocks) + 1))
    assert history[-1].value == 1.0
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


NAMES = ["lr[0]", "lr(0)", "λ", "a//b", "..", "/x", "./y", "x:y", "k" * 300, "k" * 301, "best.x"]


def test_mlflow_takes_parameters_of_any_name(client):
    from racer.integrations.mlflow import MLflowCallback

    more = {f"p{i}": i for i in range(150)}  # more than MLflow takes at once
    configs = [{"x": x, **dict.fromkeys(NAMES, x), **more} for x in (1, 2)]
    with MLflowCallback("names", tracking_uri=client.tracking_uri, params={"a|b": 1}) as tracker:
        result = racer.race(configs, evaluate, budget=40, seed=1, callbacks=[tracker])
    run = client.get_run(tracker.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.params["a_b"] == "1"
    best = {n.removeprefix("best."): v for n, v in run.data.params.items() if n[:5] == "best."}
    assert len(best) == len(configs[0])
    assert {best[name] for name in ("x", "lr_0_", "lr_0__2", "_", "best.x")} == {"1"}
    below = client.search_runs([run.info.experiment_id], "attributes.run_name = '#0'")
    assert len(below[0].data.params) == len(result.best)


def test_mlflow_ends_a_run_that_it_could_not_log(client, monkeypatch):
    from racer.integrations.mlflow import MLflowCallback

    def gone(self, record):
        raise ConnectionError("the server is gone")

    monkeypatch.setattr(MLflowCallback, "_log_candidate", gone)
    tracker = MLflowCallback("solver", tracking_uri=client.tracking_uri)
    with tracker, pytest.warns(racer.RacerWarning, match="could not log a result: Connection"):
        assert raced(tracker).best == CONFIGS[0]
    assert client.get_run(tracker.run_id).info.status == "FAILED"


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
    with WandbCallback(**settings) as tracker:
        result = raced(tracker)
    kept = list(records(tmp_path))
    rows = [values(r.history.item) for r in kept if r.HasField("history")]
    blocks = [row for row in rows if "alive" in row]
    assert [row["block"] for row in blocks] == list(range(len(result.blocks) + 1))
    assert blocks[-1]["alive"] == 1
    assert blocks[-1]["evaluations"] == result.evaluations
    (path,) = tmp_path.rglob("*.table.json")
    table = json.loads(path.read_text())
    assert table["columns"] == [
        *("candidate", "blocks", "mean", "test_mean", "eliminated", "x"),
        "kind",
    ]
    assert table["data"][0][:2] == [0, len(result.known.of(0))]
    assert table["data"][0][4:] == ["", 1, "a"]
    summary = {}
    for record in kept:
        summary |= values(record.summary.update)
    assert summary["ended"] == result.ended.value
    assert summary["best_params"] == CONFIGS[0]
    assert [r.exit.exit_code for r in kept if r.HasField("exit")] == [0]
    assert wandb.run is None


def test_wandb_takes_numbers_of_numpy_and_any_name(tmp_path):
    pytest.importorskip("wandb")
    from racer.integrations.wandb import WandbCallback

    configs = [{"x": x, "mean": x > 1, "kind": ("a", x)} for x in np.arange(1, 4)]
    with WandbCallback(mode="offline", dir=str(tmp_path), project="solver") as tracker:
        raced(tracker, configs)
    (path,) = tmp_path.rglob("*.table.json")
    table = json.loads(path.read_text())
    assert table["columns"][5:] == ["x", "mean (parameter)", "kind"]
    assert table["data"][0][5:7] == [1, False]
    assert table["data"][0][7] == "('a', 1)"


def test_the_page(tmp_path, monkeypatch, client):
    wandb = pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    wandb.teardown()  # what it has read of the environment
    names = door_pages.run("MLflowCallback(", page="trackers.md")
    assert client.get_run(names["tracker"].run_id).info.status == "FINISHED"
    door_pages.run("WandbCallback(", names, page="trackers.md")
    assert list(records(tmp_path))
