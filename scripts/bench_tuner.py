"""Measure what tuning finds with a budget, beside other ways to spend it, and what it costs.

Run:  python scripts/bench_tuner.py [--half reported] [--seeds 6] [--budgets "1000 3000"] [--csv PATH]
      python scripts/bench_tuner.py --costs
"""

from experiments.tuner.tables import main

if __name__ == "__main__":
    main()
