"""Rerun Tables 4 to 18 of Wainer (JMLR 2023): the Bayesian Bradley-Terry model.

Run:  python scripts/bradley_terry.py [--draws 200000] [--cases "ss ll"] [--seed 1] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.wainer2023.tables import main

if __name__ == "__main__":
    main()
