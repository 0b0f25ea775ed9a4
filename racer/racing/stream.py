"""The blocks of a race or a tuning: which instance, with which seed, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from racer.errors import SettingError
from racer.seeding import block_seed, rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Iterator

InstanceOrder = Literal["shuffled", "given"]


class Place(NamedTuple):
    """The instance and the seed of a block."""

    instance: int | None  # index into the instances; None without instances
    seed: int


@dataclass(frozen=True)
class Stream:
    """The blocks that can be used, from 0; "shuffled" instances are shuffled anew each time.

    Groups of `block_size` instances in a row stay together.
    """

    n_instances: int | None
    seed: int
    deterministic: bool = False
    order: InstanceOrder = "shuffled"
    block_size: int = 1

    def __post_init__(self) -> None:
        if self.order not in get_args(InstanceOrder):
            raise SettingError(
                f"instance_order={self.order!r}: give one of {', '.join(get_args(InstanceOrder))}"
            )
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

    def place(self, block: int) -> Place:
        """Return the instance and the seed of a block."""
        if self.n_instances is None:
            return Place(None, block_seed(self.seed, block))
        turn, at = divmod(block, self.n_instances)
        if self.order == "shuffled":
            at = _shuffled(self.n_instances, self.seed, turn, self.block_size)[at]
        return Place(at, block_seed(self.seed, block))

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


@lru_cache(maxsize=16)
def _shuffled(n: int, seed: int, turn: int, block_size: int) -> tuple[int, ...]:
    groups = rng_for(seed, "instances", turn).permutation(n // block_size)
    return tuple(_spelled_out(groups.tolist(), block_size))


def _spelled_out(groups: list[int], size: int) -> list[int]:
    return [group * size + i for group in groups for i in range(size)]
