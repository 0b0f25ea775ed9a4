"""Tasks of inspect_ai that race: run by inspect_ai itself, with solvers that ask no model."""

import gc
import random
from types import SimpleNamespace

import door_pages
import pytest
from playing import play

import racer
from racer.integrations.inspect_ai import TaskRace

inspect_ai = pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.filterwarnings("ignore")  # its own, and those of what it imports

N = 60


@pytest.fixture(autouse=True)
def _collected():
    """Streams that inspect_ai leaves open warn when they are collected: here, where none is an error."""
    yield
    gc.collect()


def task(share, seed, manager=None, *, n=N, epochs=1, fail=(), shift=0):
    """A task whose answers are right with a probability, the same in each run."""
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import match
    from inspect_ai.solver import solver

    @solver
    def answers():
        async def solve(state, generate):
            if state.sample_id in fail:
                raise RuntimeError("out of luck")
            chance = random.Random(f"{seed} {state.sample_id} {state.epoch}").random()
            text = "yes" if chance < share else "no"
            state.output = ModelOutput.from_content("mockllm/model", text)
            return state

        return solve

    return inspect_ai.Task(
        dataset=[Sample(id=i + shift, input="?", target="yes") for i in range(n)],
        solver=answers(),
        scorer=match(),
        epochs=epochs,
        early_stopping=manager,
        name=f"task_{seed}",
    )


def evaluate(tasks, tmp_path, **settings):
    return inspect_ai.eval(
        tasks, model="mockllm/model", display="none", log_dir=str(tmp_path), **settings
    )


def right(share, seed, epochs=1):
    """The scores of a task, in the order of blocks."""
    keys = [(i, epoch) for epoch in range(1, epochs + 1) for i in range(N)]
    return [float(random.Random(f"{seed} {i} {e}").random() < share) for i, e in keys]


def expected(tables, epochs=1):
    """The race of recorded scores."""
    race = racer.Race.of(
        list(tables),
        range(N * epochs),
        decider="mean",
        instance_order="given",
        deterministic=True,
        maximize=True,
        budget=len(tables) * N * epochs,
        seed=1,
    )
    return play(race, lambda cell: tables[cell.config][cell.block])


@pytest.mark.parametrize("max_tasks", [1, 3])
def test_the_race_is_that_of_the_scores_however_tasks_run(tmp_path, max_tasks):
    shares = {"bad": 0.2, "poor": 0.4, "good": 0.9}
    race = TaskRace(list(shares))
    tasks = [task(share, name, race.manager(name)) for name, share in shares.items()]
    logs = evaluate(tasks, tmp_path, max_tasks=max_tasks, max_samples=4)
    assert [log.status for log in logs] == ["success"] * 3
    found = race.result()
    reference = expected({name: right(share, name) for name, share in shares.items()})
    assert found.best == reference.best == "good"
    assert found.ended == reference.ended == "decided"
    assert found.eliminations.equals(reference.eliminations)
    assert found.evaluations == reference.evaluations < 1.5 * N
    by_name = {log.results.early_stopping.metadata["candidate"]: log for log in logs}
    assert by_name["bad"].results.early_stopping.manager == "racer: bad"
    if max_tasks == 3:  # one after the other, the first has nobody to lose against
        for name, log in by_name.items():
            stops = log.results.early_stopping.early_stops
            assert len(stops) > N // 3, name
            assert len(log.samples) == N - len(stops)
        state = by_name["bad"].results.early_stopping.metadata["state"]
        assert state.startswith("eliminated by the time of ")
        reasons = [by_name[n].results.early_stopping.early_stops[-1].reason for n in shares]
        assert reasons[0] == state
        assert reasons[2] == "the race is over"
    else:
        assert len(by_name["bad"].samples) == N
        assert len(by_name["good"].samples) < N


def test_survivors_may_run_to_the_end(tmp_path):
    race = TaskRace(["bad", "good"], finish=True)
    tasks = [task(0.2, "bad", race.manager("bad")), task(0.9, "good", race.manager("good"))]
    bad, good = evaluate(tasks, tmp_path, max_tasks=2, max_samples=4)
    assert len(bad.samples) < N
    assert len(good.samples) == N
    assert good.results.early_stopping.metadata["state"] == "survivor"


def test_one_task_against_a_recorded_log(tmp_path):
    (log,) = evaluate(task(0.4, "base"), tmp_path)
    race = TaskRace(["new"], recorded={"base": log})
    (new,) = evaluate(task(0.9, "new", race.manager("new")), tmp_path, max_samples=2)
    reference = expected({"new": right(0.9, "new"), "base": right(0.4, "base")})
    assert race.result().best == "new"
    assert race.result().evaluations == reference.evaluations
    assert len(new.samples) < N


@pytest.mark.parametrize(("share", "best"), [(0.95, "new"), (0.3, "bar")])
def test_one_task_against_a_bar(tmp_path, share, best):
    race = TaskRace(["new"], recorded={"bar": 0.7})
    (log,) = evaluate(task(share, "new", race.manager("new")), tmp_path, max_samples=2)
    assert race.result().best == best
    assert len(log.samples) < N


def test_several_epochs_are_blocks_with_the_samples_again(tmp_path):
    race = TaskRace(["a", "b"])
    tasks = [
        task(0.5, "a", race.manager("a"), epochs=3),
        task(0.65, "b", race.manager("b"), epochs=3),
    ]
    evaluate(tasks, tmp_path, max_tasks=2, max_samples=3)
    reference = expected({"a": right(0.5, "a", 3), "b": right(0.65, "b", 3)}, epochs=3)
    found = race.result()
    assert found.evaluations == reference.evaluations > 2 * N
    assert found.ended == reference.ended


def test_a_sample_that_failed_counts_when_its_task_is_over(tmp_path):
    race = TaskRace(["a", "b"])
    tasks = [task(0.2, "a", race.manager("a"), fail={1, 3}), task(0.9, "b", race.manager("b"))]
    evaluate(tasks, tmp_path, max_tasks=2, fail_on_error=False)
    found = race.result()
    assert found.best == "b"
    assert found.failures["block"].tolist() == [1, 3]


def test_eval_set_retries_a_task_in_its_race(tmp_path):
    class Once(set):
        def __contains__(self, sample):
            found = super().__contains__(sample)
            self.discard(sample)
            return found

    race = TaskRace(["a"], recorded={"bar": 0.5})
    done, (log,) = inspect_ai.eval_set(
        task(0.9, "a", race.manager("a"), n=9, fail=Once({5})),
        log_dir=str(tmp_path / "set"),
        model="mockllm/model",
        display="none",
        retry_attempts=1,
        retry_wait=0,
    )
    assert done
    assert log.status == "success"
    assert race.result().evaluations == 16  # then it is decided
    assert not len(race.result().failures)


def test_scores_are_numbers_by_what_is_asked_for(tmp_path):
    race = TaskRace(["a", "b"], scorer="match", to_float=lambda value: 0.5 * (value == "C"))
    tasks = [task(0.2, "a", race.manager("a"), n=9), task(0.9, "b", race.manager("b"), n=9)]
    evaluate(tasks, tmp_path)
    assert set(race.result().scores["value"]) == {0.0, 0.5}


def test_a_scorer_that_there_is_not_is_an_error_and_no_failure_of_all_samples(tmp_path):
    race = TaskRace(["a"], recorded={"bar": 0.1}, scorer="matches")
    (log,) = evaluate(task(0.9, "a", race.manager("a"), n=9), tmp_path)
    assert "scorer='matches': task 'a' has scores of match" in log.error.message
    (log,) = evaluate(task(0.9, "a", n=9), tmp_path)
    with pytest.raises(racer.SettingError, match="scorer='includes': recorded 'a' has scores of m"):
        TaskRace(["b"], recorded={"a": log}, scorer="includes")


def test_a_scorer_of_the_task_that_gives_no_score_has_failed(tmp_path):
    from inspect_ai.scorer import Score, mean, scorer

    @scorer(metrics=[mean()])
    def length():
        async def score(state, target):
            return None if state.sample_id in {0, 2} else Score(value=0.5)

        return score

    race = TaskRace(["a"], recorded={"bar": 0.4}, scorer="length1")
    given = task(0.9, "a", race.manager("a"), n=9)
    given.scorer = [length(), *given.scorer, length()]
    (log,) = evaluate(given, tmp_path)
    assert log.status == "success"
    assert race.result().failures["block"].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (float("nan"), "'old' is nan: give a log, scores by sample id, or a number"),
        (None, "'old' is None: give a log"),
        ("log.eval", "'old' is 'log.eval': give a log"),
        (True, "'old' is True"),
        (2.0, r"'old' has 2 for sample 'all', outside the bounds of scores \(0, 1\)"),
        ({3: 1.0, 4: 5}, "'old' has 5 for sample 4, outside the bounds"),
        ({3: None}, "'old' has None for sample 3: give a number, NaN if it failed"),
        (SimpleNamespace(samples=None), "'old' is a log without samples: read it with read_eval"),
    ],
)
def test_recorded_scores_are_checked_at_once(given, message):
    with pytest.raises(racer.SettingError, match=message):
        TaskRace(["new"], recorded={"old": given})
    TaskRace(["new"], recorded={"old": {3: float("nan"), 4: True, 5: 1}})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"names": "ab"}, "names='ab': give a list of texts, one for each task"),
        ({"names": [1, 2]}, r"names=\[1, 2\]: give a list of texts"),
        ({"names": 2}, "names=2: give a list of texts"),
        ({"recorded": [0.5]}, r"recorded=\[0.5\]: give a dict from names to logs"),
        ({"recorded": 0.0}, "recorded=0.0: give a dict"),
        ({"finish": "no"}, "finish='no': give True or False"),
        ({"scorer": 3}, "scorer=3: give the name of a scorer"),
        ({"to_float": 3}, "to_float=3: give a function"),
    ],
)
def test_arguments_of_another_type_are_refused_at_once(wrong, message):
    with pytest.raises(racer.SettingError, match=message):
        TaskRace(**({"names": ["a", "b"]} | wrong))


def test_names_may_come_from_a_generator():
    assert TaskRace(name for name in "ab").manager("b").name == "b"


def test_what_cannot_race_is_refused(tmp_path):
    with pytest.raises(racer.CandidateError):
        TaskRace(["a", "a"])
    with pytest.raises(racer.SettingError, match="one candidate is no race"):
        TaskRace(["a"])
    with pytest.raises(racer.SettingError, match="one number for all samples"):
        TaskRace(["a"], recorded={"bar": 0.5}, decider="anytime")
    race = TaskRace(["a", "b"])
    with pytest.raises(racer.SettingError, match=r"manager\('c'\): choose from a, b"):
        race.manager("c")
    with pytest.raises(racer.RaceStateError, match="no task has started"):
        race.result()
    tasks = [task(0.2, "a", race.manager("a")), task(0.9, "b", race.manager("b"), shift=1)]
    logs = evaluate(tasks, tmp_path, max_tasks=1)
    assert "need the same samples" in logs[1].error.message
    (log,) = evaluate(task(0.2, "a", race.manager("a")), tmp_path)
    assert "has a second task" in log.error.message
    race = TaskRace(["a"], recorded={"base": {0: 1.0}})
    (log,) = evaluate(task(0.2, "a", race.manager("a")), tmp_path)
    assert "recorded 'base' has no sample 1" in log.error.message


def test_the_example_of_the_page_runs(monkeypatch, tmp_path):
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def generate():
        async def solve(state, generate):
            is_right = "step by step" in state.messages[0].text
            text = str(int(state.sample_id) + 1) if is_right else "?"
            state.output = ModelOutput.from_content("mockllm/model", text)
            return state

        return solve

    monkeypatch.setattr("inspect_ai.solver.generate", generate)  # a model would need the network
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    names = door_pages.run("TaskRace(", {"MODEL": "mockllm/model"})
    assert names["race"].result().best == "steps"
