"""Tuning two noisy functions over instances, against other ways to spend the same evaluations."""
