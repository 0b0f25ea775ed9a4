"""Parameter files of the R package irace: the lines of a file, R's syntax, and its meaning."""
