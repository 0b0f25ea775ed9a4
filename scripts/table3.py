"""Rerun Table 3 of Benavoli et al. (ICML 2015): candidates dropped as indistinguishable.

Run:  python scripts/table3.py [--settings "30,1 100,1"] [--repetitions 60] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.benavoli2015.table3 import main

if __name__ == "__main__":
    main()
