"""What came of a race, and which algorithm is better, for a person to read."""

from racer.report.compare import compare
from racer.report.comparison import Comparison
from racer.report.summary import print_summary

__all__ = ["Comparison", "compare", "print_summary"]
