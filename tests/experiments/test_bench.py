"""The engine of two checkouts, timed in turn; here both are this one."""

from pathlib import Path

from typed import typed

from experiments.bench.engine import main

ROOT = Path(__file__).parents[2]
CHOSEN = ["--decider", "f-race", "--evaluations", "1", "--repeats", "1"]


def against(folder, exits):
    return typed("--against", folder, *CHOSEN, command=main, exits=exits)


def test_both_checkouts_run_the_same_races():
    head, _, *rows = against(ROOT, 0).output.splitlines()
    assert "ratio" in head
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [cell[:3] for cell in cells] == [
        [*kind, store]
        for store in ("no", "yes")
        for kind in (("f-race", "10"), ("f-race", "100"), ("tuning", "-"))
    ]
    for *_, here, there, ratio, alive, alive_there in cells:
        assert float(here) > 0
        assert float(there) > 0
        assert float(ratio) > 0
        assert alive == alive_there


def test_a_folder_without_racer_is_refused(tmp_path, capfd):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    ended = against(tmp_path, 1)
    assert "an engine ended early" in ended.output
    assert f"not from {tmp_path}" in capfd.readouterr().err
