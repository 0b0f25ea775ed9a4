"""Tables of the evidence pages are those of the recorded files."""

import pytest
from click.testing import CliRunner

from experiments import page_tables
from experiments.page_tables import TABLES, filled, main, pages, part

pytest.importorskip("optuna")  # of the searches
pytest.importorskip("sklearn")


def test_the_pages_have_the_tables_of_the_recorded_files():
    done = CliRunner().invoke(main, ["--check"])
    assert done.exit_code == 0, done.output
    texts = [path.read_text(encoding="utf-8") for path in pages()]
    marked = [name for text in texts for name in page_tables.MARKED.findall(text)]
    assert sorted(marked) == sorted(TABLES)


def test_a_marked_table_is_replaced_and_nothing_else(monkeypatch):
    monkeypatch.setitem(TABLES, "made-up", lambda: "| a |\n|---|\n| 2 |")
    page = "Before.\n\n<!-- table: made-up -->\n\n| a |\n|---|\n| 1 |\n\nAfter.\n\n| b |\n|---|\n"
    assert filled(page) == page.replace("| 1 |", "| 2 |")
    assert filled("<!-- table: made-up -->\n\n\nAfter.\n").endswith("| 2 |\n\nAfter.\n")


def test_a_page_that_differs_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setitem(TABLES, "made-up", lambda: "| a |\n|---|\n| 2 |")
    monkeypatch.setattr(page_tables, "ROOT", tmp_path)
    path = tmp_path / "docs" / "page.md"
    path.parent.mkdir()
    path.write_text("<!-- table: made-up -->\n\n| a |\n|---|\n| 1 |\n", encoding="utf-8")
    run = CliRunner().invoke
    assert "page.md has other tables" in run(main, ["--check"]).output
    assert run(main, []).exit_code == 0
    assert "| 2 |" in path.read_text(encoding="utf-8")
    assert run(main, ["--check"]).exit_code == 0


def test_a_part_of_a_table_has_the_rows_and_columns_that_are_asked_for():
    table = "| a | b | c |\n|---|---|---|\n| **x** | 1 | 2 |\n| y | 3 | 4 |\n| z | 5 | 6 |"
    assert part(table, "x; 1|z", {"c": "last", "a": "first"}).split("\n") == [
        "| last | first |",
        "|------|-------|",
        "| 2    | **x** |",
        "| 6    | z     |",
    ]
    assert part(table) == part(table, ".")
