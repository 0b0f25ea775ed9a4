"""Measure what the documentation says of time and quality, one benchmark by name.

Run:  python scripts/bench.py NAME [OPTIONS ..]
      python scripts/bench.py --help
"""

from experiments.commands import bench as main

if __name__ == "__main__":
    main()
