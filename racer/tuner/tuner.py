"""Races in series: new candidates around the elites of the races before."""

from __future__ import annotations

import math
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer.errors import BudgetError, CandidateError, RaceStateError, SettingError, warn
from racer.evaluate.outcome import Cell, Outcome, check_outcome
from racer.racing.contest import Description
from racer.racing.events import Callback, Ended, check_callbacks
from racer.racing.pool import as_sequence
from racer.racing.race import under
from racer.racing.rules import Rules
from racer.racing.stream import InstanceOrder, Stream
from racer.space.space import Space
from racer.tuner.proposals import can_go_on
from racer.tuner.result import TuneResult
from racer.tuner.series import Plan, Series
from racer.tuner.warm_start import with_results

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from racer.evaluate.outcome import CellKey
    from racer.racing.result import Result
    from racer.racing.rules import RulesGiven
    from racer.racing.runtime import Runtime

    Initial = Sequence[Mapping[str, Any] | Result] | Result

__all__ = ["Tuner"]


def usual_decider(runtime: Runtime | None) -> str:
    """Return the decider of a tuning that is given none; one of ranks where times are capped."""
    capped = runtime is not None and getattr(runtime, "slack", math.inf) < math.inf
    return "bayesian-friedman" if capped else "best-for-budget"


class Tuner:
    """Races in series as ask and tell: no clock, no files, no processes.

    Ask for the cells that must be known next, evaluate them in any order, tell each outcome.
    Blocks and candidates are numbered through all races; no cell is asked for twice, and elites
    take what is known of them from race to race. Nothing happens before the first `ask`.

    Parameters
    ----------
    space : Space
    instances : sequence or None
        Used again with new seeds when they run out. None: a noisy objective without instances.
    initial : sequence of configurations, or a result
        Candidates of the first race, beside those sampled. Of a result (or several, in the
        sequence): the best, then each survivor that improves the mean over instances of the best
        so far most; what the space does not allow is left out, with a `RacerWarning`. Results
        that share instances are taken together, on those that all of them have seen.
    elites : int, optional
        Candidates that survive a race; 2 + log2 of the number of parameters if not given.
    instance_order : {"shuffled", "given"}
    test_instances : sequence, optional
        Held out: at the end the elites are evaluated on each of them once, beyond the budget.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted`, `RaceCompleted`, `CandidatesAdded`, and the
        `RaceEnded` of the whole tuning.
    **rules
        Budget, decider, seed, ..: the parameters of `racer.racing.Rules`, by name, but for
        `min_survivors`, whose part the elites have. Without `decider`: "best-for-budget", or for
        capped run times "bayesian-friedman"; without `each_test`: after each block.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work, before anything is asked for.

    References
    ----------
    López-Ibáñez, Dubois-Lacoste, Pérez Cáceres, Birattari, Stützle, The irace package: Iterated
    racing for automatic algorithm configuration, Operations Research Perspectives 3 (2016).

    Examples
    --------
    >>> import racer
    >>> tuner = racer.Tuner(racer.Space({"x": racer.Real(-1, 1)}), budget=100, seed=1)
    >>> while cells := tuner.ask():
    ...     for cell in cells:
    ...         tuner.tell(cell, racer.Outcome("ok", cell.config["x"] ** 2))
    >>> abs(tuner.result().best["x"]) < 0.1
    True
    """

    def __init__(
        self,
        space: Space,
        instances: Sequence[Any] | None = None,
        *,
        initial: Initial = (),
        elites: int | None = None,
        instance_order: InstanceOrder = "shuffled",
        test_instances: Sequence[Any] | None = None,
        callbacks: Sequence[Callback] = (),
        **rules: Unpack[RulesGiven],
    ) -> None:
        if not isinstance(space, Space):
            raise SettingError(f"space={space!r}: give a racer.Space")
        if "min_survivors" in rules:
            raise SettingError("a tuner has no min_survivors: give elites")
        self.space = space
        self.instances = None if instances is None else as_sequence(instances, "instances")
        self.test_instances = (
            () if test_instances is None else as_sequence(test_instances, "test_instances")
        )
        if rules.get("each_test") is None:
            rules["each_test"] = 1
        rules.setdefault("decider", usual_decider(rules.get("runtime")))
        self.rules = Rules.given(rules)
        n_instances = None if self.instances is None else len(self.instances)
        stream = Stream(
            n_instances,
            self.seed,
            bool(self.rules.deterministic),
            instance_order,
            self.rules.block_size,
        )
        self._plan = Plan(
            space=space,
            instances=self.instances,
            test_instances=self.test_instances,
            initial=_checked(space, with_results(space, initial)),
            elites=None if elites is None else whole(elites, "elites", least=1),
            rules=self.rules,
            first_test=self.rules.least_blocks(n_instances),
            stream=stream,
        )
        self._check_budget()
        self._told: dict[CellKey, Outcome] = {}
        self._asked: dict[CellKey, Cell] = {}
        self._series = Series(self._plan)
        self._flow = self._series.run()
        self._later: Callable[[], Iterable[list[Cell]]] = tuple
        self._has_begun = self._has_warned = False
        self._callbacks: list[Callback] = []
        for callback in check_callbacks(callbacks):
            self.watch(callback)

    @property
    def least_budget(self) -> int:
        """The smallest number of evaluations with which its races make sense."""
        schedule = self._plan.schedule(None)  # a larger budget means more races
        return max(schedule.minimum, len(self._plan.initial) * self._plan.first_test)

    def _check_budget(self) -> None:
        """Refuse a budget with which no race makes sense."""
        budget, least = self.rules.budgets[0].evaluations, self.least_budget
        schedule = self._plan.schedule(None)
        if budget is not None and budget < least:
            raise BudgetError(
                f"budget of {budget} evaluations: at least {least} are needed for "
                f"{schedule.races} races, with {schedule.elites} elites and {len(self._plan.initial)} "
                f"initial candidates, the first test after {self._plan.first_test} blocks; raise the "
                "budget, or lower elites or first_test"
            )

    @property
    def seed(self) -> int:
        """The seed that repeats the tuning."""
        return self.rules.seed or 0

    @property
    def settings(self) -> dict[str, Any]:
        """What makes it: Tuner(space, instances, test_instances=.., **settings) is the same one."""
        rules = self.rules.settings()
        del rules["min_survivors"]
        return {
            **rules,
            "initial": list(self._plan.initial),
            "elites": self._plan.elites,
            "instance_order": self._plan.stream.order,
        }

    def description(self) -> Description:
        """Return what it is made of; its candidates come from the space."""
        settings = {
            "space": self.space.to_json(),
            "test_instances": list(self.test_instances),
            "proposals": self._series.version,
            **self.settings,
        }
        parameters = tuple(self.space.parameters)
        return Description(settings, (), self.instances, self.test_instances, parameters)

    def go_on_as(self, version: int) -> bool:
        """Sample as an earlier version, before the first `ask`; say whether this one can."""
        if can := can_go_on(version, self.space):
            self._series.version = version
        return can

    def sample_as_recorded(self, configs: Iterable[Mapping[str, Any]], version: int) -> None:
        """Take new candidates from those that another version sampled, before the first `ask`."""
        given = [self.space.check(config) for config in configs]
        self._series.recorded = iter(given[len(self._plan.initial) :])
        self._series.version = version

    def watch(self, callback: Callback) -> None:
        """Call `callback` with each event from now on."""
        self._callbacks.append(callback)
        self._series.is_watched = True

    @property
    def configs(self) -> tuple[dict[str, Any], ...]:
        """All candidates so far, by number."""
        return tuple(self._series.configs)

    @property
    def alive(self) -> Collection[int]:
        """The candidates of which cells may still be asked for: a race's, and the elites."""
        return self._series.alive

    @property
    def n_blocks(self) -> int:
        """How many blocks have been used."""
        return self._series.blocks_used

    @property
    def ended(self) -> Ended | None:
        """Why the tuning ended; None while it goes on."""
        return self._series.ended

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that must be known next and have not been told; empty when over."""
        self._begin()
        return tuple(cell for key, cell in self._asked.items() if key not in self._told)

    def ahead(self, blocks: int) -> Iterator[Cell]:
        """Yield cells that may be asked for after these, of up to so many blocks, in order.

        Of a race, those of the blocks that its decider plans for, or without a plan that it is
        certain to reach while no elite can be eliminated, and of one more; then of the blocks with
        which the next race begins, those of the elites.
        """
        if self._asked:
            yield from chain.from_iterable(islice(self._later(), blocks))

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or has been told before, or this is not an outcome.
        """
        if not isinstance(cell, Cell):
            raise RaceStateError(f"{cell!r} is not a cell: tell only cells that ask() returned")
        check_outcome(outcome)
        self._begin()
        key = cell.key
        where = f"held-out instance {cell.block}" if cell.held_out else f"block {cell.block}"
        if key not in self._asked:
            raise RaceStateError(
                f"candidate {cell.candidate} on {where} was not asked for: tell only cells that "
                "ask() returned"
            )
        if key in self._told:
            raise RaceStateError(f"candidate {cell.candidate} on {where} has been told before")
        self._told[key] = under(self._asked[key].bound, outcome)
        if len(self._told) == len(self._asked):
            outcomes = [self._told[key] for key in self._asked]  # as they were asked for
            self._series.take_in(list(self._asked.values()), outcomes)
            self._told, self._asked = {}, {}
            self._advance()

    def result(self) -> TuneResult:
        """Return what is known: the result of a tuning that has ended, or the state of one."""
        series = self._series
        known, tests = series.known.copy(), series.tests.copy()
        pending = []
        for key, outcome in self._told.items():
            cell = self._asked[key]
            (tests if cell.held_out else known).add(cell.block, [cell.candidate], [outcome])
            if not cell.held_out:
                pending.append(outcome)
        return TuneResult(
            configs=tuple(series.configs),
            best_index=series.best,
            survivors=series.elite,
            ended=series.ended or Ended.INTERRUPTED,
            evaluations=series.evaluations + len(pending),
            seconds=series.seconds + math.fsum(outcome.seconds for outcome in pending),
            seed=self.seed,
            known=known,
            stream=series.stream,
            dropped=tuple(series.eliminations),
            rules=self.rules,
            instances=self.instances,
            space=self.space,
            test_instances=self.test_instances,
            races_held=tuple(series.races),
            origins=tuple(series.origins),
            held_out=tests,
        )

    def _begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._advance()

    def _advance(self) -> None:
        """Go on until there is something to ask for, and then tell what has happened."""
        for cells, later in self._flow:
            if cells:
                self._asked = {cell.key: cell for cell in cells}
                self._later = later
                break
        events, self._series.events = self._series.events, []
        for event in events:
            for callback in self._callbacks:
                callback(event)
        if self._series.repeats.found and not self._has_warned:
            self._has_warned = True
            warn(self._series.repeats.message)
        if self._series.fell_short:
            warn(
                f"the budget ended after {self._series.evaluations} evaluations, before the first "
                f"test of a race ({self._plan.first_test} blocks): there is no best; give more "
                "seconds, or a lower first_test",
            )


def _checked(space: Space, initial: Any) -> tuple[dict[str, Any], ...]:
    """Return the initial candidates as the space writes them, each once."""
    if not isinstance(initial, list | tuple):
        raise CandidateError(f"initial is a {type(initial).__name__}: give a list of dicts")
    checked: dict[Any, dict[str, Any]] = {}
    for index, config in enumerate(initial):
        try:
            clean = space.check(config)
        except CandidateError as error:
            raise CandidateError(f"initial[{index}]: {error}") from error
        if checked.setdefault(space.key(clean), clean) is not clean:
            raise CandidateError(f"initial[{index}]={config!r} is there twice: give it once")
    return tuple(checked.values())
