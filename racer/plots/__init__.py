"""Pictures of races, tunings and comparisons: arrays or frames in, matplotlib axes out.

They need matplotlib, the extra ``racer-tuning[plot]``; without it, MissingExtraError is raised.
Colours are Okabe and Ito's, safe for colour-blind readers; their meaning is also shown
by a marker, a line or a word. Each function draws on the axes given, or on a figure of its own, and
returns the axes: ``ax.figure.savefig("picture.png")`` keeps it. In a figure of several axes, the
layout "constrained" makes room for the legends and notes beside them.
"""

from racer._entry import public_room
from racer.plots.candidates import bars, boxes
from racer.plots.critical_difference import critical_difference
from racer.plots.fronts import front
from racer.plots.pairs import intervals, matrix
from racer.plots.posteriors import evolution, posterior, predictive_check, simplex
from racer.plots.race import race
from racer.plots.tuning import parallel, quality, sampling

__all__ = [
    "bars",
    "boxes",
    "critical_difference",
    "evolution",
    "front",
    "intervals",
    "matrix",
    "parallel",
    "posterior",
    "predictive_check",
    "quality",
    "race",
    "sampling",
    "simplex",
]

public_room(vars())
