"""Two programs tuned from their scenarios, against their defaults on held-out instances.

Run:  python scripts/tune_programs.py [--budget 1200] [--jobs 2]
"""

from experiments.programs.tables import main

if __name__ == "__main__":
    main()
