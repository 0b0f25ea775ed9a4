"""The script that compares deciders as those of a tuner."""

from click.testing import CliRunner

from experiments.tuner.deciders import main


def test_deciders_are_compared_on_the_same_problems():
    arguments = ["--seeds", "2", "--budget", "200", "--deciders", "best-for-budget"]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    first, other = result.output.splitlines()[2:4]
    assert first.count("| 0.00 ± 0.00 ") == 4
    assert other.startswith("| `best-for-budget` ")
