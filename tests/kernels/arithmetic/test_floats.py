from fractions import Fraction

import numpy as np
import pytest
from fastes.kernels.arithmetic import floats, vectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numba import njit

fma = njit(lambda x, y, z: floats.fma(x, y, z))
dot = njit(lambda x, y: vectors.dot(x, y))
add_transposed = njit(lambda matrix, x, out: vectors.add_transposed(matrix, x, out))
multiply_transposed = njit(lambda matrix, x, out: vectors.multiply_transposed(matrix, x, out))

anything = st.floats(allow_nan=True, allow_infinity=True)


def same(x, y):
    return np.float64(x).tobytes() == np.float64(y).tobytes() or (np.isnan(x) and np.isnan(y))


@given(anything, anything, anything)
def test_fma_rounds_once_and_agrees_with_its_interpreted_twin(x, y, z):
    with np.errstate(all="ignore"):
        assert same(fma(x, y, z), floats.fma(x, y, z))


def test_fma_sees_nan_and_infinity():
    assert np.isnan(fma(np.nan, 1.0, 1.0))
    assert np.isnan(fma(np.inf, 0.0, 1.0))
    assert fma(np.inf, 1.0, 1.0) == np.inf


@given(
    hnp.arrays(np.float64, st.integers(0, 40), elements=st.floats(-1e3, 1e3)),
)
def test_dot_is_the_inner_product(x):
    y = x[::-1].copy()
    exact = float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)))
    scale = float(np.abs(x) @ np.abs(y)) if len(x) else 0.0
    assert abs(dot(x, y) - exact) <= 1e-14 * scale


@given(hnp.arrays(np.float32, (3, 50), elements=st.floats(-1e3, 1e3, width=32)))
def test_single_precision_stays_single(numbers):
    x, y, z = numbers
    each = [fma(*three) for three in zip(x, y, z, strict=True)]
    for value, a, b, c in zip(each, x, y, z, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        assert value == np.float32(value)
        assert abs(Fraction(float(value)) - exact) <= abs(exact) * Fraction(2) ** -24 + 2**-100
        assert isinstance(floats.fma(a, b, c), np.float32)
    size = float(np.abs(x).astype(float) @ np.abs(y).astype(float))
    least = 50 * 2.0**-149  # what products too small for single precision may lose
    gap = abs(dot(x, y) - float(x.astype(float) @ y.astype(float)))
    assert gap <= 60 * 2.0**-24 * size + least


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dot_is_its_interpreted_twin_to_the_bit(dtype):
    for n in [*range(70), 200, 255]:
        x, y = np.random.default_rng(n).normal(size=(2, n)).astype(dtype)
        assert dot(x, y) == vectors.dot(x, y)


@pytest.mark.parametrize(
    ("n", "r"), [(0, 3), (1, 1), (5, 5), (10, 10), (3, 127), (70, 7), (33, 64), (65, 100)]
)
def test_products_are_chains_in_the_order_of_rows(n, r):
    # To the bit: of each column, and whatever `out` held where it is not added to.
    rng = np.random.default_rng([n, r])
    matrix, x, start = rng.normal(size=(n, r)), rng.normal(size=n), rng.normal(size=r)
    for product, first in ((add_transposed, start), (multiply_transposed, np.zeros(r))):
        expected = first.tolist()
        for i in range(n):
            expected = [floats.fma(x[i], matrix[i, j], expected[j]) for j in range(r)]
        out = start.copy()
        product(matrix, x, out)
        assert out.tolist() == expected


def test_dot_sees_nan():
    x = np.ones(11)
    x[9] = np.nan
    assert np.isnan(dot(x, np.ones(11)))
