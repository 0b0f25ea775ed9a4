"""Elimination procedures, each a frozen record of settings."""

from racer.deciders.decider import Blocks as Blocks
from racer.deciders.decider import Decider as Decider
from racer.deciders.decider import Drop as Drop
from racer.deciders.decider import Goal as Goal
from racer.deciders.decider import Scheduled as Scheduled
from racer.deciders.decider import Setting as Setting
from racer.deciders.decider import Verdict as Verdict
from racer.deciders.named import DECIDERS as DECIDERS
from racer.deciders.named import as_decider as as_decider
from racer.deciders.registry import *  # noqa: F403

__all__ = sorted(  # noqa: PLE0605
    name for name, value in vars().items() if name[0].isupper() or callable(value)
)
