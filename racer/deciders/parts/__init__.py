"""Tools of the deciders: gates, e-processes, checks of verdicts."""
