"""How often a probability of being the best is right."""
