"""Rerun the analyses of Calvo et al. (GECCO 2019) on runs of SciPy's optimisers.

Run:  python scripts/plackett_luce.py [--generate] [--draws 20000] [--seed 1] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.calvo2019.tables import main

if __name__ == "__main__":
    main()
