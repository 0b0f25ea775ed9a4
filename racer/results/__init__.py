"""The table of what is known: blocks x candidates."""

from racer.results.table import Failure, Row, Table

__all__ = ["Failure", "Row", "Table"]
