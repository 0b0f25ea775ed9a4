"""Portfolios beside the single best configuration."""
