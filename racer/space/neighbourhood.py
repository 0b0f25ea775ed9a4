"""Around an elite: how far new values may stray from a parent's."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import is_real, whole
from racer.errors import SettingError
from racer.space.parameters import Categorical
from racer.space.vectors import truncated_normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from racer.space.domains import Domain
    from racer.space.structure import Config, Structure

__all__ = ["Neighbourhood", "as_neighbourhood", "draws_around"]


@dataclass(frozen=True)
class Neighbourhood:
    """How to sample around a configuration: the model that iterated racing keeps of each elite.

    Numbers and levels come from a normal distribution around the parent's value, truncated to
    the range; choices by their probabilities. What the parent does not have is uniform.

    Parameters
    ----------
    spread : float > 0
        Standard deviation of the normal, as a share of the range (logarithmic with ``log``).
    probabilities : mapping from a Categorical's name to a tuple of numbers, one per choice
        Without an entry, the parent's choice with probability 1 - spread (at least 0) plus its
        share of the rest, which all choices have equally.

    Examples
    --------
    >>> from racer import Categorical, Integer, Space
    >>> from racer.space import Neighbourhood
    >>> space = Space({"ants": Integer(1, 100), "algorithm": Categorical(["acs", "eas"])})
    >>> elite = {"ants": 20, "algorithm": "acs"}
    >>> near = Neighbourhood().narrowed(new=16, free=2).moved(space.parameters, elite, 0.5)
    >>> near
    Neighbourhood(spread=0.125, probabilities={'algorithm': (0.75, 0.25)})

    References
    ----------
    López-Ibáñez, Dubois-Lacoste, Pérez Cáceres, Birattari, Stützle, The irace package: Iterated
    racing for automatic algorithm configuration, Operations Research Perspectives 3 (2016),
    section 2.1.
    """

    spread: float = 0.5
    probabilities: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_real(self.spread) or not 0.0 < self.spread < math.inf:
            raise SettingError(f"spread={self.spread!r}: give a finite number > 0")
        for name, chances in self.probabilities.items():
            right = all(is_real(p) and 0.0 <= p < math.inf for p in chances) and sum(chances) > 0
            if not right:
                raise SettingError(f"probabilities of {name!r} are {chances!r}: give numbers >= 0")

    def narrowed(self, *, new: int, free: int) -> Neighbourhood:
        """Return it with the spread times (1/new)^(1/free).

        Parameters
        ----------
        new : int >= 1
            How many configurations are to be sampled around all elites.
        free : int >= 1
            How many parameters can have more than one value, ``len(space.free)``.
        """
        new, free = whole(new, "new", least=1), whole(free, "free", least=1)
        return replace(self, spread=self.spread * (1.0 / new) ** (1.0 / free))

    def moved(self, parameters: Mapping[str, Any], config: Config, share: float) -> Neighbourhood:
        """Return it with `share` of all probabilities of choices moved to those of `config`."""
        if not is_real(share) or not 0.0 <= share <= 1.0:
            raise SettingError(f"share={share!r}: give a number from 0 to 1")
        moved = dict(self.probabilities)
        for name, parameter in parameters.items():
            if isinstance(parameter, Categorical) and name in config:
                choices = parameter.domain({})
                old = np.asarray(moved.get(name, np.full(choices.n, 1.0 / choices.n)))
                new = (1.0 - share) * old / old.sum()
                new[choices.index(config[name])] += share
                moved[name] = tuple(new.tolist())
        return replace(self, probabilities=moved)


def as_neighbourhood(near: float | Neighbourhood, structure: Structure) -> Neighbourhood:
    """Return `near`, or the neighbourhood with that spread, if it fits the parameters."""
    hood = near if isinstance(near, Neighbourhood) else Neighbourhood(near)
    for name, chances in hood.probabilities.items():
        parameter = structure.parameters.get(name)
        if not isinstance(parameter, Categorical) or len(parameter.choices) != len(chances):
            raise SettingError(
                f"probabilities of {name!r} have {len(chances)} numbers: give one for each choice "
                "of a Categorical of the space"
            )
    return hood


def draws_around(
    structure: Structure, parent: Config, near: Neighbourhood, rng: np.random.Generator
) -> Iterator[Config | None]:
    """Draw around the parent, for ever."""

    def choose(name: str, domain: Domain) -> Any:
        if name not in parent:
            return domain.decode(rng.random())
        if isinstance(structure.parameters[name], Categorical):
            chances = near.probabilities.get(name) or _default(domain, parent[name], near.spread)
            at = rng.random() * sum(chances)
            k = int(np.searchsorted(np.cumsum(chances), at, side="right"))
            return domain.decode((min(k, len(chances) - 1) + 0.5) / len(chances))
        middle = min(max(domain.encode(parent[name]), 0.0), 1.0)
        return domain.decode(float(truncated_normal(middle, near.spread, rng.random())))

    while True:
        yield structure.build(choose)


def _default(domain: Domain, value: Any, spread: float) -> list[float]:
    n, moved = int(domain.n), min(spread, 1.0)
    chances = [moved / n] * n
    chances[int(domain.encode(value) * n)] += 1.0 - moved
    return chances
