"""All deciders, each imported by a line; its module names it, unless it is given by class only."""
# ruff: noqa: PLC0414 (`as` makes an import public)

from racer.deciders.anytime import AnytimeRace as AnytimeRace
from racer.deciders.bayesian_best import BayesianBest as BayesianBest
from racer.deciders.bayesian_friedman import BayesianFriedman as BayesianFriedman
from racer.deciders.bayesian_front import BayesianFront as BayesianFront
from racer.deciders.best_for_budget import BestForBudget as BestForBudget
from racer.deciders.constrained import ConstrainedRace as ConstrainedRace
from racer.deciders.correlated_t import CorrelatedTRace as CorrelatedTRace
from racer.deciders.f_race import FRace as FRace
from racer.deciders.fixed_confidence import FixedConfidence as FixedConfidence
from racer.deciders.front import FrontRace as FrontRace
from racer.deciders.goal_for_budget import GoalForBudget as GoalForBudget
from racer.deciders.halving import SequentialHalving as SequentialHalving
from racer.deciders.mean import MeanRace as MeanRace
from racer.deciders.signed_rank import SignedRankRace as SignedRankRace
from racer.deciders.t_race import TRace as TRace
from racer.deciders.within import WithinRace as WithinRace
