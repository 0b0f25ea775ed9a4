"""Drawing configurations, each at most once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from racer._checks import choice
from racer.errors import CandidateError, SettingError
from racer.seeding import rng_for
from racer.space.structure import Config, Structure, TooManyError
from racer.space.vectors import truncated_normal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from racer.space.domains import Domain
    from racer.space.expressions import Condition

Method = Literal["uniform", "lhs"]

_PROBES = 10_000  # draws to find one configuration that is allowed
_PATIENCE = 300  # draws in a row without anything new, before counting what there is
_MISSES = 5_000  # .. and before giving up where it cannot be counted


def _decoded(space: Structure, u: NDArray[np.float64]) -> Config | None:
    """Return the configuration at `u`, one position per parameter; None if none is possible."""
    place = dict(zip(space.parameters, u.tolist(), strict=True))
    return space.build(lambda name, domain: domain.decode(place[name]))


def _draws(
    space: Structure, n: int, method: Method, rng: np.random.Generator
) -> Iterator[Config | None]:
    """Draw for ever: the first n as the method says, then uniformly."""
    choice(method, "method", get_args(Method))
    d = len(space.parameters)
    if method == "lhs":
        yield from (_decoded(space, u) for u in _latin_hypercube(d, n, rng))
    while True:
        yield _decoded(space, rng.random(d))


def _latin_hypercube(d: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return n points (n, d), one in each of n equal slices of every coordinate.

    McKay, Beckman and Conover (Technometrics 1979); the draws of SciPy's `qmc.LatinHypercube`.
    """
    # SciPy spawns a generator here, too: equal seeds give its design
    rng = rng.spawn(1)[0]
    within = rng.random((n, d))
    slices = np.tile(np.arange(1, n + 1), (d, 1))
    for row in slices:
        rng.shuffle(row)
    return (slices.T - within) / max(n, 1)


@dataclass
class Net:
    """A collector of allowed and new configurations."""

    space: Structure
    taken: set[Hashable]
    repair: Callable[[Config], Any] | None
    found: list[Config] = field(default_factory=list)

    def take(self, draft: Config | None) -> bool:
        """Keep a draft if it is allowed and new; return whether it was."""
        if draft is not None and self.repair is not None:
            draft = self._repaired(draft, self.repair)
        if draft is None or self.space.forbids(draft) is not None:
            return False
        key = self.space.key_of(draft)
        if key in self.taken:
            return False
        self.taken.add(key)
        self.found.append(draft)
        return True

    def offer(self, vector: NDArray[np.float64]) -> bool:
        """Keep a vector's configuration if allowed and new; return whether it was."""
        return self.take(_decoded(self.space, vector))

    def _repaired(self, draft: Config, repair: Callable[[Config], Any]) -> Config:
        try:
            return self.space.cleaned(repair(dict(draft)), allowed=False)
        except CandidateError as error:
            raise CandidateError(f"repair, given {draft!r}, left the space: {error}") from error


def fill(
    net: Net, n: int, method: Method, known: Sequence[Config], rng: np.random.Generator
) -> None:
    """Catch n configurations, fewer if there are no more: drawn, else all, else around `known`."""
    drafts = _draws(net.space, n, method, rng)
    if _fill(net, drafts, n, _PATIENCE):
        return
    try:
        left = list(net.space.configurations(allowed=net.repair is None))
    except TooManyError:
        if not _fill(net, drafts, n, _MISSES - _PATIENCE):
            _fill(net, known, n, _MISSES)
            _fill(net, _nearby(net, known, rng), n, _MISSES)
    else:
        # counted in order: without a shuffle, the first ones would be a corner of the space
        rng.shuffle(left)
        _fill(net, left, n, len(left))


def _fill(net: Net, drafts: Iterable[Config | None], n: int, patience: int) -> bool:
    """Return whether n are in the net before all drafts, or `patience` in a row, were useless."""
    misses = 0
    if len(net.found) >= n:
        return True
    for draft in drafts:
        misses = 0 if net.take(draft) else misses + 1
        if len(net.found) >= n or misses >= patience:
            break
    return len(net.found) >= n


def _nearby(net: Net, known: Sequence[Config], rng: np.random.Generator) -> Iterator[Config | None]:
    """Draw for ever around known and collected configurations, with some of their values."""
    parameters = net.space.parameters

    def choose(name: str, domain: Domain) -> Any:
        if name not in parent or (parameters[name].scale == "nominal" and rng.random() < 0.5):
            return domain.decode(rng.random())
        middle = min(max(domain.encode(parent[name]), 0.0), 1.0)
        if rng.random() < 0.5:
            return domain.decode(middle)
        spread = 10.0 ** rng.uniform(-7.0, 0.0)
        return domain.decode(float(truncated_normal(middle, spread, rng.random())))

    while True:
        at = int(rng.integers(len(known) + len(net.found)))
        parent = known[at] if at < len(known) else net.found[at - len(known)]
        yield net.space.build(choose)


def witness(space: Structure, repair: Callable[[Config], Any] | None) -> Config:
    """Return an allowed configuration, repaired if need be; SettingError without any."""
    dead: Counter[str] = Counter()
    found, were_all = _search(space, lambda values: space.forbids(values) is None, dead)
    if found is None and repair is not None:
        net = Net(space, set(), repair)
        _search(space, net.take, dead)
        found = next(iter(net.found), None)
    if found is not None:
        return found
    if _search(space, lambda _: True, dead)[0] is None:
        name, _ = dead.most_common(1)[0]
        raise SettingError(
            f"{name}: no value is possible in any configuration tried, because of its bounds, "
            "which depend on other parameters"
        )
    for clause in space.forbidden:
        if _search(space, partial(_lacks, clause), dead)[0] is None:
            raise SettingError(_nothing_left(f"all have {clause}", were_all))
    clauses = "; ".join(map(str, space.forbidden[:5]))
    raise SettingError(_nothing_left(f"all clauses together: {clauses}", were_all))


def _lacks(clause: Condition, values: Config) -> bool:
    return clause.holds(values) is not True


def _nothing_left(why: str, were_all: bool) -> str:
    if were_all:
        return f"forbidden leaves no configuration: {why}"
    return (
        f"forbidden leaves none of {_PROBES} configurations drawn: {why}; if some are allowed, "
        "narrow the ranges to where they are"
    )


def _search(
    space: Structure, wanted: Callable[[Config], bool], dead: Counter[str]
) -> tuple[Config | None, bool]:
    """Return a wanted configuration of all, or of draws if uncountable; and whether it was all."""
    # a seed of its own: whether a space is valid depends on no race, and spends no draw of one
    rng = rng_for(0, "witness")

    def choose(_: str, domain: Domain) -> Any:
        # ends and middles too: what is allowed may be only there
        at = rng.random()
        return domain.decode(at if rng.random() < 0.7 else round(2.0 * at) / 2.0)

    for probe in range(_PROBES):
        config = space.build(choose, dead)
        if config is not None and wanted(config):
            return config, False
        if probe == _PATIENCE:
            try:
                every = space.configurations(allowed=False)
                return next((values for values in every if wanted(values)), None), True
            except TooManyError:
                pass
    return None, False
