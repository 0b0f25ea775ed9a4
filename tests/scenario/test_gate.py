"""`racer.gate`: three answers, error rates on these items, baselines that are refused."""

import asyncio
import json
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typed import typed

import racer
from racer.deciders.decider import Blocks, Setting
from racer.deciders.gate import GateRace

MAIN = {f"q{i}": float(i % 5 > 0) for i in range(120)}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "gate.md"
run = partial(typed, "gate")


def decided(d, margin, bounds=(-1.0, 0.0)):
    """Return the answer of the decider on differences of costs, and the calls it took."""
    gate = GateRace(margin=margin, bounds=bounds)
    state = gate.start(Setting(2, np.random.default_rng(0), n_blocks=len(d), bounds=bounds))
    for n, new in enumerate(d, 1):
        blocks = Blocks(np.arange(2), np.array([[min(0.0, -new), min(0.0, new)]]))
        state, verdict = gate.decide(state, blocks)
        if verdict.dropped:
            return ("passes", "worse")[verdict.dropped[0].candidate], n
    raise AssertionError("the last item decides")


def sketched(d, margin, alpha=0.05):
    """Return the calls of the method as it was first tried, in a dozen lines."""
    fractions = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7])[:, None]
    n, x = len(d), -d
    null = (-margin * n - (np.cumsum(x) - x)) / (n - np.arange(n))
    with np.errstate(all="ignore"):  # from where on the others cannot change the answer
        some = [fractions * (x - null) / (1 + null), fractions * (null - x) / (1 - null)]
        logs = np.log1p(np.maximum(some, -1 + 1e-12)).cumsum(axis=2)
        sure = np.exp(logs).mean(axis=1).max(axis=0) >= 1 / alpha
    return min([n, *np.flatnonzero(abs(null) >= 1.0), *np.flatnonzero(sure) + 1])


def check_rates(n_tables, n_items, margins, shifts):
    rng = np.random.default_rng(1)
    for margin in margins:
        for worse_by in shifts:
            wrong, calls, others = 0, 0, 0
            for _ in range(n_tables):
                common = rng.random((n_items, 1))
                z = np.where(rng.random((n_items, 2)) < 0.7, common, rng.random((n_items, 2)))
                right = z < np.array([0.8, 0.8 - worse_by])
                d = right[:, 0] * 1.0 - right[:, 1]
                answer, n = decided(d, margin)
                wrong += answer != ("passes" if d.mean() <= margin + 1e-9 else "worse")
                calls, others = calls + n, others + sketched(d, margin)
            assert wrong <= 0.02 * n_tables
            assert calls <= 1.1 * others


def test_few_answers_are_wrong_about_these_items_and_calls_are_few():
    check_rates(20, 100, [0.05], [0.0, 0.05, 0.2])


@pytest.mark.thorough
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("n_items", [100, 300, 1000])
def test_error_rates_and_calls_of_400_tables(n_items):
    check_rates(400, n_items, [0.02, 0.05, 0.1], [-0.05, 0.0, 0.02, 0.05, 0.1, 0.2])


def test_exact_ties_are_not_taken_for_worse():
    d = np.repeat([1.0, -1.0, 0.0], [12, 12, 16])
    rng = np.random.default_rng(1)
    worse = sum(decided(rng.permutation(d), 0.0)[0] == "worse" for _ in range(100))
    assert worse <= 0.05 * 100


@pytest.mark.parametrize(
    ("new", "answer"), [(MAIN.get, "passes"), (lambda item: 0.0, "worse")], ids=["same", "none"]
)
def test_answers(new, answer):
    result = racer.gate(MAIN, new, margin=0.1, goal="max", seed=1)
    assert (result.answer, result.bounds) == (answer, (0.0, 1.0))
    assert result.evaluations < len(MAIN)
    assert result.low <= result.difference <= result.high
    assert result.to_dict()["answer"] == answer
    assert result.better + result.worse + result.equal == result.evaluations


def test_a_budget_that_is_too_small_leaves_it_undecided():
    result = racer.gate(MAIN, MAIN.get, margin=0.1, goal="max", seed=1, budget=4)
    assert (result.answer, result.evaluations) == ("undecided", 4)


def test_all_items_decide_by_the_mean():
    new = MAIN | {"q1": 0.0, "q2": 0.0}
    how = {"goal": "max", "seed": 1}
    assert racer.gate(MAIN, new.get, margin=2 / 120, **how).answer == "passes"
    result = racer.gate(MAIN, new.get, margin=1 / 120, **how)
    assert (result.answer, result.low, result.high) == ("worse", -2 / 120, -2 / 120)


def test_failures_are_the_worst_scores_and_one_decides_nothing():
    def new(item):
        if item in first:
            raise ValueError("no answer")
        return 1.0

    first = racer.gate(MAIN, MAIN.get, margin=0.05, goal="max", seed=3, budget=2).scores
    result = racer.gate(MAIN, new, margin=0.05, goal="max", seed=3)
    assert result.answer == "passes"
    assert set(result.failures) == set(first)
    assert "2 items failed" in result.to_markdown()
    assert all(f"| {item} " in result.to_markdown() for item in first)


@pytest.mark.parametrize(("factor", "answer"), [(1.0, "passes"), (1.2, "worse")])
def test_scores_without_bounds_by_signs_and_means(factor, answer):
    rng = np.random.default_rng(1)
    main = {f"b{i}": 5 + x for i, x in enumerate(rng.random(100))}
    new = {item: factor * x + 0.1 * rng.normal() for item, x in main.items()}
    result = racer.gate(main, new.get, margin="5%", goal={"seconds": "min"}, seed=1)
    assert (result.answer, result.bounds, result.metric) == (answer, None, "seconds")
    assert result.margin == pytest.approx(0.05 * np.mean([*main.values()]))
    assert result.evaluations < 40
    assert "approximate" in str(result)
    assert result.low < result.difference < result.high


def test_a_mean_beyond_the_margin_does_not_pass_by_signs():
    new = {f"b{i}": 1.0 + 60.0 * (i % 4 == 0) for i in range(200)}
    main = dict.fromkeys(new, 2.0)
    assert racer.gate(main, new.get, margin=0.1, goal="min", seed=1).answer == "worse"


def test_workers_a_store_and_coroutines_give_the_same(tmp_path):
    async def later(item):
        await asyncio.sleep(0)
        return float(item < "q5")

    how = {"margin": 0.02, "goal": "max", "seed": 2}
    expected = racer.gate(MAIN, lambda item: float(item < "q5"), **how).to_dict()
    assert racer.gate(MAIN, lambda i, seed: float(i < "q5"), n_jobs=2, **how).to_dict() == expected
    part = racer.gate(MAIN, later, store=tmp_path / "s.db", n_jobs=3, budget=3, **how)
    assert part.answer == "undecided"
    done = racer.gate(MAIN, later, store=tmp_path / "s.db", n_jobs=3, **how)
    assert done.to_dict() == expected
    with pytest.warns(racer.RacerWarning, match="was begun with"):
        racer.gate(MAIN, MAIN.get, store=tmp_path / "s.db", **how)
    metric, items = how | {"goal": {"f1": "max"}}, {name: name for name in MAIN} | {"q1": "one"}
    for more in ({**metric}, {**how, "items": items}):
        with pytest.raises(racer.StoreError, match="candidate 0 is"):
            racer.gate(MAIN, later, store=tmp_path / "s.db", **more)


def test_a_store_of_racer_is_a_baseline(tmp_path):
    scores = {"a": MAIN, "b": dict.fromkeys(MAIN, 0.0)}
    racer.race(
        *(["a", "b"], lambda name, item, seed: scores[name][item]),
        racer.Instances(list(MAIN), deterministic=True),
        budget=240,
        decider="halving",
        goal="max",
        store=tmp_path / "race.db",
    )
    result = racer.gate(tmp_path / "race.db", MAIN.get, margin=0.1, seed=1)
    assert result.answer == "passes"


@pytest.mark.parametrize(
    ("content", "name", "how", "words"),
    [
        ('{"q1": 1, "q1": 0}', "b.json", {}, "'q1' is there twice"),
        ('{"q1": 1, "q2": null}', "b.json", {}, "no score, a finite number, of 'q2'"),
        ('{"q1": 1, "q3": 1}', "b.json", {"items": ["q1", "q2"]}, "no score of 1 item, 'q2'"),
        ('{"q1": 1}', "b.json", {"items": ["q1", "q1"]}, "more than one is 'q1'"),
        ("item,a,b\nq1,1,0\n", "b.csv", {}, "2 algorithms, 'a', 'b'"),
        ("item,algorithm,error\nq1,a,0.5\n", "b.csv", {}, "smaller scores are better"),
        ('{"q1": 1.5}', "b.json", {"goal": {"f": racer.Metric("max", bounds=(0, 1))}}, "outside"),
        ('{"1": 1}', "b.json", {"items": ["1.5"]}, "no score of 1 item, '1.5'"),
        ('{"q1": 1}', "b.json", {"margin": "two"}, "margin='two'"),
        (
            '{"q1": 1}',
            "b.json",
            {"margin": 2},
            "margin=2: give less than the range of the scores, 1",
        ),
        ('{"q1": 9, "q2": 7}', "b.json", {"margin": "150%"}, "give less than the mean score"),
        ('{"q1": 1}', "b.json", {"goal": None}, "are larger scores better"),
    ],
)
def test_baselines_that_cannot_be_meant_are_refused_in_words(tmp_path, content, name, how, words):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(racer.RacerError, match=re.escape(words)):
        racer.gate(path, MAIN.get, **({"margin": 0.1, "goal": "max"} | how))


def test_the_command_its_exit_codes_and_the_comment(tmp_path):
    (tmp_path / "main.json").write_text(json.dumps(MAIN), encoding="utf-8")
    given = ["--baseline", str(tmp_path / "main.json"), "--margin", "30%", "--maximize"]
    program = ["--", sys.executable, "-c", "print(1)", "{item}"]
    comment = tmp_path / "comment.md"
    assert run(*given, "--comment", str(comment), *program, exits=0).stdout.startswith("Passes")
    assert comment.read_text("utf-8").startswith("### ✅ Passes: not worse by more than 0.3.")
    failing = ["--", "false", "{item}"]
    assert json.loads(run(*given, "--json", *failing, exits=1).stdout)["answer"] == "worse"
    assert run(*given, "--budget", "1", *program, exits=3).stdout.startswith("Undecided")
    (tmp_path / "items").mkdir()
    for name in MAIN:
        (tmp_path / "items" / f"{name}.txt").touch()
    listed = ["--items", str(tmp_path / "items")]
    assert run(*given, *listed, *program, exits=0).stdout.startswith("Passes")
    assert "which program" in run(*given, exits=2).output
    kept = ["-o", str(tmp_path / "gate.db")]
    run(*given, *kept, *program, exits=0)
    assert "the program is" in run(*given, *kept, *failing, exits=1).output
    assert "gate --baseline main.json --margin 2% --maximize --" in run("-h").stdout


def test_the_workflow_of_the_page_runs_the_command(tmp_path, monkeypatch):
    workflow = re.search(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    assert len(workflow.strip().splitlines()) <= 15
    line = re.search(r"run: racer gate (.*)", workflow)[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "true")
    Path("main.json").write_text(json.dumps(MAIN), encoding="utf-8")
    Path("evaluate.py").write_text("print(1)", encoding="utf-8")
    words = [sys.executable if word == "python" else word for word in line.split()]
    run(*words, exits=0)
    assert "Passes" in Path("comment.md").read_text("utf-8")


@pytest.mark.parametrize(("new", "answer"), [(2.0, "passes"), (2.5, "worse"), (2.04, "undecided")])
def test_bench_against_a_baseline(new, answer, monkeypatch):
    from racer.evaluate.command.timing import Timed
    from racer.run import bench

    rng = np.random.default_rng(1)

    def runner(name, program, instances, *, cpu):
        def timed(instance, seed, keep):
            seconds = program * np.exp(0.01 * rng.normal())
            return Timed(seconds, seconds, "", None)

        return timed

    monkeypatch.setattr(bench, "_runner", runner)
    result = racer.bench({"new": new, "main": 2.0}, baseline="main", rounds=30, seed=1)
    assert result.answer == answer
    assert result.table["verdict"].tolist() == ["baseline", answer]
    assert json.loads(result.to_json())["answer"] == answer
    with pytest.raises(racer.SettingError, match="one of two programs"):
        racer.bench({"new": new, "main": 2.0}, baseline="old")
