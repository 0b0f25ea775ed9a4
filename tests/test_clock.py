"""Tests wait for events: one that sleeps, or reads a clock, says why nothing else can do."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
FILES = [path for path in TESTS.rglob("*.py") if path != Path(__file__).resolve()]
# in programs that tests write, too; in an event loop whose clock jumps, nothing waits
SLEEP = re.compile(r"(?<!def )\bsleep(\(|\W{1,4}\d)")
IN_A_LOOP = re.compile(r"\basyncio\.sleep\((0\))?")
TOOK = re.compile(r"\.(seconds|wall|cpu|busy)\b(?!\()")
CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}


def unexplained(source):
    """Return the numbers of lines that sleep or read a clock without a comment on or just above."""
    lines, numbers = source.splitlines(), set(clock_lines(parsed(source)))
    jumps = "instant_loop" in source
    for number, line in enumerate(lines, 1):
        rest = IN_A_LOOP.sub(lambda found: "" if jumps or found[1] else found[0], line)
        if SLEEP.search(rest):
            numbers.add(number)
    return [n for n in sorted(numbers) if not any("#" in line for line in lines[max(n - 3, 0) : n])]


def parsed(source):
    """Return the tree of a module that may read a clock, else an empty one."""
    return ast.parse(source if re.search(r"\btime\.[mpt]", source) else "")


def clock_lines(tree):
    """Yield the line numbers of calls that read a clock."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr.removesuffix("_ns")
            if name in CLOCKS and getattr(node.func.value, "id", "") == "time":
                yield node.lineno


def asserted(source):
    """Return the numbers of lines that assert what a clock says, or what was computed from it."""
    tree = parsed(source)
    assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    read = {ast.unparse(a.targets[0]) for a in assigned if any(clock_lines(a.value))}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        and (any(clock_lines(node)) or read & {ast.unparse(name) for name in ast.walk(node.test)})
    ]


def measured(source):
    """Return the numbers of lines that assert how long something took, without a comment on or above.

    Seconds that the test itself has told, or a clock of its own, are as good as any number.
    """
    lines = source.splitlines()
    return [
        node.lineno
        for node in (ast.walk(ast.parse(source)) if TOOK.search(source) else ())
        if isinstance(node, ast.Assert)
        and any(
            isinstance(inner, ast.Compare)
            and any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in inner.ops)
            and any(TOOK.search(ast.unparse(side)) for side in (inner.left, *inner.comparators))
            for inner in ast.walk(node)
        )
        and not any("#" in line for line in lines[node.lineno - 2 : node.lineno])
    ]


@pytest.mark.parametrize("lines", [unexplained, asserted, measured])
def test_whoever_sleeps_or_reads_a_clock_says_why_and_nobody_asserts_what_it_says(lines):
    found = {
        f"{path.relative_to(TESTS)}:{number}"
        for path in FILES
        for number in lines(path.read_text(encoding="utf-8"))
    }
    assert not found
