"""Two programs tuned from files: a solver for MAX-SAT, compiled on the spot, and minisat."""
