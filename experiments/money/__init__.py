"""Races on a budget of money."""
