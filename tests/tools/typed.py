"""Commands as they are typed, and programs that they run."""

import re

from click.testing import CliRunner

from racer.cli import main
from racer.scenario.settings import SETTINGS

_CALL = r"racer\.[A-Z]\w*\(|\b(Instances|Budget|Limits|Search|Workers)\("
_NAMES = "|".join({*SETTINGS} - {"evaluate", "seed"})  # a seed is told of without an option, too
_PYTHON = re.compile(rf"(give|add|use|with|or|needs) (goal=)?({_NAMES})=|{_CALL}")


def typed(*words, exits=None, command=main, **more):
    """Return what a command does, of racer or another, whose exit code is the one that is named.

    No command gives its user the words of a call in Python.
    """
    done = CliRunner().invoke(command, [str(word) for word in words], **more)
    assert exits in {None, done.exit_code}, (done.output, done.exception)
    assert not _PYTHON.search(" ".join(done.output.split())), done.output
    return done


def program(path, text):
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
