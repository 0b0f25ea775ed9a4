"""minisat or HiGHS tuned for speed, at equal time, with and without caps.

Run:  python scripts/tune_solvers.py --solver minisat|highs [--seeds 10] [--seconds 20]
      (needs Debian's minisat, or `pip install highspy`; the contender irace needs r-cran-irace)
"""

from experiments.runtime.solvers import main

if __name__ == "__main__":
    main()
