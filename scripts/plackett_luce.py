"""Rerun the analyses of Calvo et al. (GECCO 2019) on runs of SciPy's optimisers.

Run:  python scripts/plackett_luce.py [--generate] [--draws 20000] [--seed 1] [--csv PATH]
"""

from experiments.calvo2019.tables import main

if __name__ == "__main__":
    main()
