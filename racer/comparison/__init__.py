"""Which algorithm is better: a table of scores in, a comparison out."""

from racer.comparison.example import example_scores
from racer.comparison.section import Section

__all__ = ["Section", "example_scores"]
