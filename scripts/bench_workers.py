"""Measure how busy 4, 8 and 16 workers are, block by block and with cells ahead.

Run:  python scripts/bench_workers.py [--seeds 5] [--real 8] [--memory 200000]
"""

from experiments.bench.workers import main

if __name__ == "__main__":
    main()
