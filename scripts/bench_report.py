"""Time the report of a tuning of 20 000 evaluations, and how large it is.

Run:  python scripts/bench_report.py [--evaluations 20000] [--repeats 3]
"""

from experiments.bench.report import main

if __name__ == "__main__":
    main()
