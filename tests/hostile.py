"""Arms, offsets and models on which low precision has the hardest time."""

import contextlib
import os
from unittest import mock

import numpy as np
from fastes.kernels.actions.arms import empty_arms, store_rows
from fastes.kernels.arithmetic.features import has_feature
from hypothesis import strategies as st

VNNI = has_feature("avxvnni") or (has_feature("avx512vnni") and has_feature("avx512vl"))
PASSES = ["vnni"] * VNNI + ["avx2"] * has_feature("avx2") + ["single"]
"""The screening passes that this machine can do."""


def screened_by(screening):
    """Have arms made from here on be screened by a pass, or by the machine's own if None."""
    if screening is None:
        return contextlib.nullcontext()
    return mock.patch.dict(os.environ, FASTES_SCREENING=screening)


def arms_of(b, o=None, screening=None):
    """Return arms with the codes of a screening pass."""
    b = np.ascontiguousarray(b, dtype=float)
    with screened_by(screening):
        arms = empty_arms(*b.shape)
    store_rows(arms, 0, b, np.zeros(len(b)) if o is None else np.asarray(o, float))
    return arms


def _one_large_coordinate(rng, K, r):
    b = rng.normal(size=(K, r))
    b[:, rng.integers(r)] *= 10.0 ** rng.uniform(0, 8)
    return b


def _one_large_arm(rng, K, r):
    b = 1e-3 * rng.normal(size=(K, r))
    b[rng.integers(K)] *= 1e9
    return b


def _of_one_sign(rng, K, r):
    # All rounded the same way: half way between two integers of the code.
    largest = 2.0 ** rng.integers(-3, 4)
    b = largest * (rng.integers(0, 127, size=(K, r)) + 0.499) / 127
    b[:, 0] = largest
    return b


def _nearly_tied(rng, K, r):
    return rng.normal(size=r) + 10.0 ** rng.uniform(-17, -1) * rng.normal(size=(K, r))


def _equal(rng, K, r):
    few = rng.normal(size=(1 + K // 50, r))
    return few[rng.integers(len(few), size=K)]


def _zeros(rng, K, r):
    return rng.normal(size=(K, r)) * (rng.random((K, 1)) < 0.1) * (rng.random((K, r)) < 0.5)


def _on_a_sphere(rng, K, r):
    b = rng.normal(size=(K, r))
    return b / np.linalg.norm(b, axis=1, keepdims=True)


def _on_a_grid(rng, K, r):
    return rng.integers(-2, 3, size=(K, r)).astype(float)


KINDS = [
    lambda rng, K, r: rng.normal(size=(K, r)),
    lambda rng, K, r: rng.normal(size=(K, r)) * 10.0 ** rng.uniform(-6, 6, size=(K, 1)),
    lambda rng, K, r: np.abs(rng.normal(size=(K, r))),
    _one_large_coordinate,
    _one_large_arm,
    _of_one_sign,
    _nearly_tied,
    _equal,
    _zeros,
    _on_a_sphere,
    _on_a_grid,
]


@st.composite
def problems(draw, arms=(1, 700), dimensions=(1, 40)):
    """Return rows b, offsets o and a model z, of every kind and size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K, r = draw(st.integers(*arms)), draw(st.integers(*dimensions))
    size = draw(st.sampled_from([1e-310, 1e-200, 1e-45, 1e-38, 1e-12, 1.0, 1.0, 1e6]))
    b = size * draw(st.sampled_from(KINDS))(rng, K, r)
    length = draw(st.sampled_from([1e-310, 1e-300, 1e-40, 1.0, 1.0, 1.0, 1e20, 1e30, 1e39, 1e300]))
    z = length * draw(st.sampled_from(KINDS))(rng, 1, r)[0]
    if draw(st.booleans()):
        z = z * (b[rng.integers(K)] / max(np.abs(b).max(), 1e-300))  # towards an arm, or nearly
    offset = draw(st.sampled_from([0.0, 0.0, 1e-12, 1.0, 1e9]))
    o = offset * (1 + draw(st.sampled_from([0.0, 1e-9, 1e-5, 1.0])) * rng.normal(size=K))
    return b, o, z
