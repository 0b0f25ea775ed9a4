"""The script that compares deciders as those of a tuner."""

from click.testing import CliRunner

from experiments.tuner.deciders import main


def test_deciders_are_compared_on_the_same_problems(tmp_path):
    arguments = ["--seeds", "2", "--budgets", "200", "--problems", "sphere", "--instances", "8"]
    path = tmp_path / "found.csv"
    result = CliRunner().invoke(main, [*arguments, "--csv", str(path)], catch_exceptions=False)
    head, _, line = result.output.splitlines()[:3]
    assert [cell.strip() for cell in head.split("|")[3:5]] == [
        "best-for-budget",
        "bayesian-friedman",
    ]
    assert line.startswith("| sphere ")
    assert len(path.read_text(encoding="utf-8").splitlines()) == 5
