"""One hostile store, and hostile arguments, through every command in a terminal: text stays text."""

from __future__ import annotations

import csv
import json
import os
import sys
import threading
import unicodedata
from contextlib import contextmanager, suppress
from pathlib import Path

import flat
import pytest

import racer
from racer.cli import main
from racer.cli.commands import _COMMANDS
from racer.render.escape import in_json, printable

termios = pytest.importorskip("termios")
# the folder is made for whichever test comes first
pytestmark = pytest.mark.filterwarnings("ignore::racer.RacerWarning", "ignore:Glyph:UserWarning")

EVIL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\u202egnp\u2028\r\x7f"
FORMULA = "=cmd|'/c calc'!A1"
PROGRAM = f"""
import sys
x, name, instance, seed, evil = sys.argv[1:]
if int(seed) % 7 == 0 and float(x) > 0:
    sys.exit({EVIL!r})
print(abs(float(x) - 2) + len(name))
"""


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
    """A folder with a store, an ablation, tables and scenarios that say what they should not."""
    folder = tmp_path_factory.mktemp("hostile")
    python = [sys.executable, "-I", "-S", "-c"]  # no site: it starts faster
    evaluate = racer.Command(
        [*python, PROGRAM, "{x}", "{" + f"k{EVIL}" + "}", "{instance}", "{seed}", EVIL]
    )
    space = racer.Space(
        {"x": racer.Integer(0, 5), f"k{EVIL}": racer.Categorical([f"a{EVIL}", FORMULA])},
        default={"x": 0, f"k{EVIL}": FORMULA},
    )
    given = {"instances": [f"i{EVIL}", FORMULA], "seed": 1}
    path = folder / f"run{EVIL}.db"
    flat.tune(space, evaluate, budget=60, first_test=3, store=path, **given)
    (folder / "table.csv").write_text(
        f"data set,{EVIL.replace(chr(13), '')},b{EVIL.replace(chr(13), '')}\n"
        + "".join(f"{i}{EVIL[:-2]},{i},{i + 1}\n" for i in range(9)),
        encoding="utf-8",
    )
    (folder / f"parameters{EVIL}.txt").write_text('x "--x " i (0, 5)\n')
    for name, text in {
        "code.txt": f"maxExperiments = 9\n{EVIL} targetRunner <- function() 1\n",
        "unknown.txt": f'parameterFile = "{EVIL[:-2]}"\ntargetRunnerData = "{EVIL[:-2]}"\n',
        "noted.txt": f'recoveryFile = "{EVIL[:-2]}"\ntargetRunner = "{EVIL[:-2]}"\n',
        "pool.json": json.dumps([{"x": EVIL}, {"x": FORMULA}]),
        "s.toml": f"budget = 9\nspace = {json.dumps(EVIL)}\n",
        "t.toml": f"{json.dumps(EVIL)} = 9\n",
        "u.toml": f"budget = {json.dumps(EVIL)}\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def typed(*arguments, answer=b"n\n"):
    """Return what a terminal is sent by a command, and its exit code."""
    ours, theirs = os.openpty()
    shown = bytearray()

    def read():
        with suppress(OSError):  # the other end is closed
            while data := os.read(ours, 4096):
                shown.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    how = termios.tcgetattr(theirs)
    how[3] &= ~termios.ECHO  # of what is typed
    termios.tcsetattr(theirs, termios.TCSANOW, how)
    os.write(ours, answer)
    code = None
    with terminal(theirs):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        except BaseException as error:  # noqa: BLE001
            code = f"raw {error!r}"
    os.close(theirs)
    reader.join()
    os.close(ours)
    return shown.decode(), code


@contextmanager
def terminal(file):
    """Make a terminal of standard input, output and error."""
    before = sys.stdin, sys.stdout, sys.stderr
    streams = [open(os.dup(file), mode, encoding="utf-8") for mode in "rww"]  # noqa: PTH123, SIM115
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in streams:
            stream.close()


def raw(text):
    """Return what would be more than text in a terminal, but for ends of lines."""
    text = text.replace("\r\n", "\n")
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return {char for char in text if unicodedata.category(char) in hidden and char not in "\n\t"}


COMMANDS = {
    "show": ("show", "{store}"),
    "show --json": ("show", "{store}", "--json"),
    "check": ("check", "{store}"),
    "report": ("report", "{store}", "-o", "{folder}/page" + EVIL + ".html"),
    "show --csv": ("show", "{store}", "--csv", "{folder}/tables" + EVIL),
    "resume": ("resume", "{store}", "--budget", "70"),
    "resume, and run": ("resume", "{store}", "--budget", "62", "--yes", "-q"),
    "ablation": ("ablation", "{store}", "--yes", "-q", "--budget", "40"),
    "compare": ("compare", "{folder}/table.csv"),
    "compare --markdown": ("compare", "{folder}/table.csv", "--markdown", "--with", "scores"),
    "compare --latex": ("compare", "{folder}/table.csv", "--latex"),
    "compare --json": ("compare", "{folder}/table.csv", "--json"),
    "compare --prose": ("compare", "{folder}/table.csv", "--prose"),
    "compare --control": ("compare", "{folder}/table.csv", "--control", EVIL),
    "import-irace": ("import-irace", "{folder}/code.txt"),
    "import-irace, refused": ("import-irace", "{folder}/unknown.txt"),
    "import-irace, noted": ("import-irace", "{folder}/noted.txt"),
    "check-scenario": ("check-scenario", "{folder}/s.toml"),
    "check-scenario, unknown": ("check-scenario", "{folder}/t.toml"),
    "check-scenario, unfit": ("check-scenario", "{folder}/u.toml"),
    "tune": ("tune", "-v", "{folder}/noted.txt"),
    "tune, not there": ("tune", "--space", EVIL, "--budget", "9"),
    "tune, a command": ("tune", "--space", "{folder}/parameters" + EVIL + ".txt", "--", EVIL),
    "bench": ("bench", "true", "false", "--name", EVIL, "--name", f"b{EVIL}", "--rounds", "3"),
    "bench --json": ("bench", "true", "true 1", "--name", EVIL, "--name", "b", "--json"),
    "bench, refused": ("bench", f"true {EVIL} {{x}}", "true"),
    "race": ("race", "{folder}/table.csv"),
    "race, by a program": (
        "race",
        "{folder}/pool.json",
        "--budget",
        "9",
        "--",
        "true",
        EVIL,
        "{x}",
    ),
    "race, refused": ("race", "{folder}/table.csv", "--decider", EVIL),
    "gate": ("gate", "--baseline", "{folder}/" + EVIL, "--margin", "2%", "--", "true", EVIL),
    "init": ("init", "{folder}/new" + EVIL),
    "init again": ("init", "{folder}/new" + EVIL),
    "demo": ("demo", "--seed", EVIL),
    "an unknown command": (EVIL,),
    "an unknown option": ("show", f"--{EVIL}"),
    "an unfit option": ("resume", "{store}", "--budget", EVIL),
    "no such store": ("show", EVIL),
}


def test_every_command_is_driven():
    assert {arguments[0] for arguments in COMMANDS.values()} >= set(_COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_control_character_reaches_the_terminal(name, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    places = {"{store}": str(folder / f"run{EVIL}.db"), "{folder}": str(folder)}
    arguments = []
    for argument in COMMANDS[name]:
        for mark, place in places.items():
            argument = argument.replace(mark, place)  # noqa: PLW2901
        arguments.append(argument)
    arguments += ["--minimize"] * ("{folder}/table.csv" in COMMANDS[name])
    shown, code = typed(*arguments)
    assert shown.strip()
    assert code in range(4), code
    if arguments[0] == "bench":  # which clears what is shown live
        shown = shown.replace("\r\n", "\n")
        for sequence in ("\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A", "\x1b[K", "\r"):
            shown = shown.replace(sequence, "")
    assert raw(shown) == set(), shown
    if "--json" in arguments:
        shown = shown[shown.index("{") :]  # after what was live
        assert json.loads(shown.replace("\r\n", "\n"))
    if name == "report":  # nor has a page, in pictures and their data, too
        page = Path(arguments[-1]).read_text(encoding="utf-8")
        assert raw(page) == set()
        assert "PWNED" in page


def test_the_question_before_a_strangers_program_cannot_be_spoofed(tmp_path, path, monkeypatch):
    """Each argument is on one line, as it is, and nothing else looks like an argument's line."""
    fake = "ls\n\n[y/N]: \r\x1b[1A is harmless"
    command = [sys.executable, "-c", "print(1)", fake, "{x}"]
    evaluate = racer.Command(command)
    racer.race([{"x": 1}, {"x": 2}], evaluate, budget=10, seed=1, store=path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another"))
    shown, code = typed("resume", path, "--budget", 30)
    assert code == 1
    lines = shown.replace("\r\n", "\n").split("\n")
    assert "  'ls\\n\\n[y/N]: \\x0d\\x1b[1A is harmless'" in lines
    assert lines.index(f"  {sys.executable}") < lines.index("with 4 arguments:")
    assert sum("Run it? [y/N]:" in line for line in lines) == 1


def test_tables_have_no_formulas(folder, tmp_path):
    shown, code = typed("show", folder / f"run{EVIL}.db", "--csv", tmp_path / "tables")
    assert code in {0, 3}, shown
    cells = [
        cell
        for file in (tmp_path / "tables").glob("*.csv")
        for line in csv.reader(file.read_text(encoding="utf-8").splitlines())
        for cell in line
    ]
    assert f"'{FORMULA}" in cells
    texts = [cell for cell in cells if cell[:1] in set("=+@\t\r-")]
    assert all(float(cell) <= 0 for cell in texts)  # numbers


@pytest.mark.parametrize("text", ["plain", "äöü 漢字 🙂", "two\nlines\tand tabs", "\xa0\u2009"])
def test_what_is_seen_stays_as_it_is(text):
    assert printable(text) == text


def test_json_stays_json():
    data = {EVIL: [EVIL, 1.5, None, "\ud800", "\U000e0001"]}
    shown = in_json(data, indent=1)
    assert json.loads(shown) == data
    assert raw(shown) == set()
