"""The largest of a tile of scores, and how many are equal to it."""

import numpy as np

from ..arithmetic.tile_product import TILE
from ..jit.decorators import inlined


@inlined
def larger(x, best):
    """Return the larger, or `best` where x is not a number."""
    return x if x > best else best


@inlined
def largest_of(scores):
    """Return the largest of TILE scores by eight running maxima."""
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = scores.dtype.type(-np.inf)
    for i in range(0, TILE, 8):
        m0 = larger(scores[i], m0)
        m1 = larger(scores[i + 1], m1)
        m2 = larger(scores[i + 2], m2)
        m3 = larger(scores[i + 3], m3)
        m4 = larger(scores[i + 4], m4)
        m5 = larger(scores[i + 5], m5)
        m6 = larger(scores[i + 6], m6)
        m7 = larger(scores[i + 7], m7)
    return larger(larger(larger(m0, m1), larger(m2, m3)), larger(larger(m4, m5), larger(m6, m7)))


@inlined
def count_equal(scores, value):
    """Return how many of TILE scores equal a value, and the first column of one."""
    count, column = 0, TILE
    for i in range(TILE):
        count += scores[i] == value
    for i in range(TILE):
        here = i if scores[i] == value else TILE
        column = here if here < column else column
    return count, column
