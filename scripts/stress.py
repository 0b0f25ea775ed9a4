"""Kill races at random moments and resume them, until the time is up.

Run:  python scripts/stress.py [--minutes 10] [--races N] [--jobs N]
"""

from experiments.stress import main

if __name__ == "__main__":
    main()
