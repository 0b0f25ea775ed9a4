"""Make all headline figures of README and docs, and write their tables into one page.

Run:  python scripts/bench_all.py [--quick] [-o headlines.md]
"""

from experiments.headlines import main

if __name__ == "__main__":
    main()
