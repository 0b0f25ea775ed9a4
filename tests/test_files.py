"""Files of others, read within bounds; files for others, whole or absent, and never a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from processes import python
from typed import typed as command

import racer
from racer import _files
from racer.errors import RacerError
from racer.scenario.scenario import read_scenario
from racer.space.irace.table import read_configurations

TABLE = "data set,a,b\n" + "".join(f"{i},{i},{i + 1}\n" for i in range(9))


@pytest.fixture(name="store")
def _store(tmp_path):
    path = tmp_path / "run.db"
    racer.race([3, 1, 2], lambda config, *_: config, budget=30, seed=1, store=path)
    return path


def plotted(store, target):
    table = store.with_name("table.csv")
    table.write_text(TABLE)
    target = target.with_suffix(".png")
    return command("compare", "--minimize", table, "--plot", target), target


OUTPUTS = {
    "report": lambda store, target: (command("report", store, "-o", target), target),
    "plot": plotted,
}


@pytest.mark.parametrize("ending", ["", "-journal", ".lock"])
def test_a_report_never_takes_the_place_of_a_store(store, ending):
    target = Path(f"{store}{ending}")
    target.touch()
    before = target.read_bytes()
    with pytest.raises(OSError, match="is a store"):
        racer.load(store).report(target)
    done = command("report", store, "-o", target, exits=1)
    assert "is a store, or another database" in done.output
    assert target.read_bytes() == before
    assert racer.load(store).best == 1


def test_nor_does_a_link_to_it(store):
    link = store.with_name("page.html")
    link.symlink_to(store)
    with pytest.raises(OSError, match="is a store"):
        racer.load(store).report(link)
    assert racer.load(store).best == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device"])
def test_a_store_is_a_regular_file(tmp_path, kind):
    """SQLite would call a device empty, and racer put a lock beside it."""
    path = tmp_path / "run.db"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/null")
    else:
        path.symlink_to("/dev/zero")
    for use in (racer.load, lambda path: racer.race([1, 2], max, budget=30, store=path)):
        with pytest.raises(racer.StoreError, match="no regular file"):
            use(path)
    assert command("check", path).exit_code == 1
    assert not Path("/dev/null.lock").exists()
    assert not Path("/dev/zero.lock").exists()
    assert {file.name for file in tmp_path.iterdir()} <= {"run.db"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_an_answer_that_cannot_be_written_is_said(store):
    """Each in a process of its own, down to its end; what they import is imported once."""
    lines = [["show"], ["show", "--json"], ["check"]]
    code = f"""
import os, sys
from racer.cli import main
import racer.store.load, racer.render.text
for name, *options in {lines}:
    if not os.fork():
        main([name, sys.argv[1], *options])
        sys.exit()
    print(os.waitstatus_to_exitcode(os.wait()[1]), file=sys.stderr, flush=True)
"""
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        line = [sys.executable, "-c", code, str(store)]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = "Error: the answer cannot be written: No space left on device\n"
    assert done.stderr == f"{said}1\n" * len(lines)


def test_a_path_that_cannot_be_looked_at_is_named(tmp_path, monkeypatch):
    """Click looks at those that its options name."""
    (tmp_path / "table.csv").write_text(TABLE)

    def access(path, how, **_):
        raise OSError(5, "Input/output error", path)

    monkeypatch.setattr(os, "access", access)
    (tmp_path / "plot.svg").touch()
    done = command("compare", tmp_path / "table.csv", "--plot", tmp_path / "plot.svg", exits=1)
    assert done.output == f"Error: {tmp_path / 'plot.svg'}: Input/output error\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of files")
@pytest.mark.parametrize("what", OUTPUTS)
def test_where_there_is_no_room_the_previous_output_stays(store, what):
    done, target = OUTPUTS[what](store, store.with_name("output"))
    assert done.exit_code == 0, done.output
    before, names = target.read_bytes(), sorted(store.parent.iterdir())
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        done, target = OUTPUTS[what](store, store.with_name("output"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.exit_code in {1, 2}
    assert "cannot be written" in done.output
    assert target.read_bytes() == before
    assert sorted(store.parent.iterdir()) == names


def test_what_fails_half_way_leaves_nothing(tmp_path):
    target = tmp_path / "table.csv"
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), _files.written(target) as part:  # noqa: PT012
            Path(part).write_text("half")
            1 / 0  # noqa: B018
        assert [file.read_text() for file in tmp_path.iterdir()] == ["whole"] * target.exists()
        _files.write_text(target, "whole")


def test_a_new_file_takes_no_other_ones_place(tmp_path):
    target = tmp_path / "new.txt"

    def write():
        with _files.written(target, is_new=True) as part:
            Path(part).write_text("mine")
            target.write_text("of somebody else")

    with pytest.raises(FileExistsError):
        write()
    assert target.read_text() == "of somebody else"
    assert [*tmp_path.iterdir()] == [target]


def test_a_new_file_is_moved_where_links_are_impossible(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    _files.write_text(tmp_path / "new.txt", "x", is_new=True)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["x"]


def test_rights_stay_and_what_may_not_be_written_is_not_replaced(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("old")
    target.chmod(0o640)
    _files.write_text(target, "new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileExistsError):
        _files.write_text(target, "newer", is_new=True)
    with pytest.raises(OSError, match="no regular file"):
        _files.write_text("/dev/null", "lost")
    with pytest.raises(IsADirectoryError):
        _files.write_text(tmp_path, "lost")


def read_by_compare(path):
    done = command("compare", path, exits=2)
    raise RacerError(done.output)


READERS = {
    "scenario.toml": lambda path: read_scenario(str(path)),
    "scenario.txt": lambda path: read_scenario(str(path)),
    "space": racer.Space.read_irace,
    "json": racer.Space.read_configspace,
    "table": lambda path: read_configurations(path, racer.Space({"x": racer.Real(0, 1)})),
    "csv": read_by_compare,
    "instances": lambda path: _scenario(path, "toml", f'instances = "{path}"').instances(
        "instances"
    ),
}


def _scenario(beside, suffix, text):
    path = Path(beside).absolute().parent / f"scenario.{suffix}"
    path.write_text(text)
    return read_scenario(str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("name", READERS)
def test_only_regular_files_are_read_and_no_more_than_16_mb(tmp_path, name):
    """A pipe would be waited for, and a device read until memory is full."""
    pipe, large = tmp_path / f"pipe{name}", tmp_path / f"large{name}"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate((10**9 if name == "csv" else _files.MOST_BYTES) + 1)
    limit = "1000 MB" if name == "csv" else "16 MB"
    for path, says in ((pipe, "no regular file"), (large, f"larger than {limit}")):
        with pytest.raises(RacerError, match=says):
            READERS[name](path)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.toml", "budget = " + "9" * 5000, "not TOML"),
        ("s.toml", "budget = " + "[" * 5000, "nested too deeply"),
        ("s.toml", "budget = " + "[" * 400 + "]" * 400, "nested too deeply|give a whole number"),
        ("s.toml", "budget = 1" + "0" * 40, "give a whole number"),
        ("s.toml", "seconds = inf", "give a number > 0"),
        ("s.toml", "timeout = nan", "give a number > 0"),
        ("s.toml", 'space = "\\u0000"', "give a path"),
        ("s.txt", "maxExperiments = 1e300*1e300", "no finite number"),
        ("s.txt", "maxExperiments = " + "9" * 5000, "no finite number"),
        ("s.txt", "maxExperiments = " + "(" * 5000, "nested too deeply"),
    ],
)
def test_what_makes_no_sense_in_a_scenario_is_refused(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(racer.SettingError, match=says):
        read_scenario(str(tmp_path / name))


@pytest.mark.parametrize("call", ["paste0", "c", "file.path", "list"])
def test_what_doubles_with_each_line_is_bounded(tmp_path, call):
    first = '"0123456789"' if call in {"paste0", "file.path"} else 'c("0123456789", "0123456789")'
    lines = [f".v0 <- {first}"]  # texts are joined one by one: vectors are refused
    lines += [f".v{i} <- {call}({', '.join([f'.v{i - 1}'] * 10)})" for i in range(1, 12)]
    (tmp_path / "scenario.txt").write_text("\n".join(lines))
    with pytest.raises(racer.SpaceFileError, match=r"makes more than 100000 letters"):
        read_scenario(str(tmp_path / "scenario.txt"))


def test_tables_that_cannot_all_be_written_leave_none(store, tmp_path, monkeypatch):
    plain, written = os.fsync, []

    def full(file):
        written.append(file)
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        plain(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        done = command("show", store, "--csv", tmp_path / "tables")
    assert done.exit_code == 1
    assert f"{tmp_path}" in done.output
    assert list((tmp_path / "tables").iterdir()) == []
    assert command("show", store, "--csv", tmp_path / "tables").exit_code == 0


def test_what_fails_is_named_by_its_own_name(tmp_path, monkeypatch):
    """Not by that of the part beside it, and also where an error names no file."""
    path = tmp_path / "page.html"
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, lambda *_: (_ for _ in ()).throw(OSError(5, "I/O error")))
            with pytest.raises(OSError, match=r"/page\.html"):
                _files.write_text(path, "text")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        _files.write_text(tmp_path / "nowhere" / "page.html", "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_damage_in_small():
    """Large: python scripts/study.py damage."""
    from experiments.campaign import damage

    done = CliRunner().invoke(damage.main, ["-n", "30", "--seed", "7"])
    assert done.exit_code == 0, done.output
    assert "**all**" in done.output


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_kills_in_small():
    """Large: python scripts/study.py kills; here each contest is killed once."""
    pytest.importorskip("sklearn")
    script = Path(__file__).parents[1] / "scripts/study.py"
    done = python(script, "kills", "-n", 20, "--each", 1, timeout=None)
    assert "**all**" in done.stdout
