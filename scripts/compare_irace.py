"""The command lines of irace 3.5 (Debian's r-cran-irace) and of racer, compared byte by byte.

Run:  python scripts/compare_irace.py [--configurations 200]
"""

from experiments.programs.irace35 import main

if __name__ == "__main__":
    main()
