"""The summary says who won, how surely, and what was saved."""

import io

import pytest
from rich.console import Console

import racer
from racer.report import print_summary


def summary(result, **kwargs):
    out = io.StringIO()
    print_summary(result, Console(file=out, width=100), **kwargs)
    return out.getvalue()


def test_a_decided_race():
    result = racer.race(
        [{"x": 0}, {"x": "[bold]"}, {"x": 2}],
        lambda config, instance, seed: len(str(config["x"])) + instance,
        instances=[0.5, 0.25],
        budget=90,
        seed=1,
    )
    text = summary(result, blocks=100)
    assert f"The best is #{result.best_index}" in text
    assert f"{result.evaluations} evaluations instead of 300" in text
    for candidate in result.survivors:
        assert f"#{candidate}" in text


def test_brackets_in_a_configuration_are_not_markup():
    result = racer.race(["[bold]a[/bold]"], lambda config, instance, seed: 0.0, budget=1)
    assert summary(result).count("[bold]a[/bold]") == 2


def test_failures_are_counted_and_no_winner_is_said():
    def evaluate(config, instance, seed):
        raise (ValueError if config == 1 else TypeError)(config)

    with pytest.warns(racer.RacerWarning, match="set aside"):
        result = racer.race([1, 2], evaluate, budget=100)
    text = summary(result)
    assert "No candidate can be called the best." in text
    assert "10 evaluations failed." in text
    assert "nan" not in text.lower()
