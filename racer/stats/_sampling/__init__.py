"""Draws from the posterior of a small smooth model: one engine for all models of this room.

A model gives log-density and gradient on an unconstrained vector; its subject, the engine
does not know. It climbs to the mode, tries importance sampling around it, and runs Hamiltonian
chains where that is not good enough.
"""

from racer.stats._sampling.engine import Posterior, sample
from racer.stats._sampling.model import Model

__all__ = ["Model", "Posterior", "sample"]
