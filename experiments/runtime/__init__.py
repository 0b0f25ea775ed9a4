"""Run time as the cost: what caps do to tests, races, and the tuning of solvers."""
