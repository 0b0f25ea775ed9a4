"""Draw the pictures of docs/compare.md from published data; needs the extra "plot".

Run:  python scripts/figures.py [--folder docs/figures]
"""

from experiments.figures import main

if __name__ == "__main__":
    main()
