"""`racer.plan`: blocks, evaluations and P(right), before any money is spent."""

import pytest

import racer


def test_longer_races_are_right_more_often_and_the_numbers_scale():
    how = {"candidates": 5, "blocks": 40, "repetitions": 40, "decider": "f-race"}
    power = racer.plan(effect=0.8, noise=1.0, **how)
    assert power.table["blocks"].tolist() == [5, 10, 20, 40]
    assert power.table["right"].iloc[-1] > power.table["right"].iloc[0] + 0.15
    assert (power.table["evaluations"] <= 5 * power.table["blocks"]).all()
    scaled = racer.plan(effect=1.6, noise=2.0, **how)
    assert scaled.table["right"].tolist() == power.table["right"].tolist()


def test_what_is_printed_and_drawn():
    power = racer.plan(candidates=3, effect=3.0, noise=0.5, blocks=10, repetitions=20)
    assert str(power).startswith("P(right) of 0.95 takes 5 blocks, ")
    never = racer.plan(candidates=9, effect=0.01, noise=2.0, blocks=5, repetitions=20)
    assert str(never).startswith("More than 5 blocks are needed")
    drawn = power.plot()
    assert drawn.get_ylabel() == "P(right)"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"candidates": 1}, "candidates=1"), ({"effect": 0}, "effect=0"), ({"blocks": 4}, "blocks=4")],
)
def test_wrong_settings_are_refused(wrong, words):
    with pytest.raises(racer.SettingError, match=words):
        racer.plan(**({"candidates": 3, "effect": 1.0, "noise": 1.0} | wrong))
