"""Measure the error of every decider against the observations it takes, and that of halving.

Run:  python scripts/frontier.py [--worlds "normal unequal"] [--budgets "2000 4000"] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.frontier.tables import main

if __name__ == "__main__":
    main()
