"""A comparison as prose, tables, terminal output and pictures."""
