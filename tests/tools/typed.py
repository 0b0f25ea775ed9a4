"""Commands as they are typed, and programs that they run."""

from click.testing import CliRunner

from racer.cli import main


def typed(*words, exits=None, command=main, **more):
    """Return what a command does, of racer or another, whose exit code is the one that is named."""
    done = CliRunner().invoke(command, [str(word) for word in words], **more)
    assert exits in {None, done.exit_code}, (done.output, done.exception)
    return done


def program(path, text):
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
