"""Races in series: new candidates around the elites of the races before."""

from __future__ import annotations

import math
import reprlib
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from racer._checks import counted, with_article
from racer.core.arguments import settings_of
from racer.core.blocks import InstanceOrder, Stream
from racer.core.contest import Description
from racer.core.events import Callback, Ended
from racer.core.objective import Aim
from racer.core.pool import as_instances
from racer.core.prices import RecordedPrices
from racer.core.rules import Rules
from racer.core.runtime import Runtime
from racer.errors import BudgetError, CandidateError, RaceStateError, SettingError
from racer.racing.asktell import AskTell, Flow
from racer.racing.loop import too_short
from racer.results.tuning import TuneResult
from racer.space.space import Space
from racer.tuner.elsewhere import Elsewhere
from racer.tuner.history import History
from racer.tuner.plan import Plan, Search
from racer.tuner.proposals import SAMPLING
from racer.tuner.rungs import checked_fidelity
from racer.tuner.tuning import Tuning
from racer.tuner.warm_start import with_results

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Unpack

    from racer.core.arguments import Given, Instances
    from racer.core.contest import Kind
    from racer.deciders.decider import Goal
    from racer.evaluate.fidelity import Fidelity
    from racer.results.base import Result

    Initial = Sequence[Mapping[str, Any] | Result] | Result

__all__ = ["Tuner"]


def default_decider(runtime: Runtime | None, goal: Goal | None = None) -> str:
    """Return the decider of a tuning that is given none; one of ranks where times are capped."""
    if goal is not None:
        return "front" if goal.kind == "front" else "goal-for-budget"
    capped = runtime is not None and runtime.slack < math.inf
    return "bayesian-friedman" if capped else "best-for-budget"


class Tuner(AskTell):
    """Races in series by `ask` and `tell`: no clock, no files, no processes.

    `ask` for the required cells, evaluate them in any order, `tell` each outcome.
    Blocks and candidates are numbered through all races; no cell is asked for twice, and elites
    take their outcomes from race to race. Nothing happens before the first `ask`.

    Parameters
    ----------
    space : Space
    instances : sequence, Instances or None
        Used again with new seeds when they run out. None: a noisy objective without instances.
    initial : sequence of configurations, or a result
        Candidates of the first race, beside sampled ones. Of a result (or several, in the
        sequence): its survivors, the best first; of a Pareto front up to 6 for each metric, the
        best spread first. Any outside the space are left out, with a `RacerWarning`.
    search : Search, optional
        How many elites survive, and how many are tested.
    fidelity : Fidelity, optional
        As in `racer.tune`; the `fidelity` of a cell is None where it is a full evaluation.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted`, `RaceCompleted`, `CandidatesAdded`, and the
        `RaceEnded` of the whole tuning.
    **given
        `budget`, `goal`, `decider` and `seed`, as in `racer.tune`.

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

    kind: ClassVar[Kind] = "tuning"

    def __init__(
        self,
        space: Space,
        instances: Sequence[Any] | Instances | None = None,
        *,
        initial: Initial = (),
        search: Search | None = None,
        fidelity: Fidelity | None = None,
        callbacks: Sequence[Callback] = (),
        **given: Unpack[Given],
    ) -> None:
        super().__init__(callbacks)
        settings = settings_of("tuning", instances, given)
        self._set_up(space, **settings, initial=initial, search=search, fidelity=fidelity)

    def _set_up(
        self,
        space: Space,
        instances: Sequence[Any] | None = None,
        *,
        initial: Initial = (),
        search: Search | None = None,
        fidelity: Fidelity | None = None,
        instance_order: InstanceOrder = "shuffled",
        test_instances: Sequence[Any] | None = None,
        **rules: Any,
    ) -> None:
        own = {f.name: rules.pop(f.name) for f in fields(Search) if f.name in rules}
        if not isinstance(space, Space):
            raise SettingError(
                f"space={reprlib.repr(space)}: give a racer.Space, such as "
                'racer.Space({"x": racer.Real(0, 1)})'
            )
        self.space = space
        self.instances: tuple[Any, ...] | None = as_instances(instances)
        self.test_instances: tuple[Any, ...] = as_instances(test_instances, "held_out") or ()
        self.rules: Rules = _with_defaults(rules)
        n_instances = None if self.instances is None else len(self.instances)
        self.rules.generalizes(n_instances)  # refuses what cannot be
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
            initial=_with_default(space, _checked(space, with_results(space, initial))),
            search=Search(**own) if own else Search.of(search),
            rules=self.rules,
            first_test=self.rules.least_blocks(n_instances),
            stream=stream,
            fidelity=checked_fidelity(fidelity, self.rules),
        )
        self._check_search()
        self._check_budget()
        self._history = History(self._plan)
        self._tuning = Tuning(self._history, self._notes.append)
        self._elsewhere = Elsewhere(space, self.instances, self.rules)

    @property
    def least_budget(self) -> int:
        """The smallest number of evaluations: two candidates to the first test, and `initial`.

        Of several metrics, that with which races in series make sense.
        """
        plan, given = self._plan, len(self._plan.initial)
        if plan.rules.goal is None:
            return 2 * plan.first_test + max(given - 2, 0)
        return max(plan.schedule(None).minimum, given * plan.first_test)

    def _check_search(self) -> None:
        """Refuse settings that this tuning has no use for."""
        tested = self._plan.search.test_elites
        if tested is not None and not self.test_instances:
            raise SettingError(
                f"test_elites={tested} without held-out instances: give held_out, or leave it out"
            )

    def _check_budget(self) -> None:
        """Refuse a budget with which no race makes sense."""
        budget, least = self.rules.budgets[0].evaluations, self.least_budget
        if budget is not None and budget < least:
            given = counted(len(self._plan.initial), "initial candidate")
            lower = "first_test" if self.rules.goal is None else "elites or first_test"
            raise BudgetError(
                f"budget of {budget} evaluations: at least {least} are needed with "
                f"{given}, the first test after "
                f"{self._plan.first_test} blocks; raise the budget, or lower {lower}"
            )

    @property
    def seed(self) -> int:
        """The seed that repeats the tuning."""
        return self.rules.seed or 0

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings: Tuner.of(space, instances, test_instances=.., **settings) is the same one."""
        rules = self.rules.settings()
        del rules["min_survivors"]
        search = asdict(self._plan.search)
        return {
            **rules,
            **{name: n for name, n in search.items() if n is not None or name == "elites"},
            "initial": list(self._plan.initial),
            "instance_order": self._plan.stream.order,
            **({} if self._plan.fidelity is None else {"fidelity": self._plan.fidelity}),
        }

    def description(self) -> Description:
        """Return its parts; its candidates come from the space."""
        settings = {
            "space": self.space.to_json(),
            "test_instances": list(self.test_instances),
            "sampling": SAMPLING,
            **self.settings,
        }
        parameters = tuple(self.space.parameters)
        return Description(self.kind, settings, (), self.instances, self.test_instances, parameters)

    @property
    def configs(self) -> tuple[dict[str, Any], ...]:
        """All candidates so far, by number."""
        return tuple(self._history.configs)

    @property
    def alive(self) -> Collection[int]:
        """The candidates of which cells may still be asked for: a race's, and the elites."""
        return self._tuning.alive

    @property
    def n_blocks(self) -> int:
        """How many blocks have been used."""
        return self._history.blocks_used

    @property
    def race_blocks(self) -> int:
        """How many blocks of the current race are complete."""
        current = self._tuning.current
        return 0 if current is None else current.state.block

    @property
    def ended(self) -> Ended | None:
        """Why the tuning ended; None while it goes on."""
        return self._tuning.ended

    def tell_elsewhere(self, *given: Any) -> None:
        """Take an outcome that was made elsewhere, of any configuration, before the first `ask`.

        The best three by mean are in the first race; cells with a known outcome are not asked
        for, and count as evaluations where they are used.

        Parameters
        ----------
        *given
            ``config, instance, seed, outcome``, where the seed None means that it holds for any; or
            a DataFrame: a column for each parameter, `value` (empty where it failed) and, if there
            are any, `instance` and `seed`.

        Raises
        ------
        RaceStateError
            After the first `ask`, or given otherwise.
        CandidateError, SettingError
            A configuration outside the space; an instance that is not among the tuning's.
        """
        if self._running is not None:
            raise RaceStateError("outcomes made elsewhere are told before the first ask()")
        self._elsewhere.add(*given)

    def result(self) -> TuneResult:
        """Return the result of a tuning that has ended, or the state of one."""
        tuning, history = self._tuning, self._history
        known, tests = history.known.copy(), history.tests.copy()
        cheap = None if history.cheap is None else history.cheap.copy()
        if cheap is not None:
            told = self._asked.told
            cheap.add(
                (c, told[k]) for k, c in self._asked.by_key.items() if len(k) > 3 and k in told
            )
        pending = self._asked.add_told(
            known, tests=tests, repeats=history.repeats, prices=history.prices
        )
        return TuneResult(
            configs=self.configs,
            leader=tuning.best,
            is_verified=history.verified is not None,
            survivors=tuning.elites,
            ended=tuning.ended or Ended.INTERRUPTED,
            evaluations=history.n_full + len(pending) + (0 if cheap is None else cheap.evaluations),
            seconds=history.seconds + math.fsum(outcome.seconds for outcome in pending),
            spent=known.spent,
            seed=self.seed,
            known=known,
            stream=history.plan.stream,
            _eliminations=tuple(tuning.eliminations),
            _evidence=tuple(tuning.evidence),
            rules=self.rules,
            instances=self.instances,
            space=self.space,
            test_instances=self.test_instances,
            completed_races=tuple(tuning.races),
            origins=tuple(tuning.origins),
            held_out=tests,
            _cheap=cheap,
        )

    def _begin_with(self, elsewhere: Elsewhere) -> None:
        """Add configurations from elsewhere to the initial ones, as far as the budget goes."""
        if not elsewhere.configs:
            return
        budget = self.rules.budgets[0].evaluations
        room = math.inf if budget is None else budget - self.least_budget
        initial = elsewhere.added_to(self._plan.initial, room)
        self._plan = replace(self._plan, initial=initial)
        self._history = History(self._plan)
        self._tuning = Tuning(self._history, self._notes.append)

    def _flow(self) -> Flow:
        self._begin_with(self._elsewhere)
        history, flow = self._history, self._tuning.run()
        outcomes: Any = None
        while True:
            self._tuning.is_watched = bool(self._callbacks)
            try:
                asked = flow.send(outcomes)
            except StopIteration:
                break
            cells, outcomes = asked.cells, []
            if cells:
                known = self._elsewhere.outcomes(cells)
                made = {key: self._counted(asked.by_key[key], one) for key, one in known.items()}
                asked.told |= made
                outcomes = [*made.values()] if len(made) == len(cells) else (yield asked)
            is_open = history.repeats.is_open
            history.record(cells, outcomes)
            if is_open and history.repeats.found:
                history.use_once()
                self._notes.append(history.repeats.message)
        if self._tuning.fell_short:
            n, due = history.evaluations, history.plan.first_test
            after = f"{n} evaluations, before the first test of a race ({due} blocks)"
            rest = "configuration", "a lower first_test"
            self._notes.append(too_short(self.rules, history.budget, after, *rest))


def _with_defaults(given: dict[str, Any]) -> Rules:
    """Return the rules of a tuning, with its defaults; SettingError for prices of a race."""
    if given.get("each_test") is None:
        given["each_test"] = 1
    if given.get("decider") is None:
        aim = Aim.of(given.get("metrics"), given.get("objective"))
        goal = None if aim is None else aim.goal
        given["decider"] = default_decider(Runtime.of(given.get("runtime")), goal)
    rules = Rules.given(given)
    if isinstance(rules.prices, tuple) and not isinstance(rules.prices, RecordedPrices):
        raise SettingError(
            "prices= has a number per candidate, and those of a tuning are not known yet: give a "
            "function prices(config, instance) -> float"
        )
    return rules


def _with_default(space: Space, initial: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """Return the initial candidates, the default before all others."""
    if space.default is None:
        return initial
    key = space.key(space.default)
    return (space.default, *(config for config in initial if space.key(config) != key))


def _checked(space: Space, initial: Any) -> tuple[dict[str, Any], ...]:
    """Return the initial candidates as the space writes them, each once."""
    if not isinstance(initial, list | tuple):
        raise CandidateError(f"initial is {with_article(initial)}: give a list of dicts")
    checked: dict[Any, dict[str, Any]] = {}
    for index, config in enumerate(initial):
        try:
            clean = space.check(config)
        except CandidateError as error:
            raise CandidateError(f"initial[{index}]: {error}") from error
        if checked.setdefault(space.key(clean), clean) is not clean:
            raise CandidateError(f"initial[{index}]={config!r} is there twice: give it once")
    return tuple(checked.values())
