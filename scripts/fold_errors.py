"""Measure what races over correlated folds drop wrongly, and what they save.

Run:  python scripts/fold_errors.py [--repetitions 200] [--candidates 10] [--csv PATH]
"""

from experiments.sklearn_folds.worlds import main

if __name__ == "__main__":
    main()
