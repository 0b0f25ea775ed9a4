"""Time the Bayesian tests and models of racer.stats, beside baycomp if that is installed.

Run:  python scripts/bench_stats.py [--repeats 5]
"""

from experiments.bench.stats import main

if __name__ == "__main__":
    main()
