"""Checks of settings and arrays that several rooms make."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import re
import reprlib
from collections import Counter
from collections.abc import Hashable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from racer.errors import ScoresError, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray


_LARGER = ('goal="max", where smaller is not better', "maximize=True, where smaller is not better")
_SMALLER = ('goal="min"', "maximize=False")
_METRICS = 'goal, of several metrics {"error": "min", "accuracy": "max"}'
_COMBINED = 'goal, such as racer.Within({"error": "min", "dollars": "min"}, error=0.01)'
_TIME = "budget=racer.Budget(wall=60), or limits=racer.Limits(timeout=60) for each evaluation"
_WALL = "wall, in seconds for all, or timeout, in seconds for each evaluation"
_LIMITS = "limits=racer.Limits(timeout=60, memory=2**30, retries=1)"
_ITEMS = "instances=racer.Instances(items, "
_DROPS = (
    "decider, which drops losers early; a race rests on full evaluations, and only racer.tune "
    "takes fidelity="
)
_OF_INSTANCES = ("groups", "block_size", "deterministic", "generalize", "held_out")
_OF_DECIDERS = ("first_test", "each_test", "min_survivors")
_ELSEWHERE: dict[str, tuple[str, ...]] = {
    name: tuple(advice)
    for names, *advice in (
        ("n_trials max_trials max_evals max_evaluations n_calls n_iter n_evals", "budget"),
        ("max_iter evaluations num_samples max_runs maxExperiments max_experiments", "budget"),
        ("trials", "budget", "table"),
        ("max_time time_limit time_budget max_seconds wall_time total_timeout", _WALL, _TIME),
        ("walltime_limit maxTime timeout_total", _WALL, _TIME),
        ("deadline", "wall", "budget=racer.Budget(wall=3600)"),
        ("elites test_elites", "search=racer.Search(elites=3)"),
        ("prices", "budget=racer.Budget(spend=20, prices=..)"),
        ("fidelity fidelities resource", "fidelity=racer.Fidelity(..)", _DROPS),
        ("maximize maximise direction directions mode minimize minimise goal", *_LARGER),
        ("higher_is_better larger_is_better greater_is_better", *_LARGER),
        ("lower_is_better smaller_is_better", *_SMALLER),
        ("metrics metric", _METRICS, "score"),
        ("objective objectives", "pareto, within or constrained", _COMBINED),
        ("runtime cutoff cutoff_time captime par par10", "runtime", "goal=racer.Runtime(60)"),
        ("order shuffle", f"{_ITEMS}order=..)", *_LARGER),
        ("instance_order in_order", "order", f"{_ITEMS}order=..)"),
        ("test_instances holdout", "held_out", f"{_ITEMS}held_out=..)"),
        *((name, name, f"{_ITEMS}{name}=..)") for name in _OF_INSTANCES),
        *((name, f"decider, such as racer.deciders.FRace({name}=..)") for name in _OF_DECIDERS),
        ("random_state random_seed rng", "seed"),
        ("verbose verbosity show_progress progress_bar", "progress=True"),
        ("workers n_workers max_workers num_workers processes cores parallel jobs", "n_jobs"),
        ("client cluster pool executor", "n_jobs"),
        ("ahead", "n_jobs=racer.Workers(8, ahead=0)"),
        ("storage checkpoint db log_file", "store"),
        ("memory_limit mem_limit timeout memory retries", _LIMITS, "memory, in bytes"),
        ("items problems tasks datasets", "instances", "data_set"),
        ("folds cv", "instances", "fold"),
        ("pvalue p_value p_values", "pairs"),
        ("x0 points_to_evaluate initial_configs defaults warm_start", "initial"),
        ("seeds n_seeds repeats repetitions n_repeats", "instances, one for each repeat"),
        ("alpha", "decider, such as racer.deciders.FRace(alpha=.05)"),
        ("significance confidence level", "alpha, the probability of an error"),
        ("test", "method"),
        ("func fn function objective_function target_runner", "evaluate"),
        ("space search_space", "candidates; racer.tune takes a space", "space"),
        ("parameters param_space", "candidates; racer.tune takes a space", "space"),
        ("candidates configs configurations", "candidates", "space; racer.race takes candidates"),
        ("baseline reference", "control"),
        ("best_params best_config best_configuration best_candidate", "best", "ranking"),
        ("incumbent winner best_params_ x", "best", "ranking"),
        ("best_value best_score best_cost best_loss best_score_ fun", "mean(result.best_index)"),
        ("best_trial best_id", "best_index"),
        ("trials_dataframe history cv_results_", "table"),
        ("ranks mean_ranks", "ranking"),
        ("summary", "verdict, or print the result"),
        ("to_csv to_pandas to_dataframe", "to_frame()", "frames"),
    )
    for name in names.split()
}
"""What arguments, and attributes of results, are called here that have other names elsewhere.

The first of several that is there; none is, in spite of its letters, what is meant otherwise.
"""

P = ParamSpec("P")
R = TypeVar("R")

MOST_JOBS = 10_000


def is_whole(value: object) -> bool:
    """Return whether `value` is a whole number (True and False are not)."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Return whether `value` is a real number that a float can hold (True and False are not)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def with_article(value: object) -> str:
    """Return the name of the type of `value` with its article: a dict, an int, a UUID."""
    name = type(value).__name__
    return f"an {name}" if name[:1].lower() in {*"aeio"} or name == "ndarray" else f"a {name}"


def counted(n: int, what: str) -> str:
    """Return a number of things: 1 block, 2 blocks."""
    return f"{n} {what}{'s' * (n != 1)}"


def shortened(texts: Sequence[str], most: int) -> str:
    """Return the first texts, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that are there twice or more, in the order of their first places."""
    return [name for name, n in Counter(names).items() if n > 1]


def is_one_of(value: Any, options: Sequence[object]) -> bool:
    """Return whether `value` is one of `options`; an array, which is equal to nothing, is not."""
    return isinstance(value, Hashable) and value in options


def is_count(value: object) -> bool:
    """Return True for a whole number, also if it is written as 1e3."""
    return is_whole(value) or (isinstance(value, float) and value.is_integer())


def whole(value: int, name: str, *, least: int) -> int:
    """Return `value` as an int if it is a whole number of at least `least`, else SettingError."""
    if not is_whole(value) or value < least:
        raise SettingError(f"{name}={reprlib.repr(value)}: give a whole number >= {least}")
    return int(value)


def flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False, and does not merely count so; else SettingError."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"{name}={reprlib.repr(value)}: give True or False")
    return bool(value)


def choice(value: object, name: str, options: Sequence[str]) -> None:
    """Raise SettingError unless `value` is one of `options`."""
    if not is_one_of(value, options):
        *all_but_one, last = map(repr, options)
        raise SettingError(f"{name}={value!r}: choose {', '.join(all_but_one)} or {last}")


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a hint to the nearest of `names`, or nothing."""
    near = difflib.get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def instead(name: str, names: Iterable[str], do: str = "give ") -> str:
    """Return a hint which of `names` an unknown name may mean, or nothing."""
    known = [*names]
    if name not in _ELSEWHERE:
        return did_you_mean(name, known)
    fitting = [text for text in _ELSEWHERE[name] if re.split(r"\W", text)[0] in known]
    return f"; {do}{fitting[0]}" if fitting else ""


def no_attribute(item: object, name: str) -> NoReturn:
    """Raise AttributeError for a name that an object lacks, with a hint if the name is public."""
    if hasattr(type(item), name):  # a property, which raises its own
        object.__getattribute__(item, name)
    public = [] if name.startswith("_") else [one for one in dir(item) if not one.startswith("_")]
    hint = instead(name, public, "look at .") if public else ""
    raise AttributeError(f"{type(item).__name__!r} object has no attribute {name!r}{hint}")


def suggests(function: Callable[P, R], more: Iterable[str] = ()) -> Callable[P, R]:
    """Let a function name the parameter that is meant when a keyword is unknown.

    `more` are the keywords that its `**more` takes.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [*(p.name for p in parameters if p.kind is not p.VAR_KEYWORD), *more]

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in names:
                what = f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                raise TypeError(what + instead(name, names))
        return function(*args, **kwargs)

    return call


def suggesting(cls: type[R]) -> type[R]:
    """Let a class do so when it is called."""
    setattr(cls, "__init__", suggests(cls.__init__))  # noqa: B010  (for the type checker)
    return cls


def check_jobs(n_jobs: int) -> int:
    """Return `n_jobs` if joblib can use it, else SettingError."""
    if not is_whole(n_jobs) or n_jobs == 0:
        raise SettingError(f"n_jobs={n_jobs!r}: give a whole number other than 0 (-1: all cores)")
    if n_jobs > MOST_JOBS:
        raise SettingError(
            f"n_jobs={reprlib.repr(n_jobs)}: give {MOST_JOBS} at most; more cores than one machine "
            "has need an executor"
        )
    return int(n_jobs)


def check_fraction(value: float, name: str, *, low: float = 0.0, high: float = 1.0) -> float:
    """Return `value` if it lies strictly between `low` and `high`."""
    if not is_real(value) or not low < value < high:
        raise SettingError(f"{name}={value!r}: give a number between {low:g} and {high:g}")
    return float(value)


def check_epsilon(epsilon: float) -> float:
    """Return `epsilon` if it is a half-width around 1/2: 0 <= epsilon < 1/2."""
    if not is_real(epsilon) or not 0.0 <= epsilon < 0.5:
        raise SettingError(f"epsilon={epsilon!r}: give a number from 0 (none) up to below 0.5")
    return float(epsilon)


def check_strength(strength: float, name: str = "strength") -> float:
    """Return `strength` if it is a prior weight: finite and >= 0."""
    if not is_real(strength) or not 0.0 <= strength < np.inf:
        raise SettingError(f"{name}={strength!r}: give a finite number >= 0")
    return float(strength)


def check_positive(value: float, name: str) -> float:
    """Return `value` if it is finite and > 0."""
    if not is_real(value) or not 0.0 < value < np.inf:
        raise SettingError(f"{name}={value!r}: give a finite number > 0")
    return float(value)


def check_bounds(bounds: Any) -> tuple[float, float]:
    """Return `bounds` if they are two finite numbers, the smaller one first."""
    pair = bounds if isinstance(bounds, list | tuple) and all(map(is_real, bounds)) else ()
    if len(pair) != 2 or not -np.inf < pair[0] < pair[1] < np.inf:
        raise SettingError(
            f"bounds={reprlib.repr(bounds)}: give the smallest and the largest value, such as (0, 1)"
        )
    return float(pair[0]), float(pair[1])


def check_draws(draws: int) -> int:
    """Return `draws` if it is enough to estimate a probability from."""
    return whole(draws, "draws", least=100)


def as_floats(values: ArrayLike, name: str, ndim: int) -> NDArray[np.float64]:
    """Return `values` as a float array with `ndim` dimensions."""
    try:
        if isinstance(values, np.ma.MaskedArray):  # masked is unknown
            values = np.ma.filled(values.astype(np.float64), np.nan)
        given = np.asarray(values)
        kind = given.dtype.kind
        odd = [value for value in given.flat if isinstance(value, str)] if kind == "O" else []
        if kind == "O":  # NumPy knows None as NaN, but not what pandas has for it
            known = [None if type(value).__name__ == "NAType" else value for value in given.flat]
            given = np.array(known, dtype=object).reshape(given.shape)
        if kind not in "biufO":
            odd = given.ravel()[:1].tolist()
        array = None if odd else given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ScoresError(f"{name} must hold numbers only: {error}") from None
    if array is None:
        raise ScoresError(f"{name} must hold numbers only, not such as {odd[0]!r}")
    if array.ndim != ndim:
        raise ScoresError(f"{name} must have {ndim} dimension(s), not shape {array.shape}")
    return array


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; ValueError if it is not JSON, or an object repeats a key."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is there twice")
        found[key] = value
    return found
