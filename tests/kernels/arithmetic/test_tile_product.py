import functools

import numba
import numpy as np
import pytest
from fastes.kernels.arithmetic import tile_product
from fastes.kernels.arithmetic.tile_product import MODELS, TILE, score_tile


@functools.cache
def _product(bytes_of_vectors, at_once):
    return numba.njit(lambda b, o, z, out: score_tile(b, o, z, out))


def compiled(bytes_of_vectors, at_once, monkeypatch):
    """Return the product to be compiled, at its first call, for vectors of a length."""
    monkeypatch.setattr(tile_product, "_VECTOR_BYTES", bytes_of_vectors)
    monkeypatch.setattr(tile_product, "_VECTORS_AT_ONCE", {1: at_once, MODELS: at_once})
    return _product(bytes_of_vectors, at_once)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("r", [1, 2, 3, 7, 50])
@pytest.mark.parametrize(("vectors", "at_once"), [(64, 4), (64, 2), (32, 4), (32, 2), (16, 1)])
def test_the_product_is_the_chain_of_multiply_adds_for_any_length_of_vectors(
    dtype, r, vectors, at_once, monkeypatch
):
    rng = np.random.default_rng(r)
    b, o = rng.normal(size=(r, TILE)).astype(dtype), rng.normal(size=TILE).astype(dtype)
    product = compiled(vectors, at_once, monkeypatch)
    for shape in [(r,), (MODELS, r)]:
        z = rng.normal(size=shape).astype(dtype)
        out, expected = np.empty((*shape[:-1], TILE), dtype), np.empty((*shape[:-1], TILE), dtype)
        product(b, o, z, out)
        score_tile(b, o, z, expected)
        assert (out == expected).all()
        np.testing.assert_allclose(out, o + z @ b, rtol=1e-4, atol=1e-5)


def test_the_result_may_take_the_offsets_place():
    rng = np.random.default_rng(1)
    b, o, z = rng.normal(size=(5, TILE)), rng.normal(size=TILE), rng.normal(size=5)
    expected = o + z @ b
    numba.njit(lambda b, o, z, out: score_tile(b, o, z, out))(b, o, z, o)
    np.testing.assert_allclose(o, expected, rtol=1e-12)


def test_what_is_not_a_number_is_seen():
    b, o, z = np.ones((2, TILE)), np.zeros(TILE), np.array([1.0, np.inf])
    b[1, 5], o[7], b[1, 9] = 0.0, np.nan, -1.0
    out = np.empty(TILE)
    numba.njit(lambda b, o, z, out: score_tile(b, o, z, out))(b, o, z, out)
    assert np.isnan(out[[5, 7]]).all()
    assert out[9] == -np.inf
    assert out[0] == np.inf
