"""The command lines of irace 3.5 (Debian's r-cran-irace) and of racer, compared byte by byte.

Run:  .venv/bin/python scripts/compare_irace.py
"""

from experiments.programs.irace35 import main

if __name__ == "__main__":
    main()
