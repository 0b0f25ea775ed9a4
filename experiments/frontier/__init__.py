"""Error against observations: every decider, and sequential halving at as many observations."""
