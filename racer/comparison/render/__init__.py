"""A comparison as text, tables, prose and pictures."""
