"""Campaigns against what is promised of stores and files: kills, faults and damage, by the hundred."""
