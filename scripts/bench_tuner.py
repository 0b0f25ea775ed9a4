"""Measure what tuning finds with a budget, beside other ways to spend it, and what it costs.

Run:  python scripts/bench_tuner.py [--seeds 10] [--budget 2000] [--csv PATH]
"""

from experiments.tuner.tables import main

if __name__ == "__main__":
    main()
