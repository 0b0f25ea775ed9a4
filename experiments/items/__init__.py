"""Races on scores of items, beside other ways."""
