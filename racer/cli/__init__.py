"""The command line: parse, call, print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from racer.cli.commands import main as main

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Load the commands when they are asked for: workers need no more than `racer.cli.demo`."""
    if name == "main":
        from racer.cli.commands import main  # noqa: PLC0415

        return main
    raise AttributeError(f"module 'racer.cli' has no attribute {name!r}")
