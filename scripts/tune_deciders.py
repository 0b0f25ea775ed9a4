"""Compare deciders as those of a tuner.

Run:  python scripts/tune_deciders.py [--seeds 10] [--budgets "1000 3000"] [--deciders "best-for-budget f-race"] [--instances 8]
"""

from experiments.tuner.deciders import main

if __name__ == "__main__":
    main()
