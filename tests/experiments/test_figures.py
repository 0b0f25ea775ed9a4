"""The pictures of README and docs: current, and readable on white and on black."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from experiments import figures
from experiments.pictures import GREY, save
from racer.plots import bars

ROOT = Path(__file__).parents[2]
BLACK = re.compile(r"(?:fill|stroke): ?#000000")


@pytest.fixture
def one(monkeypatch):
    """A single picture in place of all."""

    def only(value):
        monkeypatch.setattr(
            figures, "pictures", lambda: [("bars", bars([value, 0.3], ["a", "b"], "P"))]
        )

    return only


def run(*arguments):
    return CliRunner().invoke(figures.main, list(map(str, arguments)))


def test_a_picture_that_is_not_current_is_named(one, tmp_path):
    one(0.7)
    done = run("--folder", tmp_path, "--check")
    assert (done.exit_code, "not current: bars.svg" in done.output) == (1, True)
    assert not list(tmp_path.iterdir())
    assert run("--folder", tmp_path).exit_code == 0
    assert run("--folder", tmp_path, "--check").exit_code == 0
    one(0.9)
    assert run("--folder", tmp_path, "--check").exit_code == 1


def test_a_saved_picture_is_transparent_and_has_no_black(tmp_path):
    figure = Figure()
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color="black", label="a line")
    ax.axvspan(0, 1, color="#DDDDDD")
    ax.legend()
    save(figure, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert GREY in text
    assert not BLACK.search(text)
    assert "#dddddd" not in text


def test_all_pictures_of_the_docs_are_vectors_and_none_is_left_over():
    used = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        used |= set(re.findall(r"figures/([\w.]+)", page.read_text(encoding="utf-8")))
    there = {path.name for path in (ROOT / "docs" / "figures").iterdir()}
    assert there == used
    of_reports = {"report_race.png", "report_tuning.png"}  # taken by a browser
    assert {name for name in used if not name.endswith(".svg")} == of_reports
    for name in used - of_reports:
        assert (
            not BLACK.search((ROOT / "docs" / "figures" / name).read_text()) or name == "matrix.svg"
        )
