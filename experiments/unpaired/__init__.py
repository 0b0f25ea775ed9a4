"""Tests of independent samples: level and power, beside classical ones."""
