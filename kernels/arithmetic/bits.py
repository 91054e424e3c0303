"""Operations on the bits of a word."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload


def count_ones(word: Any) -> Any:
    """Return how many bits of a uint64 are 1, as an int64."""
    return np.int64(int(word).bit_count())


@intrinsic
def _count_ones(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@overload(count_ones)
def _count_ones_compiled(word):
    return lambda word: _count_ones(word)
