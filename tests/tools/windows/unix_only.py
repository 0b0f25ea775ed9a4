"""What only Unix has: in typeshed, for Python 3.11, on Linux and not on Windows."""

from pathlib import Path

_TEXT = (Path(__file__).parents[2] / "data" / "unix_only.txt").read_text(encoding="ascii")
HIDDEN = {
    module: frozenset(names.split())
    for module, _, names in (
        line.partition(": ") for line in _TEXT.replace("\n  ", " ").splitlines()
    )
}
MODULES = HIDDEN.pop("modules")
