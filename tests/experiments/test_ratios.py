"""`bench.py engine --at-most`: what is too slow is named."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from experiments.bench.engine import main, refuse_slower


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
