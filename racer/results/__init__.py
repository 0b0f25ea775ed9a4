"""The results of races, tunings and ablations, and how they are presented."""
