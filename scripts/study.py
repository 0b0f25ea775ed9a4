"""Run one study by name, or make the pictures of the documentation.

Run:  python scripts/study.py NAME [OPTIONS ..]
      python scripts/study.py --help
"""

from experiments.commands import study as main

if __name__ == "__main__":
    main()
