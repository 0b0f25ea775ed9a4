"""Run one study by name, or make the pictures of the documentation.

Run:  python scripts/study.py NAME [OPTIONS ..]
      python scripts/study.py --help
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that experiments are found

from experiments.commands import study as main

if __name__ == "__main__":
    main()
