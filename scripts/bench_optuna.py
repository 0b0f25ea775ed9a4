"""Measure what racing does for an Optuna study, side by side with WilcoxonPruner.

Run:  python scripts/bench_optuna.py [--parts "errors search"] [--repetitions 200] [--seeds 20]
"""

from experiments.optuna_study.tables import main

if __name__ == "__main__":
    main()
