"""The changelog is short enough to be read, and grows by fragments only."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".changes"
MOST_LINES = 60  # of a version; .ci/release counts alike
MOST_CHARACTERS = 400  # of a line

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the sdist has no fragments")


def kinds():
    """Return the kinds of fragments, with their headings."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {one["directory"]: one["name"] for one in settings["tool"]["towncrier"]["type"]}


def fragments():
    """Return the text of each fragment by its name."""
    return {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(FOLDER.iterdir())
        if path.name != "README.md"
    }


def faults(name, text):
    """Return what is wrong with a fragment."""
    line = text.removesuffix("\n")
    checks = {
        "its name": re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(kinds())})\.md", name),
        "one line, with a newline": text.endswith("\n") and "\n" not in line and line,
        f"at most {MOST_CHARACTERS} characters": len(line) <= MOST_CHARACTERS,
        "no bullet, heading or space before it": re.match(r"[^\s#*+-]|\*\*", line),
        "a full stop at its end": re.search(r"[.!?][)*]*$", line),
    }
    return [wanted for wanted, holds in checks.items() if not holds]


def entries(changelog):
    """Return the lines of each version that are not empty."""
    parts = re.split(r"^## (.*)$", changelog, flags=re.MULTILINE)[1:]
    return {
        title: [line for line in text.splitlines() if line.strip()]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def changelog():
    return entries((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_a_version_has_at_most_sixty_lines():
    """Of the next one, the fragments and their headings count."""
    lengths = {title: len(lines) for title, lines in changelog().items()}
    headings = {name.split(".")[-2] for name in fragments()}
    lengths["Unreleased"] += len(fragments()) + len(headings)
    assert {title: n for title, n in lengths.items() if n > MOST_LINES} == {}


def test_the_changelog_is_a_list_in_short_lines():
    lines = [line for lines in changelog().values() for line in lines]
    assert [line for line in lines if not re.match(r"### |- [^\s-]", line)] == []
    assert [line for line in lines if len(line) > MOST_CHARACTERS] == []


def test_the_marker_of_towncrier_stands_first():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"## {next(iter(changelog()))}\n" == settings["tool"]["towncrier"]["start_string"]


def test_fragments_have_their_form():
    found = {name: faults(name, text) for name, text in fragments().items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
