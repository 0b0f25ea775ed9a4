"""Campaigns against what is promised of stores and files: kills and damage, by the hundred."""
