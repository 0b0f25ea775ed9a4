"""Time the race engine: CPU per evaluation, the joint posterior, workers, import.

Run:  python scripts/bench_engine.py [--evaluations 50000] [--repeats 5] [--decider NAME ..]
"""

from experiments.bench.engine import main

if __name__ == "__main__":
    main()
