"""Calvo et al. (GECCO 2019): prior sensitivity and evolution over budgets, on runs of our own."""
