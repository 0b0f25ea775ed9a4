"""P(on the front): how often it is right."""
