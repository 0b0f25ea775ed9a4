"""In memory, in a journal, in SQLite and in PostgreSQL: the same, with processes that are killed."""

import os
import signal
import subprocess
import sys
import uuid

import optuna
import optuna_worker
import pytest
from optuna.trial import TrialState
from optuna_worker import Evaluate, InOrder, N, loaded, open_storage, race, take_part
from processes import TOOLS
from studies import held

from racer.integrations.optuna import RacingPruner, best_trials_by_evidence

POSTGRESQL = "RACER_TEST_POSTGRESQL"
SHARED = ["journal", "sqlite", "postgresql"]

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


@pytest.fixture
def url(request, folder):
    kind = request.param
    if kind == "postgresql":
        if POSTGRESQL not in os.environ:
            pytest.skip(f"{POSTGRESQL} names no database: .ci/run starts one")
        return os.environ[POSTGRESQL]
    return {"journal": f"journal:{folder / 'study.log'}", "sqlite": f"sqlite:///{folder}/s.db"}[
        kind
    ]


shared = pytest.mark.parametrize("url", SHARED, indirect=True)


def study_in(storage):
    return optuna.create_study(
        study_name=f"racer-{uuid.uuid4()}",
        storage=storage,
        sampler=InOrder(),
        pruner=RacingPruner(instances=N),
    )


@pytest.fixture(scope="module")
def ask():
    """Return a function that gives a line to a process which starts others, and returns its answer."""
    with subprocess.Popen(
        [sys.executable, optuna_worker.__file__],
        env=TOOLS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def answered(*words):
            print(*words, file=process.stdin, flush=True)
            return int(process.stdout.readline())

        yield answered
        process.stdin.close()


def reloaded(url, study):
    """Return the study as a process that has just begun sees it."""
    return loaded(url, study.study_name)


def left(study):
    return held(study, lambda study: study.trials)


@pytest.fixture(scope="module")
def in_memory():
    """What one process leaves in memory: races, and a study with a pruner."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    raced, pruned = study_in(None), study_in(None)
    race(raced, Evaluate(-1))
    take_part(pruned, Evaluate(-1), 8)
    return left(raced), left(pruned)


@shared
def test_one_process_leaves_the_same_in_every_storage(url, in_memory):
    raced, pruned = study_in(open_storage(url)), study_in(open_storage(url))
    race(raced, Evaluate(-1))
    take_part(pruned, Evaluate(-1), 8)
    assert left(reloaded(url, raced)) == in_memory[0]
    assert left(reloaded(url, pruned)) == in_memory[1]
    assert {"PRUNED", "COMPLETE"} == {row[0] for row in in_memory[1]}


@pytest.mark.thorough
@shared
def test_a_race_goes_on_after_its_process_was_killed(url, in_memory, ask):
    study = study_in(open_storage(url))
    process = ask("start", "race", url, study.study_name, 25)
    assert ask("wait", process) == -signal.SIGKILL
    half_way = reloaded(url, study)
    assert TrialState.RUNNING in {trial.state for trial in half_way.trials}
    known = sum(len(t.intermediate_values) for t in half_way.trials)
    assert known >= 25
    race(reloaded(url, study), Evaluate(-1))
    assert left(reloaded(url, study)) == in_memory[0]


@pytest.mark.thorough
@shared
def test_two_processes_share_a_study_and_one_is_killed(url, ask):
    study = study_in(open_storage(url))
    dying, living = (ask("start", "pruner", url, study.study_name, at) for at in (13, -1))
    assert ask("wait", dying) == -signal.SIGKILL
    assert ask("wait", living) == 0

    seen = reloaded(url, study)
    states = [trial.state for trial in seen.trials]
    assert states.count(TrialState.RUNNING) == 1  # the zombie
    assert TrialState.PRUNED in states
    for trial in seen.trials:
        if trial.state == TrialState.PRUNED:
            mean_at = trial.user_attrs["racer:mean_step"]
            values = [v for step, v in trial.intermediate_values.items() if step != mean_at]
            assert trial.value == pytest.approx(sum(values) / len(values))
            assert len(values) < N
    evidence = best_trials_by_evidence(seen)
    assert abs(seen.trials[evidence.best].params["x"]) < 2.0

    zombie = next(trial for trial in seen.trials if trial.state == TrialState.RUNNING)
    take_part(seen, Evaluate(-1), 2)
    assert reloaded(url, study).trials[zombie.number].intermediate_values == (
        zombie.intermediate_values
    )
