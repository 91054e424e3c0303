"""Gamma numbers: those of the reference one by one, and of the gamma law."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.streams import gamma
from fastes.kernels.streams.blocks import STEPS, no_block
from fastes.kernels.streams.layout import DIAGNOSTICS, MAX_COUNTER, MODEL_INDEX
from fastes.kernels.streams.philox import source
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

gamma_at = from_python(gamma.gamma_at)

times = st.one_of(st.integers(0, 3 * STEPS), st.integers(0, MAX_COUNTER))
shapes = st.one_of(st.just(1.0), st.floats(1.0, 4.0), st.floats(1.0, 1e9))
places = st.tuples(
    st.integers(0, 2), st.integers(0, 2), st.sampled_from([MODEL_INDEX, DIAGNOSTICS]), times, shapes
)


@given(st.lists(places, min_size=1, max_size=8))
def test_numbers_are_those_of_the_reference_whatever_was_drawn_before(places):
    block = no_block(2)
    for seed, run, stream, t, shape in places:
        drawn = gamma_at(block, source(seed, run), stream, t, shape)
        expected = reference.gamma(seed, run, int(stream), t, shape)
        np.testing.assert_allclose(drawn, expected, rtol=1e-12)


def test_a_try_that_is_rejected_is_followed_by_another():
    """Of shape 1 one in twenty is: all of these numbers are those of the reference."""
    block, origin = no_block(2), source(5, 1)
    drawn = [gamma_at(block, origin, MODEL_INDEX, t, 1.0) for t in range(400)]
    first = [reference.normal(5, 1, int(MODEL_INDEX), 2**31, t) for t in range(400)]
    d = 2 / 3
    at_once = [d * (1 + x / np.sqrt(9 * d)) ** 3 for x in first]
    assert 5 <= np.sum(~np.isclose(drawn, at_once)) <= 40
    expected = [reference.gamma(5, 1, int(MODEL_INDEX), t, 1.0) for t in range(400)]
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [1.0, 1.5, 3.0, 40.0, 1e4, 5e6])
def test_numbers_are_of_the_gamma_law(shape):
    """Each rejects a right program with probability 1e-4."""
    block, origin = no_block(2), source(11)
    drawn = [gamma_at(block, origin, MODEL_INDEX, t, shape) for t in range(20_000)]
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-4
