"""Drawing configurations, each at most once."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from racer.errors import CandidateError, SettingError
from racer.seeding import check_seed, rng_for
from racer.space.structure import Config, Structure, TooManyError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from numpy.typing import NDArray

    from racer.space.conditions import Condition
    from racer.space.domains import Domain

__all__ = ["Method", "Net", "as_generator", "decoded", "distinct", "draws", "witness"]

Method = Literal["uniform", "sobol", "lhs"]

_PROBES = 10_000  # draws to find one configuration that is allowed
_PATIENCE = 300  # draws in a row without anything new, before counting what there is
_MISSES = 5_000  # .. and before giving up where it cannot be counted
_SOBOL_MOST = 21_201  # parameters


def as_generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """Return a generator as it is, and that of a seed."""
    if isinstance(seed, np.random.Generator):
        return seed
    return rng_for(check_seed(seed), "space")


def decoded(structure: Structure, u: NDArray[np.float64]) -> Config | None:
    """Return the configuration at `u`, one share of the range per parameter; None if none is."""
    place = dict(zip(structure.parameters, u.tolist(), strict=True))
    return structure.build(lambda name, domain: domain.decode(place[name]))


def draws(
    structure: Structure, n: int, method: Method, rng: np.random.Generator
) -> Iterator[Config | None]:
    """Draw for ever: the first n as the method says, then uniformly."""
    if method not in get_args(Method):
        raise SettingError(f"method={method!r}: give one of {', '.join(get_args(Method))}")
    for u in _points(len(structure.parameters), n, method, rng):
        yield decoded(structure, u)
    while True:
        yield decoded(structure, rng.random(len(structure.parameters)))


def _points(d: int, n: int, method: Method, rng: np.random.Generator) -> NDArray[np.float64]:
    if method == "uniform":
        return np.empty((0, d))
    from scipy.stats import qmc  # noqa: PLC0415

    if method == "lhs":
        return np.asarray(qmc.LatinHypercube(d, rng=rng).random(n))
    if d > _SOBOL_MOST:
        raise SettingError(f'method="sobol" has at most {_SOBOL_MOST} parameters: use "lhs"')
    power = max(n - 1, 0).bit_length()
    return np.asarray(qmc.Sobol(d, rng=rng).random_base2(power))


@dataclass
class Net:
    """Keeps what is allowed and new."""

    structure: Structure
    taken: set[Hashable]
    repair: Callable[[Config], Any] | None
    found: list[Config] = field(default_factory=list)

    def take(self, draft: Config | None) -> bool:
        """Keep a draft, and say so, if it is allowed and new."""
        if draft is not None and self.repair is not None:
            draft = self._repaired(draft, self.repair)
        if draft is None or self.structure.forbids(draft) is not None:
            return False
        key = self.structure.key(draft)
        if key in self.taken:
            return False
        self.taken.add(key)
        self.found.append(draft)
        return True

    def offer(self, vector: NDArray[np.float64]) -> bool:
        """Keep what is at a vector, and say so, if it is allowed and new."""
        return self.take(decoded(self.structure, vector))

    def _repaired(self, draft: Config, repair: Callable[[Config], Any]) -> Config:
        try:
            return self.structure.clean(repair(dict(draft)), allowed=False)
        except CandidateError as error:
            raise CandidateError(f"repair, given {draft!r}, left the space: {error}") from error


def distinct(
    structure: Structure,
    drafts: Iterator[Config | None],
    n: int,
    exclude: Iterable[Hashable],
    repair: Callable[[Config], Any] | None,
    *,
    rest: np.random.Generator | None = None,
) -> list[Config]:
    """Take n different allowed configurations from the drafts, or as many as there are.

    When nothing new has come for long, what is left of a countable space follows in the order
    that `rest` draws.

    Raises
    ------
    CandidateError
        The repair hook left the space.
    """
    net = Net(structure, set(exclude), repair)
    misses = 0
    while len(net.found) < n and misses < _MISSES:
        misses = 0 if net.take(next(drafts)) else misses + 1
        if misses == _PATIENCE and rest is not None:
            with suppress(TooManyError):
                left = list(structure.configurations(allowed=repair is None))
                rest.shuffle(left)
                for draft in left:
                    if len(net.found) < n:
                        net.take(draft)
                break
    return net.found


def witness(structure: Structure) -> Config:
    """Return one allowed configuration.

    Raises
    ------
    SettingError
        None is to be found; it names what is in the way.
    """
    dead: Counter[str] = Counter()
    found = _search(structure, lambda values: structure.forbids(values) is not None, dead)
    if found is not None:
        return found
    if _search(structure, lambda _: False, dead) is None:
        name, _ = dead.most_common(1)[0]
        raise SettingError(
            f"{name}: no value is possible in any configuration tried, because of its bounds, "
            "which depend on other parameters"
        )
    for clause in structure.forbidden:
        if _search(structure, partial(_shows, clause), dead) is None:
            raise SettingError(f"forbidden leaves no configuration: all have {clause}")
    clauses = "; ".join(map(str, structure.forbidden[:5]))
    raise SettingError(f"forbidden leaves no configuration, all clauses together: {clauses}")


def _shows(clause: Condition, values: Config) -> bool:
    return clause.holds(values) is True


def _search(
    structure: Structure, forbids: Callable[[Config], bool], dead: Counter[str]
) -> Config | None:
    """Look for an allowed configuration: in all if they can be counted, else among draws."""
    rng = rng_for(0, "witness")

    def choose(_: str, domain: Domain) -> Any:
        # ends and middles too: what is allowed may be only there
        at = rng.random()
        return domain.decode(at if rng.random() < 0.7 else round(2.0 * at) / 2.0)

    for probe in range(_PROBES):
        config = structure.build(choose, dead)
        if config is not None and not forbids(config):
            return config
        if probe == _PATIENCE:
            try:
                every = structure.configurations(allowed=False)
                return next((values for values in every if not forbids(values)), None)
            except TooManyError:
                pass
    return None
