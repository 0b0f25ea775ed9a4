"""What came of a race, and which algorithm is better, for a person to read."""

from racer.report.summary import print_summary

__all__ = ["print_summary"]
