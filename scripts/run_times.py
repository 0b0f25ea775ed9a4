"""Caps on run times: what they do to a test, and to races of crossing distributions.

Run:  python scripts/run_times.py [--runs 4000] [--races 400]
"""

from experiments.runtime.caps import main

if __name__ == "__main__":
    main()
