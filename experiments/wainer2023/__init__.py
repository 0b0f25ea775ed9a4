"""Wainer (2023): the Bayesian Bradley-Terry model on five classifiers, Tables 3 to 7."""
