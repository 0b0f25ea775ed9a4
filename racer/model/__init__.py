"""Models of costs: arrays in, posteriors out. Knows no race."""
