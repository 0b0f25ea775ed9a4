"""The protocol of deciders: from completed blocks to a verdict on which candidates to eliminate."""

from __future__ import annotations

import reprlib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from racer._checks import check_fraction, flag, is_whole, whole
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

Schedule = int | Literal["growing"]
GoalKind = Literal["front", "within", "constrained"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The goal of a race of several metrics; all of them are costs, smaller is better.

    Attributes
    ----------
    kind : {"front", "within", "constrained"}
        "front": the candidates that no other beats in every metric. "within": the candidate with
        the smallest first metric of all whose other metrics are within `limits` of their least
        means. "constrained": the same of all whose other metrics are at most `limits`.
    exact : tuple of bool
        One per metric: whether it is known exactly, without noise.
    margins : tuple of float
        One per metric: differences up to it do not count for the front.
    limits : tuple of float
        One for each metric but the first; () for a front.
    bounds : tuple of (float, float) or None
        One per metric: the smallest and the largest cost there can be; None if not known.

    Examples
    --------
    >>> from racer.deciders import Goal
    >>> Goal(kind="front", exact=(False, True), margins=(0.0, 0.0), bounds=(None, None)).n_metrics
    2
    """

    kind: GoalKind
    exact: tuple[bool, ...]
    margins: tuple[float, ...]
    limits: tuple[float, ...] = ()
    bounds: tuple[tuple[float, float] | None, ...]

    @property
    def n_metrics(self) -> int:
        """The number d of metrics that decide."""
        return len(self.exact)


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """The race that a decider is started for; later versions may add fields.

    Attributes
    ----------
    n_candidates : int
        The number m of candidates at the start.
    rng : numpy.random.Generator
        The only source of random numbers for this race.
    objective : "cost" or Goal
        "cost": one number per cell, `Blocks.costs`, decides. A `Goal` is the answer sought by
        the metrics of `Blocks.metrics`.
    budget : int, optional
        Evaluations that the race may use at most; None if it is not limited by their number.
    n_blocks : int, optional
        Blocks that the race may have at most; None if instances are used more than once.
    n_instances : int, optional
        None for a race without instances.
    prices : ndarray, shape (m,), optional
        Price of an evaluation of each candidate, its mean over instances; None if it is not known.
    bounds : (float, float), optional
        The smallest and the largest cost, where the decider has `bounds`; else None.
    generalize : bool
        The claims are about instances like those given, not about these alone: of two blocks of one
        instance, the second gives no evidence about others.
    has_share : bool
        The budget is in money or in seconds, too: `Blocks.used_share` will be given.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.deciders import Setting
    >>> Setting(3, np.random.default_rng(1), budget=60).budget
    60
    """

    n_candidates: int
    rng: np.random.Generator
    _: KW_ONLY
    objective: Literal["cost"] | Goal = "cost"
    budget: int | None = None
    n_blocks: int | None = None
    n_instances: int | None = None
    prices: NDArray[np.float64] | None = None
    bounds: tuple[float, float] | None = None
    has_share: bool = False
    generalize: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks completed since the last test.

    Attributes
    ----------
    candidates : ndarray of int, shape (m,)
        The candidates still in, ascending. One that was in before and is missing now has been
        eliminated.
    costs : ndarray, shape (k, m)
        One row per new block; smaller is better, +inf for a failed cell.
    used : int, optional
        Evaluations that the race has used, blocks included in which every cell failed.
    instances : ndarray of int, shape (k,), optional
        The instance of each row, by its index; None without instances, or if it is not known.
    metrics : ndarray, shape (k, m, d), optional
        The d metrics that decide in each cell, as costs: smaller is better, +inf for a failed cell;
        the first of them is `costs`. None where one number per cell decides.
    used_share : float in [0, 1], optional
        The fraction of the budget that is used, where it is in money or in seconds: the nearest
        limit's, if there are several. None where `used` and `Setting.budget` give it.
    has_penalty : bool
        Rows are means of groups, and the largest cost among their blocks so far is a penalty, such as
        ten times a limit: several candidates have exactly that, far beyond all others. Means hide it.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.deciders import Blocks
    >>> blocks = Blocks(candidates=np.array([0, 2]), costs=np.array([[0.5, 0.7], [0.1, np.inf]]))
    >>> blocks.costs.shape
    (2, 2)
    """

    candidates: NDArray[np.intp]
    costs: NDArray[np.float64]
    _: KW_ONLY
    used: int | None = None
    instances: NDArray[np.intp] | None = None
    metrics: NDArray[np.float64] | None = None
    used_share: float | None = None
    has_penalty: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """One candidate to be eliminated.

    Attributes
    ----------
    candidate, against : int
        The candidate, and the opponent that settles it.
    reason : str
        Any text. racer's own deciders use "inferior", "indistinguishable", "halved", "outranked"
        (the budget has no more room for it) or "unlikely"; of several metrics also "dominated"
        (worse in every metric) or "unacceptable", of means "not better" (by more than a margin).
    probability : float
        The evidence, in terms of `measure`: the posterior probability that the reason is true
        ("unlikely": that the candidate is best after all), the p-value of the test that found the
        difference, the fraction of blocks that the opponent won, or a number that may exceed 1, as
        it is no probability: the e-value against the candidate, or by how much its mean is larger.
    measure : str
        Any text. racer's own deciders use "posterior", "p-value", "win-share", "e-value", "place"
        (the number of candidates before it) or "difference of means" (of all items).

    Examples
    --------
    >>> from racer.deciders import Drop
    >>> drop = Drop(1, "inferior", against=0, probability=0.01, measure="p-value")
    """

    candidate: int
    reason: str
    _: KW_ONLY
    against: int
    probability: float
    measure: str


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The answer of a decider to a test.

    Attributes
    ----------
    dropped : tuple of Drop
        The candidates to be eliminated, strongest evidence first: each is one of
        `Blocks.candidates`, each once, and never all of them.
    best : int or None
        The candidate with the best standing (the first of them, if several tie); None when all
        candidates tie.
    standing : ndarray, shape (m,)
        The score by which candidates are ordered, in the order of `Blocks.candidates`: smaller is
        better, without NaN.
    evidence : mapping, optional
        Results of the omnibus test, for the record.
    undecided : bool
        No drop can come any more within the budget; the race ends unless a candidate is
        eliminated.
    settled : bool
        Nothing is open between the candidates that are left, as of a front of which each is known
        to be better than each other somewhere: the race ends.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.deciders import Blocks, FRace, Setting
    >>> decider = FRace()
    >>> state = decider.start(Setting(3, np.random.default_rng(1)))
    >>> blocks = Blocks(np.arange(3), np.tile([1.0, 2.0, 3.0], (8, 1)))
    >>> state, verdict = decider.decide(state, blocks)
    >>> verdict.best, [drop.candidate for drop in verdict.dropped]
    (0, [1, 2])
    >>> verdict.standing
    array([-1.,  0.,  1.])
    """

    dropped: tuple[Drop, ...]
    best: int | None
    standing: NDArray[np.float64]
    evidence: Mapping[str, float | str] = field(default_factory=dict)
    _: KW_ONLY
    undecided: bool = False
    settled: bool = False


@runtime_checkable
class Decider(Protocol):
    """Settings of an elimination procedure; its knowledge of a race is the state, passed in and out.

    Inherit from this class: `start` and `decide` have to be written, all else has a default, as will
    later additions. An object with all of these attributes is a decider, too; each may
    be a class attribute, a field or a property.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import racer
    >>> from racer.deciders import Decider, Drop, Verdict
    >>> @dataclass(frozen=True)
    ... class Worst(Decider):  # drops the worst mean at each test
    ...     def start(self, setting):
    ...         return np.zeros(setting.n_candidates)
    ...     def decide(self, state, blocks):
    ...         state = state.copy()
    ...         state[blocks.candidates] += blocks.costs.sum(axis=0)
    ...         standing = state[blocks.candidates]
    ...         best = int(blocks.candidates[standing.argmin()])
    ...         worst = int(blocks.candidates[standing.argmax()])
    ...         if best == worst:  # all tie
    ...             return state, Verdict((), None, standing)
    ...         won = {"probability": 1.0, "measure": "win-share"}
    ...         drop = Drop(worst, "inferior", against=best, **won)
    ...         return state, Verdict((drop,), best, standing)
    >>> racer.race([3, 1, 2], lambda c, i, seed: c + seed % 7, decider=Worst(), budget=60, seed=1).best
    1
    """

    if TYPE_CHECKING:  # read-only for the type checker

        @property
        def tests(self) -> Schedule:
            """Schedule of tests where `each_test` is None; 1."""
            return 1

        @property
        def first_test(self) -> int:
            """Number of blocks before the first test of a race; 5."""
            return 5

        @property
        def each_test(self) -> Schedule | None:
            """Number of blocks between later tests, or "growing"; None: as `tests` says."""
            return None

        @property
        def min_survivors(self) -> int:
            """A race stops when no more candidates than this are left; 1."""
            return 1

        @property
        def takes_capped(self) -> bool:
            """True if it takes run times of which some are capped, as ranks and signs do; False."""
            return False

        @property
        def ends_itself(self) -> bool:
            """True if it plans with the budget, so that no race ends for want of drops; False."""
            return False

        @property
        def by_means(self) -> bool:
            """True if it compares mean costs as they are, outliers included; False."""
            return False

        @property
        def objectives(self) -> tuple[str, ...]:
            """Kind of objective: "cost", one number per cell, or kinds of `Goal`; ("cost",)."""
            return ("cost",)

        @property
        def bounds(self) -> tuple[float, float] | None:
            """The smallest and largest score, if it compares means of bounded scores; None.

            Bounds of the objective's `racer.Metric` come first. A race then refuses scores outside,
            uses each instance once, in random order, and shows blocks on which all cells failed.
            """
            return None

        @property
        def judge(self) -> Judge | None:
            """Compare one candidate with others that have not seen the same blocks.

            `judge(own, others)` returns a Drop or None for costs (n,) and (n, k), NaN where an
            opponent has not seen the block. In the Drop, `candidate` is k and `against` a column.
            None, the default: racer races the candidate with the others instead.
            """
            return None
    else:
        tests, judge, bounds = 1, None, None
        first_test, each_test, min_survivors = 5, None, 1
        takes_capped = ends_itself = by_means = False
        objectives = ("cost",)

    @abstractmethod
    def start(self, setting: Setting) -> Any:
        """Return the state of a race in which nothing is known yet."""

    @abstractmethod
    def decide(self, state: Any, blocks: Blocks) -> tuple[Any, Verdict]:
        """Return the next state and the candidates to eliminate, after new blocks.

        It may modify the state that it is given, and return the same object.
        """

    def planned_room(self, state: Any, used: int) -> int | None:  # noqa: ARG002
        """Return the number of candidates it will keep after `used` evaluations; None: no plan.

        Free workers then evaluate no more candidates ahead; decisions do not depend on it.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class Scheduled(Decider):
    """Base of racer's deciders: when they test, and how many candidates they leave.

    Parameters
    ----------
    first_test : int
        Number of blocks before the first test.
    each_test : int or "growing", optional
        Number of blocks between later tests; "growing": at a quarter more blocks each time (5, 6,
        8, 10, 13, 16, 20, 25, ..) and at the end, since most deciders spend their error at each
        test. None: in a tuning 1; in a race "growing", except for deciders whose error does not
        grow with the number of tests ("anytime") or that plan with the budget.
    min_survivors : int
        A race stops when no more candidates than this are left.

    Examples
    --------
    >>> from racer.deciders import FRace
    >>> FRace(first_test=8).first_test
    8
    """

    first_test: int = field(default=5, repr=False)
    each_test: Schedule | None = field(default=None, repr=False)
    min_survivors: int = field(default=1, repr=False)

    def __post_init__(self) -> None:
        whole(self.first_test, "first_test", least=1)
        whole(self.min_survivors, "min_survivors", least=1)
        if self.each_test is not None:
            checked_schedule(self.each_test)


@dataclass(frozen=True)
class AtLevel(Scheduled):
    """Base of deciders with a probability of error, `alpha`."""

    alpha: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self.alpha, "alpha", high=0.5)


@dataclass(frozen=True)
class PerCandidate(AtLevel):
    """Base of deciders whose `alpha` is of each candidate, or, `familywise`, of all together."""

    familywise: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.familywise, "familywise")

    def needed(self, alive: int) -> float:
        """Return the e-value at which one of the candidates left is dropped."""
        return (alive if self.familywise else 1.0) / self.alpha


def checked_schedule(each_test: Any) -> Schedule:
    """Return the distance of tests, if it is one, else SettingError."""
    if isinstance(each_test, str) and each_test == "growing":
        return "growing"
    if not is_whole(each_test) or each_test < 1:
        wanted = 'give a whole number >= 1, or "growing"'
        raise SettingError(f"each_test={reprlib.repr(each_test)}: {wanted}")
    return int(each_test)


Judge = Callable[["NDArray[np.float64]", "NDArray[np.float64]"], Drop | None]
# these have defaults
OPTIONAL = (
    *("tests", "takes_capped", "ends_itself", "by_means", "objectives", "judge"),
    *("bounds", "planned_room", "first_test", "each_test", "min_survivors"),
)
