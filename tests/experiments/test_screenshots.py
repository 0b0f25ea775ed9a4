"""Pictures of reports that know the words of their page."""

import importlib

import pytest
from click.testing import CliRunner

pytest.importorskip("matplotlib")  # an extra: pip install ".[plot]"

from PIL import Image

from experiments.pictures import shrink

screenshots = importlib.import_module("experiments.screenshots")


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A small page in place of the reports; its picture is taken of nothing."""
    path = tmp_path / "report.html"
    path.write_text("<p>best of 7</p>")
    monkeypatch.setattr(screenshots, "reports", lambda _: [("report.png", path, False, 10)])
    return path


def check(folder):
    return CliRunner().invoke(screenshots.main, ["--folder", str(folder), "--check"])


def test_a_report_that_reads_otherwise_than_its_picture_is_named(page, tmp_path):
    picture = tmp_path / "report.png"
    assert "not current: report.png" in check(tmp_path).output
    Image.new("RGB", (8, 8)).save(picture)
    assert check(tmp_path).exit_code == 1
    shrink(picture, {"page": screenshots.digest(page)})
    page.write_text("<p>best of 8</p>")
    assert check(tmp_path).exit_code == 0
    page.write_text("<p>the best of 8</p>")
    assert check(tmp_path).exit_code == 1
