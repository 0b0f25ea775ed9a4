"""The races of a tuner, one after the other: which cells are needed, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import warn
from racer.evaluate.outcome import Cell, bounded
from racer.racing.budget import Budget
from racer.racing.events import BlockCompleted, CandidatesAdded, Elimination, Ended, RaceEnded
from racer.racing.repeats import Repeats
from racer.racing.table import Table, with_success
from racer.seeding import seed_for
from racer.tuner.effects import effects
from racer.tuner.events import RaceCompleted
from racer.tuner.proposals import BROADER_FIRST, STRETCHED, Child, Proposals, version_of
from racer.tuner.result import Origin
from racer.tuner.schedule import Schedule
from racer.tuner.series_race import SeriesRace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.evaluate.outcome import Outcome
    from racer.racing.rules import Rules
    from racer.racing.stream import Stream
    from racer.space.space import Space

_RECENT = 500  # candidates that are learnt from, beside those still in

_LEAST_CLARITY = 0.5  # of a race that eliminated nobody: what was learnt narrows all the same
_HOPELESS = 2  # races in which every evaluation fails, before the tuning is given up
_AT_ONCE = 16  # evaluations of the best before the budget is checked again

Cells = list[Cell]
# yields cells, with those that may follow, block by block, and goes on once the cells are known
Flow = Iterator[tuple[Cells, Callable[[], Iterable[Cells]]]]


@dataclass(frozen=True)
class Plan:
    """All that makes a tuning, checked, as in `Tuner`; `first_test` fits few instances."""

    space: Space
    instances: tuple[Any, ...] | None
    test_instances: tuple[Any, ...]
    initial: tuple[dict[str, Any], ...]
    elites: int | None
    rules: Rules
    first_test: int
    stream: Stream

    def schedule(self, total: int | None) -> Schedule:
        """Return the schedule with so many evaluations in all; None: not known yet."""
        return Schedule.of(
            len(self.space.free),
            total,
            elites=self.elites,
            first_test=self.first_test,
            length=self.stream.length,
            conditional=len(self.space.conditions) / len(self.space.parameters),
        )


def _is_rejected(outcome: Outcome) -> bool:
    return outcome.status == "rejected"


class Series:
    """The state of a tuning; `events` have happened and have not been told yet."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._seed = plan.rules.seed or 0
        self.is_watched = False
        self.events: list[Any] = []
        self._proposals = Proposals(plan.space, self._seed)
        self._budget = plan.rules.budgets[0]
        self._race: SeriesRace | None = None
        self._running: SeriesRace | None = None
        self._steps = 0
        self._clarity = 1.0
        self._told_apart = False
        self._has_tested = False
        self._drawn_to_its_end = False  # the space
        self.recorded: Iterator[dict[str, Any]] = iter(())  # sampled by an earlier version
        self.version = version_of(plan.space)  # of what is proposed
        self.configs: list[dict[str, Any]] = []
        self.origins: list[Origin] = []
        self._runtime = runtime = plan.rules.runtime
        self._limit = None if runtime is None else runtime.limit
        self.known = Table(maximize=plan.rules.maximize, runtime=runtime)
        self.repeats = Repeats(plan.stream, plan.rules)
        self.tests = Table(maximize=plan.rules.maximize, runtime=runtime)
        self.eliminations: list[Elimination] = []
        self.races: list[RaceCompleted] = []
        self.rejected: set[int] = set()
        self.elite: tuple[int, ...] = ()
        self.best: int | None = None
        self.ended: Ended | None = None
        self.evaluations = 0
        self.seconds = 0.0
        self.blocks_used = 0

    def take_in(self, cells: Sequence[Cell], outcomes: Sequence[Outcome]) -> None:
        """Note the outcomes of cells, in the order in which they were asked for."""
        was_open = self.repeats.is_open
        for _, group in groupby(range(len(cells)), lambda i: (cells[i].held_out, cells[i].block)):
            some = list(group)
            first, told = cells[some[0]], [outcomes[i] for i in some]
            table = self.tests if first.held_out else self.known
            candidates = [cells[i].candidate for i in some]
            table.add(first.block, candidates, told)
            if not first.held_out:
                self.repeats.see(first.block, candidates, self.known)
                self.evaluations += len(told)
                for outcome in told:
                    self.seconds += outcome.seconds
                self.rejected |= {cells[i].candidate for i in some if _is_rejected(outcomes[i])}
        if was_open and not self.repeats.is_open:
            self._settle_repeats()

    def _settle_repeats(self) -> None:
        """Count the blocks that were held back, or use each instance once from here on."""
        n = self._plan.stream.n_instances or 0
        if self.repeats.found:
            stream = replace(self._plan.stream, deterministic=True)
            self._plan = replace(
                self._plan, stream=stream, first_test=min(self._plan.first_test, n)
            )
            self.blocks_used = min(self.blocks_used, n)
        if self._running is not None:
            self._running.settle_repeats(n if self.repeats.found else None)

    def run(self) -> Flow:
        """Run all races; the cells that are yielded are known when it goes on."""
        for number, budget in enumerate(self._plan.rules.budgets):
            self._budget = budget
            yield from self._run_races(number)
            yield from self._select()
            self._put_best_first()
            yield from self._spend_rest()
            if len(self.configs) == 1:
                self.best, self.elite = 0, (0,)
            for index in range(len(self._plan.test_instances)):
                yield self._held_out(index), partial(self._all_held_out, index + 1)
        self.ended = self._why_over()
        self.events.append(RaceEnded(self.ended, ()))

    @property
    def stream(self) -> Stream:
        """The blocks that can be used, as far as is known."""
        return self._plan.stream

    @property
    def alive(self) -> set[int]:
        """The candidates of which more may be asked: where none succeeds, also of those eliminated."""
        race = () if self._race is None else self._race.entrants
        return {*self.elite, *race}

    @property
    def fell_short(self) -> bool:
        """Whether it is over because its seconds were too few for any test."""
        return self.ended is Ended.BUDGET and self._is_too_short()

    def _is_too_short(self) -> bool:
        """Say whether the seconds, which cannot be known before, were too few for any test."""
        return self._budget.ends_by_time(self.evaluations + 1) and not self._has_tested

    def _run_races(self, phase: int) -> Flow:
        """Run races among the elites and new candidates while the budget pays for one."""
        begun = len(self.races) if phase else 0
        while True:
            left = self._left_for_races()
            if left is None and self.races:
                warn(
                    "all evaluations took 0 seconds, as they were told, and the budget is in "
                    "seconds: the tuning ends here; give each Outcome its seconds",
                )
                return
            if left is None:  # a small race finds out what an evaluation costs
                begun += 1
                schedule, race = self._plan.schedule(None), 0
                cells = schedule.least(0)
            else:
                race = len(self.races) - begun
                schedule = self._plan.schedule(self.evaluations + left)
                is_first = race == phase == 0 and self.version >= BROADER_FIRST
                part = schedule.first_part(left) if is_first else schedule.part(race, left)
                cells = max(part, schedule.least(race))
                if cells > left:
                    return
            if not self.races:
                cells = max(cells, self._price_of_initial(schedule, left))
            anew = not self.elite or (race == 0 and phase == 0)
            entrants = self._entrants(race, schedule, cells, anew=anew)
            self._drawn_to_its_end = len(entrants) == len(self.elite)
            space = self._plan.space
            if len(self.configs) == 1 < space.size and space.repair is None:
                warn(
                    "only one configuration that is allowed was found: if there are more, narrow "
                    "the ranges to where they are, or give some by initial=",
                )
            if len(entrants) < 2 or self._drawn_to_its_end:
                return
            used = self.evaluations
            stretch = schedule.stretch if self.version >= STRETCHED else 1.0
            yield from self._run_race("race", entrants, cells, schedule.elites, stretch)
            if left is not None and cells >= left and self.evaluations == used:
                return  # all that is left does not pay for a block
            if len(self.races) >= _HOPELESS and not self.known.n_usable:
                return

    def _left_for_races(self) -> int | None:
        """Return how many evaluations are left beside those of elites that were capped."""
        again = sum(
            outcome.status == "capped" and outcome.value != self._limit
            for candidate in self.elite
            for outcome in self.known.of(candidate).values()
        )
        left = self._left()
        return None if left is None else max(left - again, 0)

    def _put_best_first(self) -> None:
        """Order the elites by the criterion of run times, on the blocks that all have seen."""
        if self._runtime is None or len(self.elite) < 2:
            return
        times = with_success(self.known.costs(self.elite))
        if len(times):
            order = self._runtime.as_costs(times).mean(axis=0).argsort(kind="stable")
            self.elite = tuple(self.elite[i] for i in order.tolist())
            self.best = None if self.best is None else self.elite[0]

    def _price_of_initial(self, schedule: Schedule, left: int | None) -> int:
        """Return what the initial candidates need: the first test, and more if it can be paid."""
        n, first_test = len(self._plan.initial), self._plan.first_test
        usual = n * schedule.blocks(0)
        return usual if left is None else max(min(usual, left), n * first_test)

    def _entrants(
        self, race: int, schedule: Schedule, cells: int, *, anew: bool
    ) -> tuple[int, ...]:
        number = len(self.races)
        first = len(self.configs)
        wanted = schedule.new_ones(race, cells, known=len(self.elite))
        if not self.configs:
            self._add(number, [Child(config, None) for config in self._plan.initial], initial=True)
            wanted = max(wanted - len(self._plan.initial), 0)
        if recorded := list(islice(self.recorded, wanted)):
            children = [Child(config, None) for config in recorded]
        elif anew:
            known = self.elite or range(len(self.configs))
            children = self._proposals.everywhere(wanted, number, known)
        else:
            children = self._proposals.around(self.elite, wanted, number, self._clarity)
        self._add(number, children)
        return (*self.elite, *range(first, len(self.configs)))

    def _add(self, race: int, children: Sequence[Child], *, initial: bool = False) -> None:
        if not children:
            return
        first = len(self.configs)
        for child in children:
            self._proposals.take(child.config)
            self.configs.append(child.config)
            self.origins.append(Origin(race, child.parent, initial))
        parents = tuple(child.parent for child in children)
        event = CandidatesAdded(race, first, tuple(self.configs[first:]), parents)
        self.events.append(event)

    def _expected_best_first(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Order candidates by what is to be expected of them after all that is known."""
        recent = range(max(len(self.configs) - _RECENT, 0), len(self.configs))
        about = sorted({*candidates, *(c for c in recent if self.known.of(c))})
        length = self._plan.stream.length
        if length is not None:
            length -= sum(not self.known.is_usable(block) for block in range(self.blocks_used))
        costs = with_success(self.known.all_costs(about))
        if self._runtime is not None:
            costs = np.where(np.isinf(costs), np.inf, self._runtime.as_costs(costs))
        failed = np.isinf(costs).sum(axis=0) == (~np.isnan(costs)).sum(axis=0)
        known = effects(costs, length)
        expected = self._proposals.learn(np.array(about), known, candidates, failed)
        order = expected.argsort(kind="stable")
        return tuple(candidates[i] for i in order.tolist())

    def _select(self) -> Flow:
        """Race the elites against each other with what is left, if it pays for a first test."""
        left = self._left()
        if len(self.elite) < 2 or left is None or left < len(self.elite):
            return
        yield from self._run_race("selection", self.elite, left, 1)

    def _spend_rest(self) -> Flow:
        """Evaluate the best, then the next best, on blocks unseen so far with what is left."""
        for candidate in self.elite:
            while left := self._left() or 0:
                known, length = self.known.of(candidate), self._plan.stream.length
                until = len(known) + left if length is None else length
                blocks = [block for block in range(until) if block not in known][:left]
                if not blocks:
                    break
                now, later = blocks[:_AT_ONCE], blocks[_AT_ONCE:]
                yield (
                    [c for block in now for c in self._cells([candidate], block, self._limit)],
                    partial(self._rest_ahead, candidate, later),
                )
                if self._plan.stream.length is None or length is not None:
                    self.blocks_used = max(self.blocks_used, now[-1] + 1)
                if candidate in self.rejected:
                    self._drop_rejected(candidate)
                    break

    def _drop_rejected(self, candidate: int) -> None:
        """Take a candidate that was rejected after the last race out of the elites."""
        self.elite = tuple(c for c in self.elite if c != candidate)
        if self.best == candidate:
            self.best = self.elite[0] if self.elite else None
        self.eliminations.append(Elimination.of_rejected(self._steps, candidate))

    def _rest_ahead(self, candidate: int, blocks: Sequence[int]) -> Iterator[Cells]:
        for block in blocks:
            yield self._cells([candidate], block, self._limit)
        yield from self._all_held_out(0)

    def _run_race(
        self,
        kind: str,
        entrants: Sequence[int],
        cells: int,
        survivors: int,
        stretch: float = 1.0,
    ) -> Flow:
        number = len(self.races)
        order, protected_until = self._order(kind, number, entrants)
        # more than can be paid for: below, the race ends before it is spent; with the held-out
        # cells, as deciders that plan by the budget have always been told
        most = max(
            round(stretch * cells)
            + sum(len(self.known.of(c)) + len(self.tests.of(c)) for c in entrants),
            len(entrants) * self._plan.first_test,
        )
        length = self._plan.stream.length
        rules = replace(
            self._plan.rules,
            budget=Budget(evaluations=most),
            seed=seed_for(self._seed, "race", number),
            deterministic=length is not None,
            first_test=self._plan.first_test // self._plan.rules.block_size,
            min_survivors=min(survivors, len(entrants) - 1),
        )
        race = self._race = self._running = SeriesRace(
            entrants,
            order,
            protected_until,
            rules,
            length=length,
            patient=kind != "race",
            watch=self._watch if self.is_watched else None,
            leaders=self.elite if kind == "race" else (),
        )
        ended = None
        while (ended := race.ended) is None:
            block, alive = race.block, race.alive
            cap, coming = self._caps(kind, race, block)
            missing = self._missing(alive, block, cap)
            if len(missing) > 1 and self._left() is None:  # one tells what an evaluation costs
                yield self._cells(missing[:1], block, cap), tuple
                cells -= 1
                continue
            if len(missing) > cells or not self._pays(len(missing)):
                ended = "budget"
                break
            cells -= len(missing)
            if missing:
                yield (
                    self._cells(missing, block, cap),
                    partial(self._race_ahead, kind, race, len(missing), cells),
                )
                if race.ended is not None or race.block != block:  # each instance is used once
                    continue
            self.blocks_used = max(self.blocks_used, block + 1)
            told = [self.known.of(c)[block] for c in alive]
            if cap is not None and coming is not None:
                race.race.set_cap(cap, coming)
            told = [bounded(outcome, cap) or outcome for outcome in told]
            race.tell(told, held=self.repeats.holds(block))
        self._running = None
        self._conclude(kind, race, ended, survivors)

    def _caps(
        self, kind: str, race: SeriesRace, block: int
    ) -> tuple[float, float] | tuple[None, None]:
        """Return the cap of a block for a race, and that of a block which nobody knows.

        Where elites are known, the first is at least their worst time: they are not run again.
        """
        runtime = self._runtime
        if runtime is None:
            return None, None
        if kind == "selection" or not (leaders := race.leaders):
            return runtime.limit, runtime.limit
        mean = [
            np.mean([runtime.limit if o.value is None else o.value for o in known.values()])
            for c in leaders
            if (known := self.known.of(c))
        ]
        coming = runtime.slackened(float(np.median(mean))) if mean else runtime.limit
        there = [o for c in race.alive if (o := self.known.of(c).get(block)) is not None]
        cap = max([coming, *(o.value for o in there if o.value is not None)])
        return min([cap, *(o.value for o in there if o.value and o.status == "capped")]), coming

    def _missing(self, candidates: Sequence[int], block: int, cap: float | None) -> list[int]:
        """Return the candidates that are not known on a block, or were capped too early."""
        found = ((c, self.known.of(c).get(block)) for c in candidates)
        return [c for c, told in found if told is None or bounded(told, cap) is None]

    def _race_ahead(self, kind: str, race: SeriesRace, asked: int, cells: int) -> Iterator[Cells]:
        """Yield what the blocks to come need, while a race may use so many more `cells`.

        Then what is likely of the next race: its first group of blocks, which is new, of the
        elites to be.
        """
        size = self._plan.stream.block_size
        spent, used = 0, max(self.blocks_used, race.block + 1)
        for block, ranked in race.expected():
            cap = self._cap_ahead(kind, race, block)
            missing = self._missing(ranked, block, cap if kind == "selection" else None)
            spent += len(missing)
            if not self._pays(asked + spent):
                return
            if spent > cells:
                spent -= len(missing)
                break
            used = max(used, block + 1)
            yield self._cells(missing, block, cap)
        if kind == "selection":
            yield from self._all_held_out(0)
            return
        elites = race.ranked[: race.race.rules.min_survivors]
        if self._pays(asked + spent + len(elites) * size):
            for block in islice(self._new_blocks(used - used % size), size):
                yield self._cells(elites, block, self._cap_ahead(kind, race, block))

    def _cap_ahead(self, kind: str, race: SeriesRace, block: int) -> float | None:
        """Return the cap of a block as it would be now, times the slack."""
        cap, _ = self._caps(kind, race, block)
        return None if cap is None or self._runtime is None else self._runtime.slackened(cap)

    def _order(
        self, kind: str, race: int, entrants: Sequence[int]
    ) -> tuple[Iterator[int], list[int]]:
        """Return the blocks of a race, and until when each entrant is protected.

        A new block first, in which no elite has an advantage, then the old ones, in which elites
        are protected; blocks on which no candidate has succeeded come last.
        """
        size = self._plan.stream.block_size
        used = self.blocks_used - self.blocks_used % size  # in whole groups
        new = self._new_blocks(used)
        if kind == "selection":
            common = {b for b in self.known.common(entrants) if self.known.is_usable(b)}
            groups, hopeless = self._whole_groups(range(used))
            groups.sort(key=lambda group: not common.issuperset(group))
            at_least = len(common) + self._shared_evenly(len(entrants))
            return chain(*groups, new, hopeless), [at_least] * len(entrants)
        first = list(islice(new, size))
        groups, hopeless = self._whole_groups(self._plan.stream.old_ones(race, used))
        early = [*first, *chain(*groups)]
        until = []
        for candidate in entrants:
            known = self.known.of(candidate)
            until.append(
                max((at + 1 for at, block in enumerate(early) if block in known), default=0)
            )
        return chain(early, new, sorted(hopeless)), until

    def _new_blocks(self, used: int) -> Iterator[int]:
        """Yield the blocks after those used, while there are some."""
        for block in self._plan.stream.new_ones(used):
            length = self._plan.stream.length
            if length is not None and block >= length:
                return
            yield block

    def _whole_groups(self, blocks: Sequence[int]) -> tuple[list[Sequence[int]], list[int]]:
        """Return groups of blocks with any success, in their order, and the blocks of the others."""
        size = self._plan.stream.block_size
        groups = [blocks[i : i + size] for i in range(0, len(blocks), size)]
        usable = [group for group in groups if any(map(self.known.is_usable, group))]
        others = [b for group in groups for b in group if not any(map(self.known.is_usable, group))]
        return usable, others

    def _shared_evenly(self, among: int) -> int:
        """Return how many blocks protect all elites in the last race: mostly 0, little is left.

        Without more candidates much is left: half of it is better spent on knowing all elites well.
        """
        return (self._left() or 0) // (2 * among) if self._drawn_to_its_end else 0

    def _conclude(self, kind: str, race: SeriesRace, ended: str, survivors: int) -> None:
        """Choose the elites of a race that is over, and announce its end."""
        alive = race.alive
        others = [] if kind == "race" else [c for c in race.entrants if c not in alive]
        succeeded = {
            c for c in race.entrants if self.known.mean(c) is not None and c not in self.rejected
        }
        if ended == Ended.ALL_FAILED or not succeeded:
            self.elite = tuple(c for c in self.elite if c in succeeded)
        else:
            ranked = self._expected_best_first([*alive, *others])
            stay = tuple(c for c in ranked if c in alive and c in succeeded)
            eliminated = tuple(c for c in ranked if c in others and c in succeeded)
            if not stay:  # a candidate that never succeeded is not an elite
                stay = self._expected_best_first(sorted(succeeded))
            self.elite = stay[:survivors] if kind == "race" else (*stay, *eliminated)
        found = race.race.result()
        self._told_apart = self._told_apart or found.best_index is not None
        self._has_tested = self._has_tested or race.race.tested_blocks > 0
        self.best = self.elite[0] if self.elite and self._told_apart else None
        could_go = len(race.entrants) - min(survivors, len(race.entrants) - 1)
        clarity = (len(race.entrants) - len(alive)) / could_go
        self._clarity = min(max(clarity, _LEAST_CLARITY), 1.0)
        event = RaceCompleted(
            race=len(self.races),
            kind=kind,
            candidates=len(race.entrants),
            alive=len(alive),
            blocks=race.race.n_blocks,
            best=self.best,
            best_mean=None if self.best is None else self.known.mean(self.best),
            elites=self.elite,
            evaluations=self.evaluations,
            seconds=self.seconds,
            left=self._left(),
            ended=ended,
        )
        self.races.append(event)
        self.events.append(event)
        self.eliminations += self._renumbered(race, found.dropped)
        self._steps += race.race.n_blocks

    def _watch(self, event: BlockCompleted | RaceEnded) -> None:
        """Pass on the events of a race, in the numbers of the tuner."""
        race = self._race
        if race is None or not isinstance(event, BlockCompleted):
            return
        self.events.append(
            replace(
                event,
                block=self._steps + event.block,
                alive=tuple(race.entrants[i] for i in event.alive),
                best=None if event.best is None else race.entrants[event.best],
                eliminated=self._renumbered(race, event.eliminated),
                evaluations=self.evaluations,
                seconds=self.seconds,
            )
        )

    def _renumbered(
        self, race: SeriesRace, eliminations: Sequence[Elimination]
    ) -> tuple[Elimination, ...]:
        name = race.entrants
        return tuple(
            replace(
                e,
                block=self._steps + e.block,
                candidate=name[e.candidate],
                against=name[e.against],
            )
            for e in eliminations
        )

    def _why_over(self) -> Ended:
        if len(self.configs) == 1:
            return Ended.ONE_CANDIDATE
        if self.races and not self.known.n_usable:
            return Ended.ALL_FAILED
        all_equal = self.races and self.best is None and self.known.is_all_equal
        if all_equal and not self._is_too_short():
            return Ended.ALL_EQUAL
        nothing_new = self._plan.stream.length is not None and self._drawn_to_its_end
        return Ended.INSTANCES if nothing_new and self._left() != 0 else Ended.BUDGET

    def _left(self) -> int | None:
        """Return how many evaluations are left; None if that cannot be told yet."""
        return self._budget.left(evaluations=self.evaluations, seconds=self.seconds)

    def _pays(self, cells: int) -> bool:
        return self._budget.pays(cells, evaluations=self.evaluations, seconds=self.seconds)

    def _cells(self, candidates: Sequence[int], block: int, bound: float | None) -> list[Cell]:
        index, seed = self._plan.stream.place(block)
        instances = self._plan.instances
        instance = None if index is None or instances is None else instances[index]
        return [
            Cell(block, c, dict(self.configs[c]), instance, seed, False, index, bound)  # noqa: FBT003
            for c in self._missing(candidates, block, bound)
        ]

    def _all_held_out(self, first: int) -> Iterator[Cells]:
        return map(self._held_out, range(first, len(self._plan.test_instances)))

    def _held_out(self, index: int) -> list[Cell]:
        """Return the cells of the elites on a held-out instance that are not known."""
        _, seed = self._plan.stream.held_out(index)
        instance = self._plan.test_instances[index]
        return [
            Cell(index, c, dict(self.configs[c]), instance, seed, True, index, self._limit)  # noqa: FBT003
            for c in self.elite
            if index not in self.tests.of(c)
        ]
