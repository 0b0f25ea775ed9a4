"""Bundles that were tampered with."""
