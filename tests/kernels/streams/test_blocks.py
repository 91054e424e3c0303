"""Numbers drawn by the block are those drawn one by one, whatever was asked for before."""

import numpy as np
import reference
from engine import from_python
from fastes.kernels.streams import blocks
from fastes.kernels.streams.blocks import STEPS, no_block
from fastes.kernels.streams.layout import MAX_COUNTER, MAX_LANE, MODEL_INDEX, NOISE, PERTURBATION
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source
from hypothesis import given
from hypothesis import strategies as st

draw_vector = from_python(blocks.draw_vector)
integer_at = from_python(blocks.integer_at)

# Times in the same block and in others, near the beginning and near the last counter.
times = st.one_of(st.integers(0, 3 * STEPS), st.integers(0, MAX_COUNTER))
places = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from([NOISE, PERTURBATION]), times),
    min_size=1,
    max_size=12,
)


@given(places, st.data())
def test_vectors_are_those_drawn_one_by_one(places, data):
    block, expected = no_block(12), np.empty(12)
    for seed, run, stream, t in places:
        n = data.draw(st.integers(0, 12))
        draw_vector(block, source(seed, run), stream, t, n)
        fill_normals(source(seed, run), stream, t, expected)
        assert (block.numbers[:n, t % STEPS] == expected[:n]).all()


@given(places, st.data())
def test_integers_are_those_of_the_reference(places, data):
    block = no_block(1, np.int64)
    for seed, run, _, t in places:
        n = data.draw(st.sampled_from([1, 2, 1000, MAX_LANE]))
        drawn = integer_at(block, source(seed, run), MODEL_INDEX, t, n)
        assert drawn == reference.integer(seed, run, int(MODEL_INDEX), t, n)


def test_a_rejected_integer_is_drawn_again():
    block, n, t = no_block(1, np.int64), 1000, 21
    integer_at(block, source(3), MODEL_INDEX, t, n)
    block.numbers[0, t % STEPS] = -1  # one in 2^54 is
    expected = reference.integer(3, 0, int(MODEL_INDEX), t, n)
    assert integer_at(block, source(3), MODEL_INDEX, t, n) == expected
