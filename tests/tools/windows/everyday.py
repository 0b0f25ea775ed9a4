"""What has to work on every system: import, race, tune, compare, stores, resuming, refusals."""

import importlib
import json
import pkgutil
import sys
import warnings
from pathlib import Path

from click.testing import CliRunner

import racer
from racer.cli import main
from racer.comparison import example_scores


def evaluate(config, instance, seed):
    return (config["x"] - 1) ** 2 + 0.01 * instance + 0.01 * (seed % 7)


def everyday(folder):
    """Do it all in a folder; return what came out, in plain data."""
    candidates = [{"x": i / 8} for i in range(16)]
    space = racer.Space({"x": racer.Real(0, 2)})
    found = {}
    for n_jobs in (1, 2):
        store = f"{folder}/race{n_jobs}.db"
        kept = {"n_jobs": n_jobs, "seed": 1, "store": store}
        race = racer.race(candidates, evaluate, range(6), budget=96, **kept)
        found[f"race {n_jobs}"] = race.eliminations.to_csv()
        found[f"resumed {n_jobs}"] = racer.resume(store, evaluate).best
    store = f"{folder}/tune.db"
    for budget in (60, 80):
        tuned = racer.tune(space, evaluate, range(5), budget=budget, seed=1, store=store)
        found[f"tune {budget}"] = tuned.best
    found["loaded"] = racer.load(store).best
    out = f"{folder}/scores.csv"
    example_scores().to_csv(out)
    for line in (
        ["check", store],
        ["show", store, "--configurations", f"{folder}/best.txt"],
        ["show", store, "--csv", f"{folder}/tables"],
        ["compare", out, "--maximize"],
    ):
        done = CliRunner().invoke(main, line)
        assert done.exit_code == 0, done.output
    found["files"] = sorted(path.name for path in Path(folder, "tables").iterdir())
    found["best"] = Path(folder, "best.txt").read_text(encoding="utf-8")
    found["compare"] = racer.compare(example_scores(), goal="max", seed=1).prose()
    return found


def refusals():
    """Return the errors of what needs Unix; an empty text where it works."""
    found = {}
    for name, given in {
        "timeout": {"limits": racer.Limits(5)},
        "memory": {"limits": racer.Limits(memory=2**30)},
        "runtime": {"goal": racer.Runtime(2.0)},
    }.items():
        found[name] = _error(
            lambda given=given: racer.race([{"x": 1}], evaluate, budget=5, **given)
        )
    found["Command"] = _error(lambda: racer.Command([sys.executable, "{x}"]))
    found["bench"] = _error(lambda: racer.bench([[sys.executable, "-V"], [sys.executable, "-VV"]]))
    return found


def _error(call):
    try:
        call()
    except racer.RacerError as error:
        return str(error)
    return ""


def _import_all():
    for module in pkgutil.walk_packages(racer.__path__, "racer."):
        if module.name != "racer.__main__" and not module.name.startswith("racer.integrations."):
            importlib.import_module(module.name)


if __name__ == "__main__":
    warnings.filterwarnings("error", category=EncodingWarning, module=r"racer\b")
    _import_all()
    found = [everyday(folder) for folder in sys.argv[1:]]
    json.dump({"found": found, "refusals": refusals()}, sys.stdout)
