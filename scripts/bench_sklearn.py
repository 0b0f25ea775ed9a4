"""Measure searches over folds on real data: fits, CPU time, held-out scores, P(best).

Run:  python scripts/bench_sklearn.py [--repetitions 10] [--tables PATH] [--csv PATH]
"""

from experiments.sklearn_folds.tables import main

if __name__ == "__main__":
    main()
