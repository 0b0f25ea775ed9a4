"""Measure how often each decider drops a best candidate, and what its races cost.

Run:  python scripts/error_rates.py [--deciders "f-race t-race"] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.error_rates.tables import main

if __name__ == "__main__":
    main()
