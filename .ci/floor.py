"""The floor of coverage with branches, room by room: `.ci/run coverage` ends with it.

    python .ci/floor.py [coverage's data file]

Prints a table, also into the summary of a hosted job, and fails where a room is below the floor of
`pyproject.toml`, `[tool.coverage.report]`, which coverage itself holds of all rooms together only.
"""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from pathlib import Path

from coverage import Coverage

SETTINGS = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]
FLOOR = SETTINGS["report"]["fail_under"]


def main() -> None:
    """Print the percentage of each room; exit with 1 if one is below the floor."""
    coverage = Coverage(data_file=sys.argv[1] if sys.argv[1:] else ".coverage")
    coverage.load()
    with tempfile.TemporaryFile("w", encoding="utf-8") as nowhere:
        found = {
            room: coverage.report(include=[f"{room.replace('.', '/')}/*"], file=nowhere)
            for room in SETTINGS["run"]["source_pkgs"]
        }
    lines = ["| room | coverage with branches |", "|---|---|"]
    lines += [f"| {room} | {percent:.1f} % |" for room, percent in found.items()]
    print(*lines, sep="\n")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            print(*lines, sep="\n", file=file)
    if low := [room for room, percent in found.items() if percent < FLOOR]:
        sys.exit(f"below {FLOOR} %: {', '.join(low)}")


if __name__ == "__main__":
    main()
