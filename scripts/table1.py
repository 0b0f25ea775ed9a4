"""Rerun Table 1 of Benavoli et al. (ICML 2015): six statements about four algorithms.

Run:  python scripts/table1.py [--draws 1000000] [--seed 1] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.benavoli2015.table1 import main

if __name__ == "__main__":
    main()
