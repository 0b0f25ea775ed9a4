"""Give each value that outsiders meet a made-up field, in whatever process imports this.

It stands in for a later version of racer: what is written against this one must not notice.
"""

import sys
from dataclasses import field, make_dataclass

import racer.core.budget
import racer.core.events
import racer.deciders.decider
import racer.evaluate.outcome


def _grown(cls):
    made_up = ("made_up", str, field(default="a later field", kw_only=True))
    twin = make_dataclass(
        cls.__name__,
        [made_up],
        bases=(cls,),
        namespace={"__module__": __name__},
        frozen=True,
        eq=cls.__dataclass_params__.eq,
        slots="__slots__" in vars(cls),
    )
    for module in [module for name, module in sys.modules.items() if name.startswith("racer")]:
        for name, value in list(vars(module).items()):
            if value is cls:
                setattr(module, name, twin)
    return twin


Blocks, Drop, Verdict, Cell, Outcome, Budget, BlockCompleted, RaceEnded, Elimination = map(
    _grown,
    (
        racer.deciders.decider.Blocks,
        racer.deciders.decider.Drop,
        racer.deciders.decider.Verdict,
        racer.evaluate.outcome.Cell,
        racer.evaluate.outcome.Outcome,
        racer.core.budget.Budget,
        racer.core.events.BlockCompleted,
        racer.core.events.RaceEnded,
        racer.core.events.Elimination,
    ),
)
