"""Measure what racer's sampler finds in an Optuna study, beside TPE, and the time it takes.

Run:  python scripts/bench_optuna_sampler.py [--seeds 10] [--evaluations 1000] [--repeats 3]
"""

from experiments.tuner.samplers import main

if __name__ == "__main__":
    main()
