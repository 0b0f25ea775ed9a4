"""Hostile values in command lines: argv only, one substitution pass, nothing expanded twice."""

from __future__ import annotations

import json
import sys

import flat
import pytest

import racer
from racer.evaluate.workers import outcomes_of, workers_for

HOSTILE = [
    "two words",
    " blanks around ",
    "it's",
    'say "no"',
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned;",
    "| touch pwned && touch pwned & ",
    "> pwned < /dev/null",
    "line\nbreak\r\n\ttab",
    "-rf",
    "{seed}",
    "{{instance}} {parameters} {0} {x!r} %s %(seed)s ${HOME} $HOME",
    "snö ☃ 🏁",
    "",
    "* ? [a-z] ~ ! # \\ \\n",
    "\x01\x1b[31m\x7f",
]
TELL = """
import json, os, sys
with open(sys.argv[1], "a", encoding="utf-8") as file:
    file.write(json.dumps(sys.argv[2:]) + "\\n")
print(1.5)
"""


PAIRS = [*zip(HOSTILE[::2], [*HOSTILE[1::2], HOSTILE[0]], strict=True)]  # each is a value once


@pytest.mark.parametrize("settings", [{}, {"limits": racer.Limits(600), "n_jobs": 2}], ids=str)
def test_they_arrive_intact(tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    told = tmp_path / "told"
    tell = [sys.executable, "-I", "-S", "-c", TELL, str(told)]  # no site: it starts faster
    argv = [*tell, "{x}", "-{x}-{x}", "{instance}", "{parameters}"]
    evaluate = racer.Command(argv, switches={"z": "-z "})
    result = flat.race(
        [{"x": x, "y": y, "z": x} for x, y in PAIRS],
        evaluate,
        HOSTILE[::-1],
        budget=len(PAIRS) * 2,
        first_test=2,
        seed=1,
        **settings,
    )
    assert result.failures.empty
    expected = [
        [x, f"-{x}-{x}", instance, f"--y={y}", "-z", x]
        for instance in HOSTILE[:-3:-1]
        for x, y in PAIRS
    ]
    lines = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    assert sorted(lines) == sorted(expected)
    assert [path.name for path in tmp_path.iterdir()] == ["told"]


def test_bytes_that_are_no_text_arrive_too(tmp_path):
    code = "import os, sys; print(len(os.fsencode(sys.argv[1])))"
    assert racer.Command([sys.executable, "-c", code, "{x}"])({"x": "\udcff\udc80"}, None, 0) == 2


@pytest.mark.parametrize("settings", [{}, {"limits": racer.Limits(600)}], ids=str)
def test_what_no_argument_can_hold_is_a_failure_with_its_name(settings):
    """Where the race has not looked at it before it began: in a partial, say."""
    command = racer.Command([sys.executable, "-c", "print(1)", "{x}"])

    def evaluate(config, instance, seed):
        return command(config, instance, seed)

    pool = [{"x": "a\0b"}, {"x": "\ud800"}, {"x": "x" * 2**22}, {"x": "fine"}]
    cells = [racer.Cell(0, c, config, None, 1) for c, config in enumerate(pool)]
    with workers_for(evaluate, pool, None, **settings) as workers:
        outcomes = {cell.candidate: outcome for cell, outcome in outcomes_of(workers, cells)}
    assert [outcomes[c].status for c in range(4)] == ["failed", "failed", "failed", "ok"]
    assert "parameter 'x' is 'a\\x00b': no argument can hold a NUL" in outcomes[0].message
    assert "parameter 'x' is '\\ud800', which is not text" in outcomes[1].message
    assert "cannot be started ([Errno 7] Argument list too long" in outcomes[2].message
    assert len(outcomes[2].message) < 3000
