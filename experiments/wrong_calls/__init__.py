"""Wrong calls over the whole public surface: each has to be refused, with its argument named.

A target is a call that works, with the kind of each of its arguments; every kind has a list of
values that cannot be meant. One argument at a time is replaced by each of them. A call passes if
it raises an error of racer's (exit code 1 or 2 of the command line) that names the argument,
before anything is evaluated. All others are listed: `accepted`, `evaluated`, `raw` (another
exception: a traceback for the user) or `unnamed`.
"""
