"""Optuna with and without racing: what pruners get wrong, what they save, what a study finds."""
