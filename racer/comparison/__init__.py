"""Which algorithm is better: a table of scores in, a comparison out."""

from racer.comparison.example import example_scores

__all__ = ["example_scores"]
