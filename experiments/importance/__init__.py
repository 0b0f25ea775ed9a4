"""Importance and ablation, checked where the truth is known."""
