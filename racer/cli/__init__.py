"""The command line: parse, call, print."""

from racer.cli.main import main

__all__ = ["main"]
