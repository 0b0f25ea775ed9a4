"""Measure how often one test of a gated decider drops anyone, all candidates being equal.

Run:  python scripts/single_tests.py [--repetitions 100] [--worlds "normal interaction"]
"""

from experiments.error_rates.levels import main

if __name__ == "__main__":
    main()
