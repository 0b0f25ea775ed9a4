"""A space: the configurations that may be tuned."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from json import JSONDecodeError
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import did_you_mean, read_json, suggesting, whole
from racer.errors import CandidateError, SettingError, SpaceFileError, warn
from racer.render.notebook import as_html
from racer.render.text import as_text
from racer.seeding import check_seed, rng_for
from racer.space.annotated import arguments_of_class
from racer.space.configspace import arguments_of as arguments_of_configspace
from racer.space.distributions import from_distribution, to_distribution
from racer.space.domains import plain, token
from racer.space.irace.parameter_file import parse, read
from racer.space.never import never_true
from racer.space.parameters import as_parameter, listed
from racer.space.sampling import Method, Net, fill, witness
from racer.space.scikit import arguments_of as arguments_of_scikit
from racer.space.stored import read_condition, read_parameter, written_parameter
from racer.space.structure import Config, Structure
from racer.space.summary import summary_of

if TYPE_CHECKING:
    from _typeshed import StrPath
    from ConfigSpace import ConfigurationSpace
    from numpy.typing import ArrayLike, NDArray
    from optuna.distributions import BaseDistribution

    from racer.space.expressions import Condition

__all__ = ["Space"]

_VERSION = 1


def _told_apart(data: Any) -> Any:
    """Return plain data that are equal for equal data only: True is not 1."""
    if isinstance(data, Mapping):
        return {name: _told_apart(value) for name, value in data.items()}
    return [_told_apart(part) for part in data] if isinstance(data, list) else token(data)


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


@suggesting
class Space(Structure):
    """The configurations that may be tried: parameters, conditions, forbidden combinations.

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
        values, such as ``{"algorithm": ["acs", "eas"]}``. A parameter of a comparison that the
        configuration does not have makes it unknown, and then the parameter does not exist.
    forbidden : sequence, optional
        Combinations that must not occur, each an expression or a dict as for conditions.
    switches : mapping, optional
        From names to the text before the value on a command line, such as ``"--ants "``.
    default : mapping, optional
        The present configuration, which a tuning has to beat: it is in the first race and is
        evaluated on held-out instances. Values of parameters that do not exist in it are ignored.
    repair : callable, optional
        ``repair(config) -> config``, applied to each sample, before it is checked. It may
        turn forbidden combinations into allowed ones; any still forbidden are drawn again.

    Raises
    ------
    SettingError
        Bounds that are not finite or inverted, a logarithm of a bound that is not positive, unknown
        names, conditions that are circular, nothing left by the forbidden clauses. The
        message names the parameter or the clause.
    CandidateError
        All allowed configurations depend on the repair hook, and it leaves the space.

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
        default: Mapping[str, Any] | None = None,
        repair: Callable[[Config], Config] | None = None,
    ) -> None:
        _check_arguments(parameters, conditions, forbidden, repair)
        for what, value in (("switches", switches), ("default", default)):
            if value is not None and not isinstance(value, Mapping):
                raise SettingError(f"{what}={value!r}: give a dict from parameters' names")
        checked = {n: as_parameter(from_distribution(p), n) for n, p in parameters.items()}
        super().__init__(checked, conditions or {}, forbidden)
        for note in never_true(self):
            warn(note)
        self._switches = dict(switches or {})
        for name, text in self._switches.items():
            if name not in checked:
                raise SettingError(f"switches name {name!r}{did_you_mean(name, checked)}")
            if not isinstance(text, str):
                raise SettingError(f"switches[{name!r}]={text!r}: give the text before the value")
        self.repair = repair
        self._witness = witness(self, repair)
        self._default = None if default is None else self._checked_default(default)

    @property
    def switches(self) -> Mapping[str, str]:
        """The texts before values on a command line."""
        return MappingProxyType(self._switches)

    @property
    def default(self) -> Config | None:
        """The present configuration, if there is one; spaces that differ in it alone are equal."""
        return None if self._default is None else dict(self._default)

    def _checked_default(self, default: Mapping[str, Any]) -> Config:
        if other := next((name for name in default if name not in self.parameters), None):
            hint = did_you_mean(other, self.parameters)
            raise SettingError(f"the default has {other!r}, which is no parameter{hint}")

        def choose(name: str, _: Any) -> Any:
            if name not in default:
                raise SettingError(f"the default has no value for {name!r}: give one")
            try:
                return plain(default[name])
            except TypeError:
                raise CandidateError(
                    f"{name}={default[name]!r}: give text, a number, True, False or None"
                ) from None

        try:
            return self.check(self.build(choose) or {})
        except CandidateError as error:
            raise SettingError(f"the default is not allowed: {error}") from error

    def sample(
        self,
        n: int,
        *,
        seed: int | np.random.Generator | None = None,
        method: Method = "uniform",
        exclude: Iterable[Hashable] = (),
        known: Iterable[Mapping[str, Any]] = (),
    ) -> list[Config]:
        """Draw different configurations.

        Parameters
        ----------
        n : int >= 0
            How many; fewer come back when there are no more, or no more are to be found: after
            5000 draws in a row without a new allowed one, and as many around known ones.
        seed : int, Generator or None
            The same seed gives the same configurations.
        method : {"uniform", "lhs"}
            Independent, or a Latin hypercube. Draws in place of duplicates and forbidden ones are
            independent.
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
        rng = seed if isinstance(seed, np.random.Generator) else rng_for(check_seed(seed), "space")
        net = self.net(exclude)
        if not isinstance(known, Iterable):
            raise SettingError(f"known={known!r}: give configurations, in a list")
        try:
            around = [*map(self.check, known), dict(self._witness)]
        except CandidateError as error:
            raise CandidateError(f"known: {error}") from None
        fill(net, n, method, around, rng)
        return net.found

    def net(self, exclude: Iterable[Hashable] = ()) -> Net:
        """Return a collector of allowed and new vectors.

        Parameters
        ----------
        exclude : iterable of keys
            Configurations not to keep.
        """
        if not isinstance(exclude, Iterable):
            raise SettingError(f"exclude={exclude!r}: give keys of configurations, in a list")
        return Net(self, set(exclude), self.repair)

    def present(self, vectors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which parameters exist at vectors, both (k, d); none where none can be."""
        if not self.may_be_absent or not len(vectors):
            return np.ones(vectors.shape, dtype=bool)
        names, asked = list(self.parameters), self.related()
        domains = {names.index(name): listed(self.parameters[name]) for name in asked}

        def exist(vector: list[float]) -> list[bool]:
            at = dict(zip(names, vector, strict=True))
            config = self.build(lambda n, domain: domain.decode(at[n]) if n in asked else None)
            return [name in (config or {}) for name in names]

        known: dict[tuple[Any, ...], list[bool]] = {}  # the same few values come again and again
        present = np.zeros(vectors.shape, dtype=bool)
        for i, vector in enumerate(vectors.tolist()):
            key = tuple(i if d is None else token(d.decode(vector[k])) for k, d in domains.items())
            if key not in known:
                known[key] = exist(vector)
            present[i] = known[key]
        return present

    def encode(self, config: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return each parameter's position in its range, 0 to 1, shape (d,); NaN for absent ones.

        Choices and whole numbers have equal parts of [0, 1], and are in the middle of theirs.
        """
        return self.located(self.check(config))[1]

    def located(self, clean: Config) -> tuple[tuple[Hashable, ...], NDArray[np.float64]]:
        """Return `key` and `encode` of a configuration that `check` or `sample` has returned."""
        domains = [self.domain(name, clean) if name in clean else None for name in self.parameters]
        vector = [
            math.nan if domain is None else domain.encode(clean[name])
            for name, domain in zip(self.parameters, domains, strict=True)
        ]
        return self.key_of(clean), np.array(vector, dtype=np.float64)

    def decode(self, vector: ArrayLike) -> Config:
        """Return the configuration at a point; absent parameters may be anything.

        Raises
        ------
        CandidateError
            Not d numbers from 0 to 1 (NaN where a parameter exists), or not allowed there.
        """
        try:
            given = np.asarray(vector, dtype=np.float64)
        except (TypeError, ValueError):
            raise CandidateError(f"a vector of {vector!r}: give numbers from 0 to 1") from None
        if given.shape != (len(self.parameters),):
            raise CandidateError(
                f"a vector of shape {given.shape}: give {len(self.parameters)} numbers"
            )
        u = dict(zip(self.parameters, given.tolist(), strict=True))

        def choose(name: str, domain: Any) -> Any:
            if not 0.0 <= u[name] <= 1.0:
                raise CandidateError(f"vector: {name!r} is at {u[name]}: give a number from 0 to 1")
            return domain.decode(u[name])

        config = self.build(choose)
        clause = self.forbids(config) if config is not None else None
        if config is None or clause is not None:
            raise CandidateError(f"no configuration is allowed at {given.tolist()}: {clause}")
        return config

    def to_json(self) -> dict[str, Any]:
        """Return the space as plain data.

        Of the repair hook it records only the existence, of SciPy's distributions only name and
        settings.
        """
        default = {} if self._default is None else {"default": dict(self._default)}
        return self._without_default() | default

    def _without_default(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "parameters": [written_parameter(name, p) for name, p in self.parameters.items()],
            "conditions": {n: c.to_json() for n, c in self.conditions.items()},
            "forbidden": [clause.to_json() for clause in self.forbidden],
            "switches": dict(self.switches),
            "repair": self.repair is not None,
        }

    @classmethod
    def from_json(cls, data: Any, *, repair: Callable[[Config], Config] | None = None) -> Space:
        """Return the space that `to_json` wrote.

        Raises
        ------
        SettingError
            The data are something else, the space had a repair hook and none is given, or a
            parameter of a class that is not racer's.
        """
        if not isinstance(data, Mapping) or data.get("version") != _VERSION:
            raise SettingError(
                f"these are not data of a space in version {_VERSION} of racer's format"
            )
        if bool(data.get("repair")) is not (repair is not None):
            raise SettingError("a space must be read with a repair hook exactly if it had one")
        try:
            entries = [dict(entry) for entry in data["parameters"]]
            arguments: dict[str, Any] = {
                "parameters": {entry.pop("name"): read_parameter(entry) for entry in entries},
                "conditions": {n: read_condition(c) for n, c in data["conditions"].items()},
                "forbidden": [read_condition(clause) for clause in data["forbidden"]],
                "switches": dict(data["switches"]),
                "default": data.get("default"),
            }
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            if isinstance(error, SettingError):
                raise
            raise SettingError(f"these are not data of a space: {error!r}") from error
        return cls(**arguments, repair=repair)

    def to_optuna(self) -> dict[str, BaseDistribution]:
        """Return each parameter as an Optuna distribution.

        Distributions lack some features: conditions, forbidden combinations, the order of an
        Ordinal, and digits on a logarithmic scale stay behind.

        Raises
        ------
        SettingError
            Bounds depend on other parameters, or a parameter is not of racer's own classes.
        """
        return {name: to_distribution(name, p) for name, p in self.parameters.items()}

    @classmethod
    def from_class(cls, fields: type[Any]) -> Space:
        """Return the space of a dataclass or a pydantic model, with a parameter per annotated field.

        ``Annotated[float, racer.Real(1e-4, 1, log=True)]`` has its domain; a Literal, a bool and an
        Enum (its values) are choices; ``Field(ge=0, le=1)`` of pydantic is a range. Other fields
        need a default, and are no parameters. The default comes from the fields, if each has one.

        Raises
        ------
        SettingError
            Something else, or a field with neither a domain nor a default.

        Examples
        --------
        >>> from dataclasses import make_dataclass
        >>> from typing import Annotated, Literal
        >>> import racer
        >>> rate = ("rate", Annotated[float, racer.Real(1e-4, 1, log=True)], 0.01)
        >>> optimizer = ("optimizer", Literal["sgd", "adam"], "adam")
        >>> Training = make_dataclass("Training", [rate, optimizer, ("folder", str, "out")])
        >>> racer.Space.from_class(Training).default
        {'rate': 0.01, 'optimizer': 'adam'}
        """
        return cls(**arguments_of_class(fields))

    @classmethod
    def from_sklearn(cls, param_distributions: Any) -> Space:
        """Return the space of the `param_distributions`, or the `param_grid`, of a search.

        Lists are choices, of numbers in ascending or descending order levels. Of SciPy's
        distributions uniform, loguniform and randint are ranges, and of the others there are the
        values of a thousand quantiles, each as likely. Several dicts are one space, with conditions, if a parameter tells
        them apart: one with a list in each of them, without a common value. An object other than text,
        number, True, False or None, such as an estimator, is named by its repr; so is the later of
        two numbers that differ by their type alone, such as 1 and 1.0.

        Raises
        ------
        SettingError
            Something else; or several dicts with different distributions of one parameter.

        Examples
        --------
        >>> from scipy.stats import loguniform
        >>> from racer import Space
        >>> space = Space.from_sklearn(
        ...     [
        ...         {"kernel": ["rbf"], "C": [1, 10, 100], "gamma": loguniform(1e-3, 1)},
        ...         {"kernel": ["linear"], "C": [1, 10, 100]},
        ...     ]
        ... )
        >>> space.check({"kernel": "linear", "C": 10})
        {'kernel': 'linear', 'C': 10}
        """
        return cls(**arguments_of_scikit(param_distributions)[0])

    @classmethod
    def read_configspace(cls, path: StrPath) -> Space:
        """Read a space that ConfigSpace has written as JSON (format 0.4).

        Raises
        ------
        SpaceFileError
            Something else, or features that a `Space` lacks: distributions that are not uniform.
        """
        try:
            arguments = arguments_of_configspace(read_json(read(path)))
        except SpaceFileError:
            raise
        except JSONDecodeError as error:
            raise SpaceFileError(f"the file is not JSON: {error}", str(path)) from error
        except ValueError as error:
            raise SpaceFileError(str(error), str(path)) from error
        except RecursionError:
            raise SpaceFileError("it is nested too deeply", str(path)) from None
        return cls._from_arguments(arguments, str(path))

    @classmethod
    def from_configspace(cls, space: ConfigurationSpace) -> Space:
        """Return the space of a `ConfigurationSpace`, whose default becomes the default.

        Raises
        ------
        SettingError
            Something else, or features that a `Space` lacks: distributions that are not uniform.

        Examples
        --------
        >>> from ConfigSpace import ConfigurationSpace
        >>> from racer import Space
        >>> Space.from_configspace(ConfigurationSpace({"x": (1, 9), "alg": ["a", "b"]})).default
        {'alg': 'a', 'x': 5}
        """
        try:
            data = space.to_serialized_dict()
        except AttributeError:
            raise SettingError(f"{space!r} is no ConfigurationSpace of ConfigSpace") from None
        return cls(**arguments_of_configspace(data))

    @classmethod
    def read_irace(
        cls,
        path: StrPath,
        *,
        digits: int = 4,
        forbidden: StrPath | None = None,
        repair: Callable[[Config], Config] | None = None,
    ) -> Space:
        """Read a parameter file of the R package irace; see `from_irace`.

        `forbidden` is a file with an expression per line, as irace 3 has it.
        """
        clauses = None if forbidden is None else (read(forbidden), str(forbidden))
        arguments = parse(read(path), digits=digits, source=str(path), forbidden=clauses)
        return cls._from_arguments(arguments, str(path), repair)

    @classmethod
    def from_irace(
        cls, text: str, *, digits: int = 4, repair: Callable[[Config], Config] | None = None
    ) -> Space:
        """Return the space that the text of an irace parameter file describes.

        Categorical and ordinal values stay text, as written in the file.

        Parameters
        ----------
        text : str
            Lines ``name "switch" type (values) | condition`` with types r, i, c, o (r,log and
            i,log), and the sections ``[forbidden]`` and ``[global]``.
        digits : int >= 0
            Decimals of reals, if the file has none.
        repair : callable, optional
            As for `Space`.

        Raises
        ------
        SpaceFileError
            An unreadable or untranslatable part, with its line and column.

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
        if not isinstance(text, str):
            raise SettingError(f"text={text!r}: give the lines of a parameter file")
        arguments = parse(text, digits=digits, source="parameters")
        return cls._from_arguments(arguments, "parameters", repair)

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any], source: str, repair: Any = None) -> Space:
        try:
            return cls(**arguments, repair=repair)
        except SettingError as error:
            raise SpaceFileError(str(error), source) from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        is_same = _told_apart(self._without_default()) == _told_apart(other._without_default())
        return is_same and self.repair == other.repair

    def __hash__(self) -> int:
        return hash(tuple(self.parameters))

    def __repr__(self) -> str:
        return as_text(summary_of(self, is_repaired=self.repair is not None))

    def _repr_html_(self) -> str:
        return as_html(summary_of(self, is_repaired=self.repair is not None))
