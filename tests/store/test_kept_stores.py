"""One store of each kind and version is kept: it opens, replays and resumes bit for bit."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing

import pytest
from kept_stores import CONTESTS, KEPT, content
from stored import counted_anew

import racer
from racer.store.load import check_store

FILES = sorted(KEPT.glob("*/*.db"))
WHAT_IS_LOST = {  # quick tests lose a part
    "nothing": "0",
    "every other block, and all but the first candidates": "candidate > 1 OR block % 2",
    "all outcomes": "1",
}

pytestmark = [
    pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning"),
    pytest.mark.filterwarnings("ignore:the race in .* was begun by racer:racer.RacerWarning"),
]


@pytest.fixture(name="kept", params=FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def _kept(request, tmp_path):
    """Give a copy of a store, beside copies of the others of its version."""
    for path in request.param.parent.glob("*.db"):
        shutil.copyfile(path, tmp_path / path.name)
    return tmp_path / request.param.name


def rounded(tables):
    """Return the rows, with six digits of each probability: the last differ by machine."""

    def short(probability):
        return f"{float(probability[1]):.6g}"

    return {
        table: [re.sub(r'(?<="probability": )([\d.e-]+)', short, repr(row)) for row in rows]
        for table, rows in tables.items()
    }


def test_there_is_one_of_each_kind_and_version():
    versions = {path.parent.name for path in FILES}
    assert versions
    assert {(path.parent.name, path.stem) for path in FILES} == {
        (version, name) for version in versions for name in CONTESTS
    }
    assert sum(path.stat().st_size for path in FILES) < 200_000 * len(versions)


def test_it_is_sound_and_only_read(kept):
    before = kept.read_bytes()
    assert check_store(kept).problems == []
    result = racer.load(kept)
    tables = content(kept)
    assert result.ended == tables["ending"][0][0]
    assert len(result.known) == len({row[0] for row in tables["outcomes"] if not row[-2]})
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    "lost",
    [pytest.param(x, marks=[pytest.mark.thorough] * ("other" not in x)) for x in WHAT_IS_LOST],
)
def test_it_is_resumed_bit_for_bit_whatever_is_lost_of_it(kept, lost):
    expected = rounded(content(kept))
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute(f"DELETE FROM outcomes WHERE {WHAT_IS_LOST[lost]}")
        concluded = ["verdicts", "ending", *(["candidates"] if kept.stem == "tuning" else [])]
        for table in concluded if lost != "nothing" else ():
            connection.execute(f"DELETE FROM {table}")
        counted_anew(connection)
    CONTESTS[kept.stem](kept.parent)
    assert rounded(content(kept)) == expected
    assert check_store(kept).problems == []
