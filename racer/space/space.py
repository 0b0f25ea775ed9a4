"""A space: what may be tuned."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import did_you_mean, whole
from racer.errors import CandidateError, SettingError, SpaceFileError
from racer.space import irace, sampling
from racer.space.distributions import from_distribution, to_distribution
from racer.space.neighbourhood import Neighbourhood, as_neighbourhood, draws_around
from racer.space.parameters import Parameter, as_parameter
from racer.space.stored import (
    read_condition,
    read_parameter,
    written_condition,
    written_parameter,
)
from racer.space.structure import Config, Structure

if TYPE_CHECKING:
    from _typeshed import StrPath
    from numpy.typing import ArrayLike, NDArray
    from optuna.distributions import BaseDistribution

    from racer.space.conditions import Condition

__all__ = ["Space"]

_VERSION = 1


def _check_arguments(parameters: Any, conditions: Any, forbidden: Any, repair: Any) -> None:
    if not isinstance(parameters, Mapping) or not parameters:
        raise SettingError(
            f"parameters={parameters!r}: give a dict with at least one, from names to parameters"
        )
    for name in parameters:
        if not isinstance(name, str) or not name:
            raise SettingError(f"{name!r} names a parameter: give text")
    if conditions is not None and not isinstance(conditions, Mapping):
        raise SettingError(f"conditions={conditions!r}: give a dict from parameters' names")
    if isinstance(forbidden, Mapping | str) or not isinstance(forbidden, Sequence):
        raise SettingError(f"forbidden={forbidden!r}: give a list, one entry per combination")
    if repair is not None and not callable(repair):
        raise SettingError(f"repair={repair!r}: give a function from a configuration to one")


class Space:
    """The configurations that may be tried: parameters, when they exist, what is forbidden.

    A configuration is a dict of the parameters that exist in it, in the space's order, with
    plain Python values.

    Parameters
    ----------
    parameters : mapping
        From names to `Real`, `Integer`, `Categorical`, `Ordinal`, Optuna distributions, or plain
        values, which are fixed.
    conditions : mapping, optional
        From the name of a parameter to when it exists: an expression such as
        ``Param("algorithm") == "acs"``, or a dict from parameters to their value or a list of
        values, such as ``{"algorithm": ["acs", "eas"]}``. What a comparison needs and the
        configuration does not have makes it unknown, and then the parameter does not exist.
    forbidden : sequence, optional
        Combinations that must not occur, each an expression or a dict as for conditions.
    switches : mapping, optional
        From names to what precedes the value on a command line, such as ``"--ants "``.
    repair : callable, optional
        ``repair(config) -> config``, applied to what is sampled, before it is checked. It may
        turn forbidden combinations into allowed ones; what is still forbidden is drawn again.

    Raises
    ------
    SettingError
        Bounds that are not finite or inverted, a logarithm of what is not positive, unknown
        names, conditions that go round in a circle, nothing left by what is forbidden. The
        message names the parameter or the clause.
    CandidateError
        Only what the repair hook returns could be allowed, and that is outside the space.

    Examples
    --------
    >>> from racer import Categorical, Integer, Real, Space
    >>> space = Space(
    ...     {
    ...         "algorithm": Categorical(["as", "acs"]),
    ...         "ants": Integer(5, 100, log=True),
    ...         "q0": Real(0, 1, digits=2),
    ...     },
    ...     conditions={"q0": {"algorithm": "acs"}},
    ... )
    >>> len(space.sample(5, seed=1))
    5
    >>> space.check({"algorithm": "acs", "ants": 10, "q0": 0.5})
    {'algorithm': 'acs', 'ants': 10, 'q0': 0.5}
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        *,
        conditions: Mapping[str, Condition | Mapping[str, Any]] | None = None,
        forbidden: Sequence[Condition | Mapping[str, Any]] = (),
        switches: Mapping[str, str] | None = None,
        repair: Callable[[Config], Config] | None = None,
    ) -> None:
        _check_arguments(parameters, conditions, forbidden, repair)
        checked = {n: as_parameter(from_distribution(p), n) for n, p in parameters.items()}
        self._structure = Structure(checked, conditions or {}, tuple(forbidden))
        self._switches = dict(switches or {})
        for name in self._switches:
            if name not in checked:
                raise SettingError(f"switches name {name!r}{did_you_mean(name, checked)}")
        self.repair = repair
        self._witness = sampling.witness(self._structure, repair)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name."""
        return MappingProxyType(self._structure.parameters)

    @property
    def conditions(self) -> Mapping[str, Condition]:
        """When a parameter exists, for those that do not always."""
        return MappingProxyType(self._structure.conditions)

    @property
    def forbidden(self) -> tuple[Condition, ...]:
        """What must not occur."""
        return self._structure.forbidden

    @property
    def switches(self) -> Mapping[str, str]:
        """What precedes values on a command line."""
        return MappingProxyType(self._switches)

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that can have more than one value."""
        return self._structure.free

    @property
    def size(self) -> float:
        """How many configurations there are.

        Infinity if there are reals without digits, and if more than 20 000 combinations of
        parameters that others depend on would have to be counted one by one.
        """
        return self._structure.size

    def check(self, config: Mapping[str, Any]) -> Config:
        """Return a configuration as the space writes it: its order, plain values, rounded reals.

        Raises
        ------
        CandidateError
            It is outside the space; the message has the parameter and the reason.
        """
        return self._structure.clean(config)

    def __contains__(self, config: object) -> bool:
        try:
            self._structure.clean(config)
        except CandidateError:
            return False
        return True

    def key(self, config: Mapping[str, Any]) -> tuple[Hashable, ...]:
        """Return a hashable key, the same for the same configuration only.

        Raises
        ------
        CandidateError
            The configuration is outside the space.
        """
        return self._structure.key(self._structure.clean(config))

    def sample(
        self,
        n: int,
        *,
        seed: int | np.random.Generator | None = None,
        method: sampling.Method = "uniform",
        exclude: Iterable[Hashable] = (),
        known: Iterable[Mapping[str, Any]] = (),
    ) -> list[Config]:
        """Draw different configurations.

        Parameters
        ----------
        n : int >= 0
            How many; fewer come back when there are no more, or no more are to be found: after
            5000 draws in a row without a new one that is allowed, and as many around those that
            are known.
        seed : int, Generator or None
            The same seed gives the same configurations.
        method : {"uniform", "sobol", "lhs"}
            Independent, from a scrambled Sobol sequence, or a Latin hypercube. Draws in place of
            duplicates and of what is forbidden are independent.
        exclude : iterable of keys
            Configurations not to return.
        known : iterable of configurations
            Where allowed ones are too rare to be drawn, they are looked for around these, and
            these are among them unless excluded.

        Raises
        ------
        CandidateError
            The repair hook left the space, or one of `known` is outside it.
        """
        n = whole(n, "n", least=0)
        rng = sampling.as_generator(seed)
        net = self.net(exclude)
        drafts = sampling.draws(self._structure, n, method, rng)
        around = [*map(self.check, known), dict(self._witness)]
        sampling.everywhere(net, drafts, n, around, rng)
        return net.found

    def around(
        self,
        elite: Mapping[str, Any],
        near: float | Neighbourhood = 0.5,
        n: int = 1,
        *,
        seed: int | np.random.Generator | None = None,
        exclude: Iterable[Hashable] = (),
    ) -> list[Config]:
        """Draw different configurations around one, which is not among them.

        Parameters
        ----------
        elite : configuration
            The parent.
        near : Neighbourhood or float > 0
            How far from it; a number is the spread.
        n : int >= 0
            How many; fewer come back when no more are to be found.
        seed, exclude
            As for `sample`.
        """
        n, parent = whole(n, "n", least=0), self.check(elite)
        hood = as_neighbourhood(near, self._structure)
        drafts = draws_around(self._structure, parent, hood, sampling.as_generator(seed))
        excluded = {self.key(parent), *exclude}
        return sampling.distinct(self._structure, drafts, n, excluded, self.repair)

    def net(self, exclude: Iterable[Hashable] = ()) -> sampling.Net:
        """Return what keeps, of the vectors that it is offered, those allowed and new.

        Parameters
        ----------
        exclude : iterable of keys
            Configurations not to keep.
        """
        return sampling.Net(self._structure, set(exclude), self.repair)

    def present(self, vectors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say which parameters exist at vectors, shape (k, d) both; none where nothing can be."""
        if not self._structure.may_be_absent or not len(vectors):
            return np.ones(vectors.shape, dtype=bool)
        names, asked = list(self.parameters), self._structure.related()
        present = np.zeros(vectors.shape, dtype=bool)
        for i, vector in enumerate(vectors.tolist()):
            place = dict(zip(names, vector, strict=True))

            def choose(name: str, domain: Any, place: dict[str, float] = place) -> Any:
                return domain.decode(place[name]) if name in asked else None

            config = self._structure.build(choose) or {}
            present[i] = [name in config for name in names]
        return present

    def encode(self, config: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return a share of the range for each parameter, shape (d,); NaN for absent ones.

        Choices and whole numbers have equal parts of [0, 1], and stand in the middle of theirs.
        """
        return self.located(self.check(config))[1]

    def located(self, clean: Config) -> tuple[tuple[Hashable, ...], NDArray[np.float64]]:
        """Return `key` and `encode` of a configuration that `check` or `sample` has returned."""
        vector = np.full(len(self.parameters), np.nan)
        for i, name in enumerate(self.parameters):
            domain = self._structure.domain(name, clean) if name in clean else None
            if domain is not None:
                vector[i] = domain.encode(clean[name])
        return self._structure.key(clean), vector

    def decode(self, vector: ArrayLike) -> Config:
        """Return the configuration at a point; what does not exist there may be anything.

        Raises
        ------
        CandidateError
            Not d numbers from 0 to 1 (NaN where a parameter exists), or not allowed there.
        """
        given = np.asarray(vector, dtype=np.float64)
        if given.shape != (len(self.parameters),):
            raise CandidateError(
                f"a vector of shape {given.shape}: give {len(self.parameters)} numbers"
            )
        u = dict(zip(self.parameters, given.tolist(), strict=True))

        def choose(name: str, domain: Any) -> Any:
            if not 0.0 <= u[name] <= 1.0:
                raise CandidateError(f"{name!r} is at {u[name]}: give a number from 0 to 1")
            return domain.decode(u[name])

        config = self._structure.build(choose)
        clause = self._structure.forbids(config) if config is not None else None
        if config is None or clause is not None:
            raise CandidateError(f"no configuration is allowed at {given.tolist()}: {clause}")
        return config

    def to_json(self) -> dict[str, Any]:
        """Return the space as plain data; of the repair hook, only whether there is one."""
        parameters = self._structure.parameters.items()
        return {
            "version": _VERSION,
            "parameters": [{"name": name, **written_parameter(p)} for name, p in parameters],
            "conditions": {n: written_condition(c) for n, c in self.conditions.items()},
            "forbidden": [written_condition(clause) for clause in self.forbidden],
            "switches": dict(self.switches),
            "repair": self.repair is not None,
        }

    @classmethod
    def from_json(cls, data: Any, *, repair: Callable[[Config], Config] | None = None) -> Space:
        """Return the space that `to_json` wrote.

        Raises
        ------
        SettingError
            The data are something else, or the space had a repair hook and none is given.
        """
        if not isinstance(data, Mapping) or data.get("version") != _VERSION:
            raise SettingError(f"this is no space as written by racer's version {_VERSION} of it")
        if bool(data.get("repair")) is not (repair is not None):
            raise SettingError("a space must be read with a repair hook exactly if it had one")
        try:
            entries = [dict(entry) for entry in data["parameters"]]
            parameters = {entry.pop("name"): read_parameter(entry) for entry in entries}
            conditions = {n: read_condition(c) for n, c in data["conditions"].items()}
            forbidden = [read_condition(clause) for clause in data["forbidden"]]
            switches = dict(data["switches"])
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            if isinstance(error, SettingError):
                raise
            raise SettingError(f"this is no space as written by racer: {error!r}") from error
        return cls(
            parameters,
            conditions=conditions,
            forbidden=forbidden,
            switches=switches,
            repair=repair,
        )

    @classmethod
    def from_optuna(cls, distributions: Mapping[str, Any]) -> Space:
        """Return the space of a dict of Optuna distributions."""
        return cls(distributions)

    def to_optuna(self) -> dict[str, BaseDistribution]:
        """Return each parameter as an Optuna distribution.

        Distributions cannot say everything: conditions, forbidden combinations, the order of an
        Ordinal, and digits on a logarithmic scale stay behind.

        Raises
        ------
        SettingError
            Bounds depend on other parameters.
        """
        return {name: to_distribution(name, p) for name, p in self.parameters.items()}

    @classmethod
    def read_irace(
        cls, path: StrPath, *, digits: int = 4, repair: Callable[[Config], Config] | None = None
    ) -> Space:
        """Read a parameter file of the R package irace; see `from_irace`."""
        text = irace.read(path)
        return cls._from_irace(text, digits=digits, source=str(path), repair=repair)

    @classmethod
    def from_irace(
        cls, text: str, *, digits: int = 4, repair: Callable[[Config], Config] | None = None
    ) -> Space:
        """Return the space that the text of an irace parameter file describes.

        Categorical and ordinal values stay text, as they stand in the file.

        Parameters
        ----------
        text : str
            Lines ``name "switch" type (values) | condition`` with types r, i, c, o (r,log and
            i,log), and the sections ``[forbidden]`` and ``[global]``.
        digits : int >= 0
            Decimals of reals, if the file does not say.
        repair : callable, optional
            As for `Space`.

        Raises
        ------
        SpaceFileError
            What cannot be read or translated, with its line and column.

        Examples
        --------
        >>> from racer import Space
        >>> space = Space.from_irace('''
        ... algorithm "--"     c (as, acs)
        ... q0        "--q0 "  r (0.0, 1.0) | algorithm == "acs"
        ... ''')
        >>> space.check({"algorithm": "as"})
        {'algorithm': 'as'}
        """
        return cls._from_irace(text, digits=digits, source="parameters", repair=repair)

    @classmethod
    def _from_irace(
        cls,
        text: str,
        *,
        digits: int,
        source: str,
        repair: Callable[[Config], Config] | None,
    ) -> Space:
        arguments = irace.parse(text, digits=digits, source=source)
        try:
            return cls(**arguments, repair=repair)
        except SettingError as error:
            raise SpaceFileError(str(error), source) from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return self.to_json() == other.to_json() and self.repair == other.repair

    def __hash__(self) -> int:
        return hash(tuple(self.parameters))

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n}: {type(p).__name__}" for n, p in self.parameters.items())
        more = [(len(self.conditions), "conditional"), (len(self.forbidden), "forbidden")]
        said = "".join(f"; {count} {what}" for count, what in more if count)
        return f"<Space {{{kinds}}}{said}>"
