"""Spaces at random: bounds and conditions that depend on other parameters, what is forbidden."""

from hypothesis import reject
from hypothesis import strategies as st

from racer import Categorical, Integer, Ordinal, Param, Real, SettingError, Space

NAMES = ("a", "b", "c", "d", "e")


@st.composite
def numbers(draw, earlier):
    """Return a Real or an Integer, perhaps bounded by an earlier Integer or Real."""
    log = draw(st.booleans())
    above = [n for n, p in earlier.items() if isinstance(p, Real | Integer)]
    whole = draw(st.booleans())
    if whole:
        low = draw(st.integers(1 if log else -50, 60))
        high = low + draw(st.integers(0, 40) | st.integers(0, 10**9))
        settings = {"log": log} if log else {"step": draw(st.integers(1, 3))}
    else:
        size = st.floats(1e-9, 1e9) | st.floats(0.5, 20.0)
        low = draw(size) if log else draw(st.floats(-1e6, 1e6) | st.floats(-1.0, 1.0))
        high = low + draw(size)
        way = draw(st.sampled_from(["plain", "digits"] + ["step"] * (not log)))
        settings = {"log": log}
        if way == "digits":
            low, high = round(low, 3) + 0.001, round(high, 3) + 0.002
            settings["digits"] = draw(st.integers(3, 12))
        if way == "step":
            settings["step"] = draw(st.sampled_from([0.1, 0.25, 1.0]))
    if above and draw(st.booleans()):
        other = Param(draw(st.sampled_from(above)))
        high = draw(st.sampled_from([other, 2 * other + low, abs(low) + other / 2]))
    return (Integer if whole else Real)(low, high, **settings)


def parameters(earlier):
    """Return a parameter that may depend on earlier ones."""
    values = st.lists(
        st.sampled_from(["x", "y", "", "1"]) | st.integers(0, 3) | st.booleans() | st.none(),
        min_size=1,
        max_size=4,
        unique_by=lambda value: (isinstance(value, bool), value),
    )
    return numbers(earlier) | values.map(Categorical) | values.map(Ordinal)


@st.composite
def comparisons(draw, known):
    """Return a condition on one of the known parameters."""
    name = draw(st.sampled_from(sorted(known)))
    parameter = known[name]
    if isinstance(parameter, Categorical | Ordinal):
        among = parameter.choices if isinstance(parameter, Categorical) else parameter.levels
        some = draw(st.lists(st.sampled_from(among), min_size=1, max_size=2))
        return draw(
            st.sampled_from(
                [Param(name).is_in(some), Param(name) == some[0], Param(name) != some[0]]
            )
        )
    limit = draw(st.integers(-5, 60))
    return draw(
        st.sampled_from(
            [Param(name) < limit, Param(name) >= limit, Param(name) == limit, Param(name).exists()]
        )
    )


def expressions(known):
    """Return conditions joined at random."""
    return st.recursive(
        comparisons(known),
        lambda inner: (
            st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1])
            | st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1])
            | inner.map(lambda part: ~part)
        ),
        max_leaves=3,
    )


@st.composite
def spaces(draw):
    """Return the arguments of a Space, which may turn out to allow nothing."""
    known, conditions = {}, {}
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        if known and draw(st.booleans()):
            conditions[name] = draw(expressions(known))
        known[name] = draw(parameters(known))
    forbidden = draw(st.lists(expressions(known), max_size=2))
    order = draw(st.permutations(sorted(known)))
    return {
        "parameters": {name: known[name] for name in order},
        "conditions": conditions,
        "forbidden": forbidden,
    }


IMPOSSIBLE = (
    "leaves no configuration",
    "leaves none of",
    "no value is possible",
    "has no value",
    "has one value",  # an integer whose step is longer than its range
)


def built(arguments, *refusals):
    """Return the space, or give up on what is refused for a good reason."""
    try:
        return Space(**arguments)
    except SettingError as error:
        if not any(said in str(error) for said in refusals or IMPOSSIBLE):
            raise
    reject()
    return None
