"""Every call of the page "The papers, item by item" gives what is recorded there."""

import re

import pytest

from experiments.papers.items import ITEMS, judged, names
from experiments.report import read

ROWS = read(ITEMS)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def known():
    return names()


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['paper']} {row['item']}" for row in ROWS])
def test_an_item_is_as_recorded(row, known):
    found = judged(row, known)
    assert found["status"] == row["status"]
    assert NUMBER.sub("", found["found"]) == NUMBER.sub("", row["found"])
    numbers = [list(map(float, NUMBER.findall(text))) for text in (found["found"], row["found"])]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=1e-9)
    assert row["note"] or row["status"] in ("holds", "there")
