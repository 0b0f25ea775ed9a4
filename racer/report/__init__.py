"""The result of a race, for a person to read."""

from racer.report.summary import print_summary

__all__ = ["print_summary"]
