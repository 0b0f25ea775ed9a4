"""Time the store: what recording costs per evaluation, and how fast a race is replayed.

Run:  python scripts/bench_store.py [--evaluations 2000] [--repeats 5] [--outcomes 1000000]
"""

from experiments.bench.store import main

if __name__ == "__main__":
    main()
