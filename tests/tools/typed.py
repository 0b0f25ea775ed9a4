"""Commands as they are typed, and programs that they run."""

from __future__ import annotations

from click.testing import CliRunner

from racer.cli import main


def typed(*words, exits=None, **more):
    """Return what a command of racer does, whose exit code is the one that is named."""
    done = CliRunner().invoke(main, [str(word) for word in words], **more)
    assert exits in {None, done.exit_code}, done.output
    return done


def program(path, text):
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
