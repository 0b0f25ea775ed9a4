"""What the README and the docs show runs, and prints what they say."""

import contextlib
import io
import re
from importlib import metadata
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
from typed import typed

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOLVER = ROOT / "docs" / "tutorial_solver.md"  # writes files: see tests/cli/test_tutorial_solver.py
TUTORIALS = [
    page
    for page in PAGES
    if page.name.startswith(("start", "tutorial", "money")) and page != SOLVER
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(code, printed if following == "text" else None, id=f"{page.name}:{number}")
    for page in PAGES
    if page not in [*TUTORIALS, SOLVER]
    for number, ((language, code), (following, printed)) in enumerate(
        pairwise([*BLOCK.findall(page.read_text(encoding="utf-8")), ("", "")])
    )
    if language == "python"
]


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_example_runs(code, printed, monkeypatch):
    monkeypatch.chdir(ROOT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "example", "exec"), {})
    # samplers of Optuna 4 draw other trials than those on the page
    has_other_trials = "optuna" in code and metadata.version("optuna").startswith("4.")
    if printed is not None and out.getvalue() and not has_other_trials:
        assert out.getvalue() == printed


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_a_tutorial_runs_from_the_first_block_to_the_last(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names, printed = {}, None
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "example", "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert text == printed


def test_every_public_name_has_a_reference_entry():
    import racer.integrations.optuna
    import racer.integrations.sklearn
    import racer.testing

    entries = {
        entry
        for page in (ROOT / "docs" / "reference").glob("*.md")
        for entry in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    rooms = [racer, *(getattr(racer, room) for room in racer._ROOMS)]
    rooms += [racer.testing, racer.integrations.optuna, racer.integrations.sklearn]
    with_page = [room for room in rooms if room.__name__ in entries]
    missing = [
        f"{room.__name__}.{name}"
        for room in rooms
        for name in room.__all__
        if room not in with_page
        and f"{room.__name__}.{name}" not in entries
        and f"racer.{name}" not in entries
        and not any(getattr(other, name, None) is getattr(room, name) for other in with_page)
        and getattr(room, name) not in rooms
    ]
    assert missing == []
    assert len(with_page) >= 6
    # these need packages that are not here: their files are read
    public = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "racer" / "integrations").rglob("*.py")
        if re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert public >= {"racer.integrations.sklearn", "racer.integrations.mlflow"}
    assert public - entries == set()


def test_values_named_in_comments_are_right():
    checked = 0
    for language, code in BLOCK.findall((ROOT / "docs" / "race.md").read_text(encoding="utf-8")):
        if language == "python":
            names = {}
            exec(compile(code, "example", "exec"), names)
            for expression, value in re.findall(r"^(\S+best)  # (.+)$", code, re.MULTILINE):
                assert eval(expression, names) == eval(value)
                checked += 1
    assert checked == 2


@pytest.mark.parametrize("page", ["hydra", "trackers"])
def test_the_page_of_a_door_is_short(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert 100 < len(text.split()) <= 300


def test_the_readme_begins_with_a_short_example():
    (language, code), (following, _) = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))[:2]
    assert (language, following) == ("python", "text")
    assert len([line for line in code.splitlines() if line.strip()]) < 15


def test_the_command_lines_shown_are_such(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(
        r"^racer (compare .*)$", (ROOT / "docs" / "compare.md").read_text(), re.MULTILINE
    )
    assert shown
    for line in shown:
        words = line.split()
        words[1] = str(ROOT / "experiments" / "wainer2023" / "data" / "table2_accuracy.csv")
        typed(*words, exits=0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_is_linked_from_another():
    targets = {
        (page.parent / target).resolve()
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
        if (page.parent / target).resolve() != page.resolve()
    }
    assert [page.name for page in PAGES[1:] if page.resolve() not in targets] == []


STUDIES = sorted((ROOT / "experiments").glob("*/README.md"))
CELLS = re.compile(r"(?:`[^`]*`|\\\||[^|`])*")


@pytest.mark.parametrize(
    "page", [*PAGES, *STUDIES], ids=lambda page: f"{page.parent.name}-{page.name}"
)
def test_every_row_of_a_table_has_a_cell_per_column(page):
    table = []
    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            table.append(len(CELLS.findall(line.strip("|"))))
        elif table:
            assert len(set(table)) == 1, table
            assert len(table) > 2
            table = []


EVIDENCE = re.findall(
    r": (\S+\.md)$",
    (ROOT / "mkdocs.yml")
    .read_text(encoding="utf-8")
    .split("- Evidence:")[1]
    .split("- Project:")[0],
    re.MULTILINE,
)


@pytest.mark.parametrize("name", EVIDENCE)
def test_figures_stand_beside_the_command_that_makes_them(name):
    page = ROOT / name if name.startswith("experiments") else ROOT / "docs" / name
    _, *sections = re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for section in sections:
        if re.search(r"^\|.*\d", section, re.MULTILINE):
            assert "python scripts/" in section + sections[0], section.splitlines()[0]


def test_no_placeholder_is_left():
    for page in PAGES:
        assert not re.findall(r"@[A-Z]+@", page.read_text(encoding="utf-8")), page.name


def promises():
    """Yield the promises of two pages: items, and rows of tables of what is done."""
    security = (ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
    section = security.partition("## Promises")[2].partition("\n## ")[0]
    yield from (line for line in section.splitlines() if line.startswith("- "))
    yield next(line for line in security.splitlines() if line.startswith("**Workers end"))
    store = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
    rows = store.partition("| what happens | what racer does | test |")[2].splitlines()[2:]
    yield from takewhile(lambda line: line.startswith("| "), rows)


@pytest.mark.parametrize("promise", [*promises()], ids=lambda promise: promise[:40])
def test_a_promise_names_tests_and_they_exist(promise):
    files = re.findall(r"`(tests/[\w/]+\.py)`", promise)
    names = re.findall(r"`(test_\w+)`", promise)
    assert files or names
    for name in files:
        assert "def test_" in (ROOT / name).read_text(encoding="utf-8"), name
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    for name in names:
        assert any(f"def {name}(" in source for source in sources), name
