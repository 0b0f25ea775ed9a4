"""What is read has a schema: whatever stands in a store, with the right checksums, no raw error."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import flat
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import changed, executed

import racer
from racer.cli import main
from racer.store import schema

READERS = (["check"], ["show"], ["show", "--json"])
RUNNERS = (["resume", "--yes", "-q", "--budget", "62"],)
KINDS = ("race", "tuning")
SET = "REPLACE INTO settings VALUES (?, ?)"
# what is recorded repeats itself, and the first test of a worker may make it
pytestmark = pytest.mark.filterwarnings("ignore:evaluate seems to ignore its seed")


def evaluate(config, instance, seed):
    return config["x"] + 1


@pytest.fixture(name="stores", scope="module")
def _stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    program = racer.Command(["expr", "{x}", "+", "1"])
    space = racer.Space({"x": racer.Integer(0, 5)})
    given = {"seed": 1, "first_test": 2}
    tuned = {"budget": 60, "store": folder / "tuning.db", **given}
    flat.tune(space, evaluate, [1, 2, 3], **tuned)
    pool = [{"x": 1}, {"x": 2}, {"x": 3}]
    flat.race(pool, evaluate, [1, 2, 3], budget=30, store=folder / "race.db", **given)
    named = {"evaluate": program.identity, "command": program.settings}
    for kind in KINDS:  # as if the program had run so often
        changed(folder / f"{kind}.db", *((SET, name, json.dumps(v)) for name, v in named.items()))
    return folder


def told(path, *commands):
    """Run commands on a store; they end with an exit code, and nothing else."""
    for name, *options in commands:
        CliRunner().invoke(main, [name, str(path), *options], catch_exceptions=False)


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**30, -(10**30), 1e308, 0.5, -1.0]),
    st.sampled_from(["", "x", "\0", "growing", "FRace", "Runtime", "Budget", "nan", "int8"]),
)
TAGS = ("!racer", "!tuple", "!set", "!dict", "!float", "!numpy", "!path", "!object", "!array")
WORDS = ("fields", "argv", "switches", "cwd", "name", "type", "parameters", "low", "limit")
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*TAGS, *WORDS]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value, place=()):
    """Return the paths to all that is within a value."""
    inner = enumerate(value) if isinstance(value, list) else ()
    inner = value.items() if isinstance(value, dict) else inner
    within = [places(v, (*place, k)) for k, v in inner]
    return [place, *(one for some in within for one in some)]


def replaced(value, place, new):
    if not place:
        return new
    copy = value.copy()
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@settings(max_examples=20, deadline=None, suppress_health_check=SLOW, derandomize=True)
@given(data=st.data())
def test_no_setting_candidate_or_instance_raises_a_raw_error(stores, data):
    kind = data.draw(st.sampled_from(KINDS))
    path = stores / "changed.db"
    shutil.copy(stores / f"{kind}.db", path)

    table = data.draw(st.sampled_from(["settings"] * 4 + ["candidates", "instances"]))
    rows = dict(executed(path, f"SELECT * FROM {table}"))
    name = data.draw(st.sampled_from(sorted(rows.keys() - {"checksum"})))
    old = json.loads(rows[name])
    place = data.draw(st.sampled_from(places(old)))
    new = json.dumps(replaced(old, place, data.draw(VALUES)))
    changed(path, (SET.replace("settings", table), name, new))
    told(path, *READERS, *RUNNERS)


@pytest.mark.filterwarnings("ignore::racer.RacerWarning")
@settings(max_examples=15, deadline=None, suppress_health_check=SLOW, derandomize=True)
@given(kind=st.sampled_from(KINDS), dropped=VALUES, evidence=VALUES, best=st.integers(-2, 9))
def test_nor_does_a_verdict_or_an_ending(stores, kind, dropped, evidence, best):
    path = stores / "changed.db"
    shutil.copy(stores / f"{kind}.db", path)
    texts = json.dumps(dropped), json.dumps(evidence)
    with closing(sqlite3.connect(path)) as connection:
        for table, row in (
            ("verdicts", schema.VerdictRow(2, best, *texts)),
            ("ending", schema.Ending("budget" if best > 3 else "what?", *texts)),
        ):
            values = (*row, schema.checksum(row))
            connection.execute(f"DELETE FROM {table} WHERE rowid < 4 OR 1 = {best}")
            marks = ", ".join("?" * len(values))
            connection.execute(f"REPLACE INTO {table} VALUES ({marks})", values)
        connection.commit()
    told(path, *READERS, *RUNNERS)


LEFT = {"!racer": "BradleyTerryRace", "fields": {}}
SAID = [
    ("command", 5, "its command makes no sense"),
    ("command", [], "its command makes no sense"),
    ("command", {}, "its command makes no sense"),
    ("kind", [], "a contest of the kind"),
    ("runtime", 5, "its runtime makes no sense"),
    ("retries", "x", "its retries makes no sense"),
    ("decider", LEFT, "its decider is a BradleyTerryRace, which racer .* go on with racer"),
    ("seed", -1, "no race can be made of its settings"),
]


@pytest.mark.parametrize(("name", "value", "says"), SAID)
def test_a_setting_that_makes_no_sense_is_named(stores, name, value, says):
    path = stores / "changed.db"
    shutil.copy(stores / "tuning.db", path)
    changed(path, (SET, name, json.dumps(value)))
    with pytest.raises(racer.StoreError, match=says):
        racer.load(path)
