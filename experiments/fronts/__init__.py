"""Races to the front of several metrics, beside other ways."""
