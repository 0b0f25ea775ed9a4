"""Time what progress costs at a millisecond per evaluation, in a terminal and in a log.

Run:  python scripts/bench_progress.py [--evaluations 4000]
"""

from experiments.bench.progress import main

if __name__ == "__main__":
    main()
