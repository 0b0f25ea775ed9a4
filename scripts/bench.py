"""Measure what the documentation says of time and quality, one benchmark by name.

Run:  python scripts/bench.py NAME [OPTIONS ..]
      python scripts/bench.py --help
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.commands import bench as main

if __name__ == "__main__":
    main()
