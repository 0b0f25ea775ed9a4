"""The tuner in any space that can be built."""

from __future__ import annotations

import re
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playing import ONE_NUMBER
from random_spaces import built, spaces

from racer import BudgetError, Categorical, Ordinal, Space, Tuner

LAWS = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
@pytest.mark.filterwarnings("ignore:only one configuration that is allowed:racer.RacerWarning")
@pytest.mark.filterwarnings("ignore:.* is never true:racer.RacerWarning")
@LAWS
@given(
    spaces(),
    st.integers(0, 10**6),
    st.sampled_from(ONE_NUMBER),
    st.sampled_from([None, 2]),
    st.integers(0, 60),
)
def test_a_run_in_any_space(tuning, arguments, seed, decider, instances, more):
    space = built(arguments)

    def evaluate(cell):
        height = zlib.crc32(repr(sorted(cell.config.items())).encode()) / 2**32
        return None if height > 0.9 else height + 0.1 * tuning.noise(cell)

    settings_ = {
        "instances": instances and list(range(instances)),
        "deterministic": instances is not None,
        "decider": decider,
        "seed": seed,
        "first_test": 2,
    }
    with pytest.raises(BudgetError) as caught:
        Tuner.of(space, budget=1, **settings_)
    budget = int(re.search(r"at least (\d+)", str(caught.value)).group(1)) + more
    tuner = Tuner.of(space, budget=budget, **settings_)
    tuning.play(tuner, evaluate)
    result = tuner.result()
    assert result.ended is not None
    assert result.evaluations <= budget
    if result.elites and instances is None:
        assert result.evaluations == (budget if len(result.configs) > 1 else 0)
    keys = {space.key(config) for config in result.configs}  # each is in the space
    assert len(keys) == len(result.configs)
    for config in result.configs:
        assert space.decode(space.encode(config)) == config


@pytest.mark.parametrize("is_deterministic", [False, True])
def test_a_tuning_of_a_space_with_few_configurations_ends(tuning, is_deterministic):
    method, level = Categorical(["none", "simple", "full"]), Ordinal(["low", "middle", "high"])
    space = Space(
        {"method": method, "level": level}, conditions={"level": {"method": ["simple", "full"]}}
    )

    def evaluate(cell):
        at = ["low", "middle", "high"].index(cell.config.get("level", "low"))
        return len(cell.config["method"]) + 0.3 * at + 0.1 * cell.block

    for seed in range(4):  # branches of one and of three configurations run out in turn
        tuner = Tuner.of(
            space, instances=range(4), deterministic=is_deterministic, budget=23, seed=seed
        )
        tuning.play(tuner, evaluate)
        assert len(tuner.result().configs) == space.size
