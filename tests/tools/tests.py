"""Nothing: it stands where some other package installs a module of this name.

`tests` is no package of ours. What worker processes import must have a name of its own, as the
modules beside this one have; with this module in the way, whatever asks for `tests.something` fails.
"""
