"""The floor of type completeness, which editors and type checkers of users profit from.

    python .ci/complete.py [pyright]

Prints the share of symbols with a known type that pyright finds, and what lacks one; fails below
the floor. Base classes of packages without types, as scikit-learn's, cannot be known.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

FLOOR = 0.98


def main() -> None:
    """Print the figure; exit with 1 if it is below the floor."""
    pyright = sys.argv[1] if sys.argv[1:] else "pyright"
    asked = ["--verifytypes", "racer", "--ignoreexternal", "--outputjson"]
    # pyright 1.1.414 looks for packages beside the first `python` of the path, despite --pythonpath
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        [pyright, *asked],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PATH": path},
    )
    found = json.loads(run.stdout)["typeCompleteness"]
    for symbol in found["symbols"]:
        for fault in symbol["diagnostics"]:
            if "docstring" not in fault["message"]:
                print(f"{symbol['name']}: {fault['message'].partition(chr(10))[0]}")
    score = found["completenessScore"]
    print(f"{score:.1%} of the types are known")
    if score < FLOOR:
        sys.exit(f"below {FLOOR:.0%}")


if __name__ == "__main__":
    main()
