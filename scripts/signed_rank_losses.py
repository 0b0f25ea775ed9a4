"""Rerun Tables 1 to 3 of Benavoli et al. (ICML 2014): losses of the signed-rank tests.

Run:  python scripts/signed_rank_losses.py [--repetitions 2000] [--steps 7] [--csv PATH]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.benavoli2014.tables import main

if __name__ == "__main__":
    main()
