"""Caps on run times: ours treat all alike."""

from experiments.runtime.caps import LIMIT, PAST, as_irace, as_racer, drawn


def test_a_cap_of_ours_is_the_same_for_all_and_that_of_irace_is_not():
    times = drawn(3, 0.0)
    costs, used = as_racer(times, 2.0)
    stopped = costs < times[PAST:]
    assert stopped.any()
    for row, is_stopped in zip(costs, stopped, strict=True):
        assert len(set(row[is_stopped])) <= 1
        assert row.max() == row[is_stopped].max(initial=row.max())
    assert (used <= times[PAST:]).all()
    theirs, _ = as_irace(times)
    changed = theirs != times[PAST:]
    assert set(theirs[changed]) == {LIMIT}
    assert not changed[:, :5].any()
