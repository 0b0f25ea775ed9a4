"""Tables of the evidence pages are those of the recorded files."""

import pytest
from click.testing import CliRunner

from experiments import page_tables
from experiments.page_tables import TABLES, filled, main, pages

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
