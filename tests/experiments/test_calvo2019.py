"""Runs of real optimisers, and the analyses of Calvo et al. (GECCO 2019) on them."""

import numpy as np
import pytest
from typed import typed

from experiments.calvo2019 import analyses, runs, tables
from experiments.calvo2019.optimisers import OPTIMISERS, SOLVED, best_so_far
from experiments.report import read
from racer.cli.demo.problems import FUNCTIONS, Problem
from racer.stats import plackett_luce

RESULTS = runs.RUNS.parent / "results.csv"


@pytest.fixture(scope="module")
def rows():
    return read(runs.RUNS)


@pytest.fixture(scope="module")
def results():
    return read(RESULTS)


class TestOptimisers:
    @pytest.mark.parametrize("name", OPTIMISERS)
    def test_every_evaluation_counts_and_a_longer_run_contains_the_shorter(self, name):
        problem = Problem("griewank", 3, 0)
        best = best_so_far(name, problem, 300, seed=1)
        assert best.shape == (300,)
        assert (np.diff(best) <= 0.0).all()
        assert best[-1] < best[0]
        np.testing.assert_array_equal(best_so_far(name, problem, 120, seed=1), best[:120])
        assert (best_so_far(name, problem, 120, seed=2) != best[:120]).any()

    @pytest.mark.parametrize("name", ["l-bfgs-b", "basin-hopping", "dual-annealing"])
    def test_a_solved_problem_ends_the_run(self, name):
        best = best_so_far(name, Problem("ellipsoid", 2, 0), 3000, seed=1)
        assert best[-1] == SOLVED
        assert (best >= SOLVED).all()

    def test_random_search_is_the_least_of_uniform_points(self):
        """By simulation of the function itself, with another generator."""
        problem = Problem("rastrigin", 2, 0)
        ours = [best_so_far("random-search", problem, 40, seed)[-1] for seed in range(150)]
        points = np.random.default_rng(5).uniform(-5, 5, (2, 40 * 150))
        expected = problem(points).reshape(150, 40).min(axis=1)
        error = np.hypot(np.std(ours), np.std(expected)) / np.sqrt(150)
        assert abs(np.mean(ours) - np.mean(expected)) < 3 * error


class TestRuns:
    def test_all_have_been_run(self, rows):
        assert len(rows) == len(FUNCTIONS) * runs.INSTANCES * len(OPTIMISERS)
        for table in runs.fixed_budget(rows).values():
            assert table.shape == (55, 7)
            assert np.isfinite(table).all()

    def test_more_budget_is_never_worse(self, rows):
        tables = np.array(list(runs.fixed_budget(rows).values()))
        assert (np.diff(tables, axis=0) <= 0.0).all()

    @pytest.mark.parametrize("target", runs.TARGETS)
    def test_targets_are_hit_when_the_budgets_say(self, rows, target):
        for function in FUNCTIONS:
            hits = runs.fixed_target(rows, function, target)
            for budget, reached in runs.fixed_budget(rows, [function]).items():
                np.testing.assert_array_equal(hits <= budget, reached <= target)

    @pytest.mark.parametrize("name", ["random-search", "nelder-mead"])
    def test_the_file_is_what_the_optimisers_do(self, rows, name):
        """Those whose arithmetic is plain enough to be the same everywhere: the first digits."""
        best = best_so_far(name, Problem("rastrigin", 5, 3), 200, seed=1)
        (row,) = (
            row
            for row in rows
            if (row["function"], row["instance"], row["optimiser"]) == ("rastrigin", "3", name)
        )
        for budget in (50, 100, 200):
            assert float(row[f"best_{budget}"]) == pytest.approx(best[budget - 1], rel=1e-4)


class TestPriors:
    COSTS = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0]])

    def test_parts_and_weight(self):
        found = analyses.priors(self.COSTS, 2.0)
        assert found["uniform"].tolist() == [2.0, 2.0, 2.0]
        assert found["empirical"].tolist() == [3.0, 2.0, 1.0]
        assert found["deceptive"].tolist() == [1.0, 2.0, 3.0]

    def test_a_prior_moves_the_answer_its_way(self, rows):
        frame = analyses.prior_sensitivity(rows, "ackley", 0.01, (1.0, 20.0), 2000, 1)
        leader = frame[(frame.prior == "uniform") & (frame.strength == 1.0)].algorithm.iloc[0]
        by_prior = frame[frame.algorithm == leader].set_index(["prior", "strength"]).estimate
        assert by_prior["empirical", 20.0] > by_prior["uniform", 20.0]
        assert by_prior["deceptive", 20.0] < by_prior["uniform", 20.0]
        name, shift = analyses.largest_shift(frame, "deceptive", 20.0)
        assert abs(shift) >= abs(by_prior["deceptive", 20.0] - by_prior["uniform", 1.0])
        assert name in runs.NAMES


class TestWhatTheReadmeSays:
    def test_the_file_of_results_is_of_the_file_of_runs(self, rows, results):
        costs = runs.fixed_target(rows, "rosenbrock", 0.01)
        mean = plackett_luce(costs, draws=20_000, seed=9).weights.mean(axis=0)
        for row in results:
            key = row["analysis"], row["function"], row["prior"], row["strength"]
            if key == ("target 0.01", "rosenbrock", "uniform", "1"):
                place = runs.NAMES.index(row["algorithm"])
                assert float(row["estimate"]) == pytest.approx(mean[place], abs=0.01)

    def test_who_leads_depends_on_the_budget(self, results):
        leaders = {}
        for row in results:
            if row["analysis"] == "budget":
                found = leaders.setdefault((row["function"], int(row["budget"])), ("", 0.0))
                if float(row["estimate"]) > found[1]:
                    leaders[row["function"], int(row["budget"])] = (
                        row["algorithm"],
                        float(row["estimate"]),
                    )
        for budget in (50, 100, 200, 500):
            assert leaders["all", budget][0] == "dual-annealing"
        for budget in (1000, 2000, 5000):
            assert leaders["all", budget][0] == "basin-hopping"
        for budget in (100, 200, 500):
            assert leaders["ackley", budget][0] == "powell"
        assert max(share for (name, _), (_, share) in leaders.items() if name == "all") < 0.5

    @pytest.mark.parametrize("function", ["rosenbrock", "ackley"])
    def test_a_prior_of_weight_one_moves_little(self, results, function):
        by_prior = {}
        for row in results:
            if row["analysis"] == "target 0.01" and row["function"] == function:
                key = row["prior"], row["strength"]
                by_prior.setdefault(key, {})[row["algorithm"]] = float(row["estimate"])
        uniform = by_prior["uniform", "1"]
        (earlier,) = (value for (name, _), value in by_prior.items() if name == "earlier")

        def furthest(other):
            return max(abs(other[name] - uniform[name]) for name in uniform)

        assert furthest(by_prior["empirical", "1"]) < 0.03
        assert furthest(by_prior["deceptive", "1"]) < 0.03
        assert furthest(earlier) < 0.02
        assert 0.15 < furthest(by_prior["deceptive", "5"]) < 0.22

    def test_tables_of_the_readme_are_the_results(self, results):
        readme = (RESULTS.parent / "README.md").read_text(encoding="utf-8")
        for row in results:
            cell = f"{float(row['estimate']):.2f} ({float(row['low']):.2f}, "
            assert cell in readme


def test_the_command_makes_runs_and_analyses_them(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "INSTANCES", 3)
    made, found = tmp_path / "runs.csv", tmp_path / "results.csv"
    words = ("--generate", "--runs", made, "--evaluations", 30, "--jobs", 1, "--draws", 200)
    result = typed(*words, "--csv", found, command=tables.main, exits=0)
    assert len(read(made)) == 5 * 3 * 7
    assert len(read(found)) == 3 * 7 * 7 + 2 * 7 * 7
    assert "First to reach 0.01: ackley" in result.output


def test_runs_that_are_not_there(tmp_path):
    result = typed("--runs", tmp_path / "none.csv", command=tables.main, exits=2)
    assert "--generate makes it" in " ".join(result.output.split())
