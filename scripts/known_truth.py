"""Check importance and ablation on a space whose truth is known.

Run:  python scripts/known_truth.py [--seeds 10] [--budget 2000] [--csv PATH]
"""

from experiments.importance.known_truth import main

if __name__ == "__main__":
    main()
