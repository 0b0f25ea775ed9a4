"""The sweeper in Hydra: its own plug-in suites, and races whose jobs are counted."""

import os
import subprocess
import sys
from types import SimpleNamespace

import door_pages
import pytest

import racer

pytest.importorskip("hydra")

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.sweeper import Sweeper
from hydra.test_utils import launcher_common_tests as suites
from omegaconf import OmegaConf

from racer.integrations import hydra_sweeps

pytestmark = pytest.mark.filterwarnings("ignore:\\s*Future Hydra versions:UserWarning")
OURS = "hydra/sweeper=racer"
FEW = {"budget": 4, "decider": "halving", "first_test": 1}  # Hydra takes .1 s for a job


def test_hydra_finds_the_sweeper():
    assert "RacerSweeper" in [found.__name__ for found in Plugins.instance().discover(Sweeper)]


@pytest.mark.parametrize(("launcher_name", "overrides"), [("basic", [OURS])])
class TestSuite(suites.LauncherTestSuite):
    pass


@pytest.mark.parametrize(
    ("launcher_name", "overrides"), [("basic", [OURS, "hydra.sweeper.max_batch_size=2"])]
)
class TestBatches(suites.BatchedSweeperTestSuite):
    pass


@pytest.mark.parametrize(
    ("task_launcher_cfg", "extra_flags"), [({}, ["-m", "hydra/launcher=basic", OURS])]
)
class TestIntegration(suites.IntegrationTestSuite):
    pass


def sweep(hydra_sweep_runner, task, overrides, folder):
    """Run a multirun of a task; return its jobs and what it found."""
    run = hydra_sweep_runner(
        calling_file=None,
        calling_module="hydra.test_utils.a_module",
        task_function=task,
        config_path="configs",
        config_name="compose.yaml",
        overrides=[OURS, *overrides],
        temp_dir=folder,
    )
    with run:
        found = OmegaConf.load(f"{folder}/optimization_results.yaml")
        return [job for batch in run.returns for job in batch], found


def settings(**given):
    return [f"hydra.sweeper.{name}={value}" for name, value in given.items()]


def test_combinations_race_on_instances_with_seeds(hydra_sweep_runner, tmp_path):
    rules = {"budget": 24, "first_test": 3, "seed": 1}
    given = settings(**rules, instances="{bar: 'range(7)'}", seed_key="+seed")
    jobs, found = sweep(hydra_sweep_runner, cost, ["+x=1,2,3", *given], tmp_path)
    race = racer.Race.of([{"+x": x} for x in "123"], [[f"bar={bar}"] for bar in range(7)], **rules)
    expected = []
    while cells := race.ask():
        for cell in cells:
            lines = [f"+x={cell.config['+x']}", *cell.instance, f"+seed={cell.seed}"]
            expected.append(lines)
            config = {
                line.partition("=")[0].strip("+"): int(line.partition("=")[2]) for line in lines
            }
            race.tell(cell, racer.Outcome("ok", cost(SimpleNamespace(**config))))
    assert [list(job.overrides) for job in jobs] == expected
    assert found == {
        "name": "racer",
        "best_params": {"+x": "3"},
        "best_value": race.result().mean(2),
    }
    assert [job.hydra_cfg.hydra.job.num for job in jobs] == list(range(len(jobs)))


def cost(cfg):
    return float((cfg.x - 3) ** 2 + cfg.bar + cfg.seed % 7 / 10)


@pytest.mark.parametrize("first_test", [1, 2])
def test_a_grid_larger_than_the_budget_is_tuned(first_test):
    (swept,) = OverridesParser.create().parse_overrides(["x=range(10)"])
    given = {"instances": None, "budget": 4, "first_test": first_test}
    assert isinstance(hydra_sweeps.contest_of({"x": swept}, **given), racer.Tuner)
    race = hydra_sweeps.contest_of({"x": swept}, **(given | {"budget": 10 * first_test}))
    assert len(race.configs) == 10


def test_an_interval_is_tuned(hydra_sweep_runner, tmp_path):
    params = "{+x: 'interval(-5.0, 5)', +k: 'tag(log, int(interval(1, 100)))', +kind: 'b,a'}"

    def task(cfg):
        assert type(cfg.k) is int
        return abs(cfg.x - 3) + cfg.k / 100 + (cfg.kind == "b")

    given = settings(budget=12, params=params, seed=1)
    jobs, found = sweep(hydra_sweep_runner, task, given, tmp_path)
    assert len(jobs) == 12
    assert abs(found.best_params["+x"] - 3) < 2
    assert found.best_params["+kind"] == "a"


def test_a_job_that_fails_is_a_failed_evaluation(hydra_sweep_runner, tmp_path, capsys):
    def task(cfg):
        if cfg.x == 1:
            raise ValueError("no such model")
        return cfg.x

    _, found = sweep(hydra_sweep_runner, task, ["+x=1,2", *settings(**FEW)], tmp_path)
    assert found.best_params == {"+x": "2"}
    text = " ".join(capsys.readouterr().out.split())
    assert " of 4 evaluations, " in text
    assert " s. Repeat" not in text  # Hydra tells no time of jobs


def test_null_is_none(hydra_sweep_runner, tmp_path):
    def task(cfg):
        assert (cfg.none, cfg.on, cfg.text) == (None, True, "b c")
        return cfg.x

    given = settings(**FEW, params="{+none: null, +on: true, +text: b c}")
    _, found = sweep(hydra_sweep_runner, task, ["+x=1,2", *given], tmp_path)
    assert found.best_params == {"+x": "1"}


def test_metrics_are_maximized(hydra_sweep_runner, tmp_path):
    given = settings(**FEW, metrics="{right: max}", seed=1)
    _, found = sweep(hydra_sweep_runner, lambda cfg: {"right": cfg.x}, ["+x=1,2", *given], tmp_path)
    assert found.best_params == {"+x": "2"}


def test_an_interval_needs_a_budget(hydra_sweep_runner, tmp_path):
    with pytest.raises(HydraException, match=r"interval\(0,1\): give a budget"):
        sweep(hydra_sweep_runner, cost, ["+x=interval(0,1)"], tmp_path)


@pytest.mark.parametrize("wrong", [{"budget": "many"}, {"max_batch_size": 0}])
def test_wrong_settings_are_refused(hydra_sweep_runner, tmp_path, wrong):
    (name,) = wrong
    with pytest.raises((racer.RacerError, HydraException), match=f"{name}=.*give a whole number"):
        sweep(hydra_sweep_runner, cost, ["+x=1,2", *settings(**wrong)], tmp_path)


@pytest.mark.parametrize(
    ("line", "given", "says"),
    [
        ("+bar=1,2", {"instances": "{+bar: 'range(7)'}"}, r"instances and the override \+bar=1,2 "),
        ("++bar=3", {"instances": "{+bar: 'range(7)'}"}, r"the override \+\+bar=3 both give bar"),
        (
            "++x=3",
            {"params": "{+x: '1,2'}"},
            r"override \+\+x=3 and the override \+x=1,2 both give x",
        ),
        ("+s=1,2", {"seed_key": "++s"}, r"seed_key and the override \+s=1,2 both give s: leave"),
        ("+x=1,2", {"instances": "{s: '1,2'}", "seed_key": "s"}, "seed_key and instances both"),
        ("+x=1,2", {"instances": "{s: [1, 2]}"}, r's is a list.* s: "choice\(1, 2\)"'),
        ("+x=1,2", {"seed_key": "s", "budget": "null"}, "seed_key=s: without a budget"),
    ],
)
def test_keys_with_two_values_are_refused(hydra_sweep_runner, tmp_path, line, given, says):
    with pytest.raises(HydraException, match=says):
        sweep(hydra_sweep_runner, None, [line, *settings(**({"budget": 40} | given))], tmp_path)


KILLED = """
import os, pathlib, hydra


@hydra.main(version_base="1.3", config_path=None, config_name=None)
def train(cfg):
    begun = pathlib.Path("begun")
    begun.mkdir(exist_ok=True)
    name = "_".join(hydra.core.hydra_config.HydraConfig.get().overrides.task)
    if len([*begun.iterdir()]) == int(os.environ["KILL_AT"]):
        os.environ["KILL_AT"] = "-1"
        os._exit(9)
    (begun / name).touch(exist_ok=False)  # no job begins again that came so far
    return (int(cfg.x) - 2) ** 2 + cfg.seed % 7


train()
"""


def test_killed_at_each_of_12_jobs_it_goes_on_without_starting_one_again(tmp_path):
    (tmp_path / "train.py").write_text(KILLED)
    sweeper = {"budget": 12, "seed_key": "+seed", "store": "jobs", "decider": "halving"}
    given = [f"hydra.sweeper.{name}={value}" for name, value in sweeper.items()]
    command = [sys.executable, "train.py", "--multirun", OURS, "+x=1,2", *given]
    for kill_at in [*range(12), -1]:
        env = os.environ | {"KILL_AT": str(kill_at)}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, env=env)
        assert done.returncode == (9 if kill_at >= 0 else 0), done.stderr
        assert len([*(tmp_path / "begun").iterdir()]) == (kill_at if kill_at >= 0 else 12)
    other = subprocess.run(
        [*command, "+y=1"], cwd=tmp_path, capture_output=True, check=False, env=env
    )
    assert b"holds another sweep" in other.stderr


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_the_page(tmp_path, launcher):
    if launcher != "basic":
        pytest.importorskip(f"hydra_plugins.hydra_{launcher}_launcher")
    for language, name in (("py", "train.py"), ("yaml", "config.yaml")):
        (text,) = door_pages.blocks(language, page="hydra.md")
        (tmp_path / name).write_text(text)
    command = [sys.executable, "train.py", "--multirun", f"hydra/launcher={launcher}"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (shown,) = door_pages.blocks("text", page="hydra.md")
    assert (tmp_path / "found/optimization_results.yaml").read_text() == shown


def test_a_run_without_a_sweep_loads_nothing_heavy():
    code = "import hydra_plugins.racer_sweeper, sys; assert not {'numpy', 'scipy'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("sweep", "parameter"),
    [
        ("range(1, 4)", racer.Ordinal(["1", "2", "3"])),
        ("shuffle(1, 2)", racer.Categorical),
        ("choice(a, 'b c')", racer.Categorical(["a", "b\\ c"])),
        ("tag(ordered, choice(16, 32))", racer.Ordinal(["16", "32"])),
        ("tag(log, interval(0.1, 10))", racer.Real(0.1, 10.0, log=True)),
        ("interval(1, 10)", racer.Real(1.0, 10.0)),
        ("int(interval(1, 10))", racer.Integer(1, 10)),
    ],
)
def test_a_sweep_is_a_parameter(sweep, parameter):
    found = hydra_sweeps.parameter(OverridesParser.create().parse_override(f"x={sweep}"))
    assert found == parameter or type(found) is parameter
