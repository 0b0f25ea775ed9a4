"""Benavoli et al. (ICML 2014): losses of the signed-rank tests, Tables 1 to 3."""
