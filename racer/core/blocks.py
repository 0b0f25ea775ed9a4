"""The blocks of a race or a tuning: which instance, with which seed, in which order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, count, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from racer._checks import choice
from racer.core.pool import as_sequence
from racer.deciders.parts.groups import Groups
from racer.errors import SettingError
from racer.evaluate.outcome import Cell
from racer.seeding import block_seed, rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

InstanceOrder = Literal["shuffled", "given"]


class Place(NamedTuple):
    """The instance and the seed of a block."""

    instance: int | None  # index into the instances; None without instances
    seed: int

    def cells(
        self,
        block: int,
        candidates: Iterable[int],
        config: Callable[[int], Any],
        instances: Sequence[Any] | None,
        *,
        held_out: bool = False,
        bound: float | None = None,
        metrics: tuple[str, ...] | None = None,
    ) -> list[Cell]:
        """Return the cells of candidates on a block here, `config` of each."""
        index, seed = self
        instance = None if index is None or instances is None else instances[index]
        return [
            Cell(
                *(block, candidate, config(candidate), instance, seed),
                held_out=held_out,
                instance_index=index,
                bound=bound,
                metrics=metrics,
            )
            for candidate in candidates
        ]


def in_random_order(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Yield cells, block by block, in an order drawn from the block's seed alone.

    A machine that becomes slower or faster would else favour the first candidate on each block.
    """
    for _, group in groupby(cells, attrgetter("held_out", "block")):
        some = list(group)
        order = rng_for(some[0].seed, "order").permutation(len(some)) if len(some) > 1 else [0]
        yield from (some[i] for i in order)


@dataclass(frozen=True)
class Stream:
    """The blocks that can be used, from 0; "shuffled" instances are shuffled anew each time.

    Consecutive groups of `block_size` instances stay together, or else the given `groups`.
    """

    n_instances: int | None
    seed: int
    deterministic: bool = False
    order: InstanceOrder = "shuffled"
    block_size: int = 1
    groups: Groups | None = None

    def __post_init__(self) -> None:
        choice(self.order, "order", get_args(InstanceOrder))
        if self.deterministic and self.n_instances is None:
            raise SettingError(
                "deterministic=True without instances: one evaluation per candidate would settle "
                "it; give instances, or deterministic=False"
            )
        if self.n_instances is not None and self.n_instances % self.block_size:
            raise SettingError(
                f"block_size={self.block_size} with {self.n_instances} instances: give whole groups "
                f"of {self.block_size}, one after the other"
            )

    @property
    def length(self) -> int | None:
        """How many blocks there are; None: without end."""
        return self.n_instances if self.deterministic else None

    @property
    def n_units(self) -> int | None:
        """How many groups there are, or instances without groups; None without instances."""
        return self.n_instances if self.groups is None else len(self.groups.members)

    @property
    def n_blocks(self) -> int | None:
        """How many blocks, or groups, a decider may be shown; None: without end."""
        return self.n_units if self.deterministic else None

    def first_groups(self, n: int) -> int:
        """Return how many blocks the first n groups have, or all groups if there are fewer."""
        found = () if self.groups is None else self._groups_of_turn(self.groups, 0)
        return sum(map(len, found[:n]))

    def instance(self, block: int) -> int | None:
        """Return the index of the instance of a block; None without instances."""
        if self.n_instances is None:
            return None
        turn, at = divmod(block, self.n_instances)
        is_shuffled = self.order == "shuffled"
        if self.groups is not None:
            return self._of_turn(self.groups, turn if is_shuffled else 0)[at]
        if is_shuffled:
            return _shuffled(self.n_instances, self.seed, turn, self.block_size)[at]
        return at

    def instance_or_block(self, block: int) -> int:
        """Return the index of the instance of a block; the block itself without instances."""
        instance = self.instance(block)
        return block if instance is None else instance

    def unit(self, block: int) -> int | None:
        """Return the group of a block, or its instance without groups; None without instances."""
        instance = self.instance(block)
        if self.groups is None or instance is None:
            return instance
        return self.groups.numbers[instance]

    def _of_turn(self, groups: Groups, turn: int) -> Sequence[int]:
        """Return all instances in the order of a turn."""
        if turn not in self._turns:
            if len(self._turns) == 16:
                self._turns.clear()
            members = self._groups_of_turn(groups, turn)
            self._turns[turn] = tuple(chain.from_iterable(members))
        return self._turns[turn]

    @cached_property
    def _turns(self) -> dict[int, tuple[int, ...]]:
        return {}

    def _groups_of_turn(self, groups: Groups, turn: int) -> Sequence[Sequence[int]]:
        """Return the instances of each group in the order of a turn."""
        members = groups.members
        if self.order == "given":
            return members
        return [members[i] for i in rng_for(self.seed, "instances", turn).permutation(len(members))]

    def place(self, block: int) -> Place:
        """Return the instance and the seed of a block."""
        return Place(self.instance(block), block_seed(self.seed, block))

    def held_out(self, index: int) -> Place:
        """Return the held-out instance of that number, and its seed."""
        return Place(index, seed_for(self.seed, "held out", index))

    def old_ones(self, race: int, used: int) -> list[int]:
        """Return the `used` first blocks, in whole groups, in the order in which a race takes them."""
        groups = rng_for(self.seed, "old blocks", race).permutation(used // self.block_size)
        return _spelled_out(groups.tolist(), self.block_size)

    def new_ones(self, used: int) -> Iterator[int]:
        """Yield the blocks after the first `used`, from the beginning of their group."""
        first = used - used % self.block_size
        return count(first) if self.length is None else iter(range(first, self.length))


def as_groups(labels: Any, n_instances: int | None, block_size: int) -> Groups:
    """Return the groups of instances with equal labels; SettingError if they do not fit."""
    if n_instances is None:
        raise SettingError("groups= without instances: give instances, or leave groups out")
    given = as_sequence(labels, "groups")
    if len(given) != n_instances:
        raise SettingError(
            f"groups= has {len(given)} labels: give one for each of the {n_instances} instances"
        )
    if block_size > 1:
        raise SettingError("groups= with block_size=: give one of them")
    try:
        numbers = {label: number for number, label in enumerate(dict.fromkeys(given))}
        missing = [label is None or bool(label != label) for label in given]  # noqa: PLR0124  (NaN)
    except TypeError as error:
        raise SettingError(f"groups=: a label is no name or number ({error})") from None
    if any(missing):
        raise SettingError(
            f"groups[{missing.index(True)}] is missing: an instance without others needs a label of "
            "its own"
        )
    return Groups(tuple(numbers[label] for label in given))


class Order:
    """The blocks of a race that are still to come."""

    def __init__(
        self, blocks: Iterable[int], instance_of: Callable[[int], int | None] | None = None
    ) -> None:
        self._blocks = iter(blocks)
        self._instance_of = instance_of
        self._drawn: deque[int] = deque()

    def peek(self, at: int = 0) -> int | None:
        """Return the block that comes after `at` others, None at the end."""
        while len(self._drawn) <= at:
            block = next(self._blocks, None)
            if block is None:
                return None
            self._drawn.append(block)
        return self._drawn[at]

    def advance(self) -> None:
        """Remove the first block."""
        self._drawn.popleft()

    def instances(self, blocks: Sequence[int]) -> NDArray[np.intp] | None:
        """Return which instance each block is of, (k,); None without instances."""
        if self._instance_of is None:
            return None
        found = [self._instance_of(block) for block in blocks]
        return None if None in found else np.array(found, dtype=np.intp)

    def restrict(self, end: int) -> None:
        """Remove all blocks from number `end` on."""
        rest = self._blocks
        self._drawn = deque(block for block in self._drawn if block < end)
        self._blocks = (block for block in rest if block < end)


@lru_cache(maxsize=16)
def _shuffled(n: int, seed: int, turn: int, block_size: int) -> tuple[int, ...]:
    groups = rng_for(seed, "instances", turn).permutation(n // block_size)
    return tuple(_spelled_out(groups.tolist(), block_size))


def _spelled_out(groups: list[int], size: int) -> list[int]:
    return [group * size + i for group in groups for i in range(size)]
