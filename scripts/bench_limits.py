"""Time what a limit costs: an evaluation in a process of its own against one without.

Run:  python scripts/bench_limits.py [--evaluations 200] [--repeats 7]
"""

from experiments.bench.limits import main

if __name__ == "__main__":
    main()
