from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import comb

from racer.errors import ScoresError, SettingError
from racer.stats import bonferroni, hochberg, holm, shaffer
from racer.stats.multiplicity import adjust, check_correction

LAW = settings(max_examples=30, deadline=None, derandomize=True)


@st.composite
def families(draw):
    m = draw(st.integers(2, 6))
    k = m * (m - 1) // 2
    values = st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.01, 0.02, 0.5, 1.0])  # which tie
    return m, draw(st.lists(values, min_size=k, max_size=k))


def shaffer_of(m):
    return lambda p: shaffer(p, m)


def some_procedure(m):
    return st.sampled_from([bonferroni, holm, hochberg, shaffer_of(m)])


def test_bonferroni_by_hand():
    np.testing.assert_allclose(bonferroni([0.04, 0.005, 0.3]), [0.12, 0.015, 0.9], rtol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6])
def test_shaffers_factors_by_enumeration(m):
    """The most pairs that can be equal at once, when at least i - 1 are not (Shaffer 1986, Table 1)."""
    k = int(comb(m, 2))
    counts = {
        sum(a == b for a, b in combinations(groups, 2)) for groups in product(range(m), repeat=m)
    }
    for i in range(k):
        p = np.array([0.0] * i + [1e-4] * (k - i))
        most = max(c for c in counts if c <= k - i)
        assert shaffer(p, m)[i] == pytest.approx(most * 1e-4)


@pytest.mark.parametrize("procedure", [bonferroni, holm, hochberg])
def test_few_p_values(procedure):
    assert procedure([]).shape == (0,)
    assert procedure([0.3]).tolist() == [0.3]
    assert procedure([0.0, 1.0]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("procedure", [bonferroni, holm, hochberg, shaffer_of(3)])
def test_p_values_are_left_alone(procedure):
    p = np.array([0.5, 0.01, 0.2])
    procedure(p)[:] = 7.0
    assert p.tolist() == [0.5, 0.01, 0.2]


@pytest.mark.parametrize("procedure", [bonferroni, holm, hochberg, shaffer_of(3)])
@pytest.mark.parametrize("bad", [-0.001, 1.001, np.nan, np.inf])
def test_not_a_probability(procedure, bad):
    with pytest.raises(ScoresError, match="p_values must lie between 0 and 1, without NaN"):
        procedure([0.1, bad, 0.2])


@pytest.mark.parametrize("procedure", [bonferroni, holm, hochberg, shaffer_of(3)])
@pytest.mark.parametrize("bad", [0.1, [[0.1, 0.2, 0.3]]])
def test_not_a_list(procedure, bad):
    with pytest.raises(ScoresError, match=r"p_values must have 1 dimension\(s\)"):
        procedure(bad)


@pytest.mark.parametrize("m", [2, 4, 0, 1])
def test_shaffer_needs_all_pairs(m):
    with pytest.raises(ScoresError, match=f"3 p-values for n_candidates={m}"):
        shaffer([0.1, 0.2, 0.3], m)


def test_adjust_by_name():
    p = [0.01, 0.5, 0.02]
    np.testing.assert_array_equal(adjust(p, None), p)
    np.testing.assert_array_equal(adjust(p, "holm"), holm(p))
    np.testing.assert_array_equal(adjust(p, "hochberg"), hochberg(p))
    np.testing.assert_array_equal(adjust(p, "bonferroni"), bonferroni(p))
    np.testing.assert_array_equal(adjust(p, "shaffer", n_candidates=3), shaffer(p, 3))


def test_adjust_unknown_name():
    with pytest.raises(SettingError, match=r"correction='sidak'.*'holm'"):
        adjust([0.1], "sidak")
    with pytest.raises(SettingError, match="'shaffer' needs n_candidates"):
        adjust([0.1], "shaffer")


@LAW
@given(families(), st.data())
def test_adjusted_are_p_values_no_smaller_and_in_order(family, data):
    m, p = family
    adjusted = data.draw(some_procedure(m))(p)
    assert (adjusted >= p).all()
    assert (adjusted <= 1.0).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0.0).all()


@LAW
@given(families())
def test_power(family):
    """Each is at least as powerful as the one before."""
    m, p = family
    assert (holm(p) <= bonferroni(p)).all()
    assert (hochberg(p) <= holm(p)).all()
    assert (shaffer(p, m) <= holm(p)).all()


@LAW
@given(families(), st.data())
def test_permuting_p_values_permutes_the_adjusted(family, data):
    m, p = family
    procedure = data.draw(some_procedure(m))
    order = np.array(data.draw(st.permutations(range(len(p)))))
    np.testing.assert_array_equal(procedure(np.array(p)[order]), procedure(p)[order])


@LAW
@given(families(), st.floats(0.001, 0.999))
def test_holm_and_hochberg_as_step_by_step_procedures(family, alpha):
    """Rejecting adjusted p-values is going through the sorted ones, step by step."""
    _, p = family
    k, ranked = len(p), np.sort(p)
    passed = ranked * np.arange(k, 0, -1) <= alpha
    down = k if passed.all() else int(np.argmin(passed))
    up = 0 if not passed.any() else k - int(np.argmax(passed[::-1]))
    assert (holm(p) <= alpha).sum() == down
    assert (hochberg(p) <= alpha).sum() == up


def test_shaffer_is_for_all_pairs_only():
    for correction in (None, "bonferroni", "holm", "hochberg"):
        check_correction(correction, all_pairs=False)
    check_correction("shaffer", all_pairs=True)
    with pytest.raises(SettingError, match="correction='shaffer'"):
        check_correction("shaffer", all_pairs=False)
