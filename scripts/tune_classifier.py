"""Tune a classification pipeline on real data, beside its default; needs the extra "sklearn".

Run:  python scripts/tune_classifier.py [--seeds 5] [--budget 2000] [--jobs 2] [--csv PATH]
"""

from experiments.classifier.tables import main

if __name__ == "__main__":
    main()
