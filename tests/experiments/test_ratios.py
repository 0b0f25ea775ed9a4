"""`bench.py engine`: what is too slow is named, and any decider of one number is timed."""

from contextlib import nullcontext

import click
import pytest
from click.testing import CliRunner
from inline_pool import InlinePool

from experiments.bench import engine
from experiments.bench.engine import PAIRED, all_stay, as_raced, main, refuse_slower
from experiments.deciders import OF_ONE_NUMBER


def test_ratios_above_the_largest_allowed_are_refused_by_name():
    ratios = {"f-race, 10": 1.05, "f-race, 100": 1.31, "tuning": 1.3}
    refuse_slower(ratios, None)
    refuse_slower(ratios, 1.31)
    with pytest.raises(click.ClickException) as caught:
        refuse_slower(ratios, 1.3)
    assert caught.value.message == "ratios above 1.3:\n  f-race, 100: 1.31"


def test_there_is_no_ratio_without_another_checkout():
    found = CliRunner().invoke(main, ["--at-most", "1.3"])
    assert (found.exit_code, "--against or --growth" in found.output) == (2, True)


@pytest.mark.parametrize("name", OF_ONE_NUMBER)
def test_any_decider_of_one_number_is_timed(name):
    assert all_stay(name, 4, 24) == 24
    assert as_raced(name, 4, 24) > 0


def test_growth_is_of_candidates_and_of_blocks(monkeypatch):
    asked = []

    def grown(name, m, blocks, each_test):
        asked.append((name, m, blocks, each_test))
        return float(m + blocks), 1.0

    monkeypatch.setattr(engine, "ProcessPoolExecutor", lambda *_, **__: nullcontext(InlinePool))
    monkeypatch.setattr(engine, "_grown", grown)
    words = ["--growth", "--decider", "mean", "--decider", "f-race", "--at-most"]
    found = CliRunner().invoke(main, [*words, "9"])
    assert found.exit_code == 1
    slower = [
        f"{name}, {of}"
        for name in ("mean", "f-race")
        for of in ("candidates: 8.50", "blocks: 9.18")
    ]
    assert found.output.splitlines()[-2:] == [f"  {line}" for line in slower if "blocks" in line]
    assert CliRunner().invoke(main, [*words, "9.2"]).exit_code == 0
    largest = {name: max(m for one, m, *_ in asked if one == name) for name in ("mean", "f-race")}
    assert largest == {"mean": 1000, "f-race": 10_000}
    assert "mean" in PAIRED
    assert {each for *_, blocks, each in asked if blocks == 1000} == {1, "growing"}
