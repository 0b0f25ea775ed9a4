"""The weight of the code: it grows on purpose only."""

import ast
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
LIMITS = tomllib.loads((TESTS / "weight.toml").read_text(encoding="utf-8"))
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(source):
    """Return the number of lines that are neither blank nor of a comment nor of a docstring."""
    lines = {
        number
        for number, line in enumerate(source.split("\n"), 1)
        if (text := line.strip()) and not text.startswith("#")
    }
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant | ast.JoinedStr):  # a string may have such lines
            lines.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines - docstrings)


def test_what_a_code_line_is():
    source = '"""Doc\n\nstring."""\n\n# why\nx = 1  # one\ny = """\n# text\n\n"""\n'
    assert code_lines(source) == 5


@pytest.mark.parametrize("folder", ["racer", "tests"])
def test_the_code_has_not_grown(folder):
    files = (TESTS.parent / folder).rglob("*.py")
    found = sum(code_lines(path.read_text(encoding="utf-8")) for path in files)
    assert found <= LIMITS[folder], "let something leave for it; see tests/weight.toml"
