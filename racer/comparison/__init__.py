"""Which algorithm is better: a table of scores in, a comparison out."""
