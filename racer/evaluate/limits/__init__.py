"""Limits of time and memory: evaluations in processes of their own."""
