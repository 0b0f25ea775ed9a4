"""The study of P(on the front): it runs."""

from __future__ import annotations

from click.testing import CliRunner

from experiments.fronts import chances


def test_it_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(chances, "HERE", tmp_path)
    monkeypatch.setattr(chances, "SIZES", (8,))
    given = ["--repetitions", "1", "--jobs", "1"]
    CliRunner().invoke(chances.main, given, catch_exceptions=False)
    assert next(tmp_path.glob("*.csv")).read_text(encoding="utf-8").count("\n") > 4
