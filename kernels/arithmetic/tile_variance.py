"""A quadratic form of each arm of a tile: the variance of its value."""

from ..jit.decorators import kernel
from .floats import fma
from .tile_product import TILE, score_tile


@kernel
def variance_tile(S, b, row, out):
    """out[:] = b'S b for the arms of a tile (r x TILE); cost O(TILE r^2).

    S is symmetric: twice the part below the diagonal, and the diagonal.
    """
    for i in range(TILE):
        out[i] = 0.0
    for j in range(b.shape[0]):
        for i in range(TILE):
            row[i] = 0.5 * S[j, j] * b[j, i]
        if j > 0:
            score_tile(b, row, S[j, :j], row)
        for i in range(TILE):
            out[i] = fma(b[j, i], row[i], out[i])
    for i in range(TILE):
        # Rounding may leave a variance a hair below zero.
        out[i] = 2.0 * out[i] if out[i] > 0.0 else 0.0
