"""Randomness as a pure function: every number is f(seed, run, stream, lane, counter).

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011, "Parallel random numbers:
as easy as 1, 2, 3"). The seed is its 64-bit key; run (32 bits), stream (8), lane (32) and
counter (56) fill its 128-bit counter, so two different draws never share a block. No library
offers one that can be called inside a compiled loop and vectorised across draws.

For the meaning of streams, lanes and counters see layout.py.
"""

from typing import NamedTuple

import numpy as np

from ..jit.decorators import inlined

_U = np.uint64

LOW_WORD = _U(0xFFFFFFFF)
WORD_BITS = _U(32)
_MULTIPLIER_0, _MULTIPLIER_1 = _U(0xD2511F53), _U(0xCD9E8D57)
_WEYL_0, _WEYL_1 = _U(0x9E3779B9), _U(0xBB67AE85)


class Source(NamedTuple):
    """The seed and the number of a run."""

    seed: np.uint64
    run: np.uint64


def source(seed: int, run: int = 0) -> Source:
    """Return the source of run `run` under `seed`."""
    return Source(np.uint64(seed), np.uint64(run))


@inlined
def philox(key0, key1, word0, word1, word2, word3):
    """Return Philox4x32-10 of a counter block; all words are uint64 below 2^32."""
    for _ in range(10):
        # Only the low halves enter the product: masking there, and not after, leaves one
        # instruction (32 x 32 -> 64 bits) for each product in vector code.
        product0 = _MULTIPLIER_0 * (word0 & LOW_WORD)
        product1 = _MULTIPLIER_1 * (word2 & LOW_WORD)
        word0 = (product1 >> WORD_BITS) ^ word1 ^ key0
        word2 = (product0 >> WORD_BITS) ^ word3 ^ key1
        word1 = product1
        word3 = product0
        key0 = (key0 + _WEYL_0) & LOW_WORD
        key1 = (key1 + _WEYL_1) & LOW_WORD
    return word0 & LOW_WORD, word1 & LOW_WORD, word2 & LOW_WORD, word3 & LOW_WORD


@inlined
def random_pair(source, stream, lane, counter):
    """Return two independent uint64, uniform over all 2^64 values; all words are uint64."""
    word0, word1, word2, word3 = philox(
        source.seed & LOW_WORD,
        source.seed >> WORD_BITS,
        lane,
        counter & LOW_WORD,
        source.run,
        ((counter >> WORD_BITS) << _U(8)) | stream,
    )
    return (word0 << WORD_BITS) | word1, (word2 << WORD_BITS) | word3
