"""Rerun Tables 3 to 7 of Wainer (JMLR 2023): the Bayesian Bradley-Terry model.

Run:  python scripts/bradley_terry.py [--draws 200000] [--seed 1] [--csv PATH]
"""

from experiments.wainer2023.tables import main

if __name__ == "__main__":
    main()
