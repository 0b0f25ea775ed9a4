"""Compare deciders as those of a tuner.

Run:  python scripts/tune_deciders.py [--seeds 20] [--deciders "best-for-budget"]
"""

from experiments.tuner.deciders import main

if __name__ == "__main__":
    main()
