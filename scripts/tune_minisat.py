"""minisat tuned for speed, at equal time, with and without caps (needs Debian's minisat).

Run:  python scripts/tune_minisat.py [--seeds 10] [--seconds 6]
"""

from experiments.runtime.minisat import main

if __name__ == "__main__":
    main()
