"""Two programs tuned from their scenarios, against their defaults on held-out instances.

.venv/bin/python scripts/tune_programs.py
"""

from experiments.programs.tables import main

if __name__ == "__main__":
    main()
