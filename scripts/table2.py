"""Rerun Tables 2 and 3 of Benavoli et al. (ICML 2015): three races and what they drop.

Run:  python scripts/table2.py [--settings "30,1 100,1"] [--repetitions 60] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.benavoli2015.table2 import main

if __name__ == "__main__":
    main()
