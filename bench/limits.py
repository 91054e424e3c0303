"""What this machine can do at most on one thread: memory, multiplication, random numbers."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.measure import seconds


class Work(NamedTuple):
    """What a unit of work cannot do without."""

    flops: float = 0.0
    bytes: float = 0.0  # read from memory, not from a cache
    normals: float = 0.0


def scan_and_update(K: int, d: int) -> Work:
    """Return what a step needs that scores all arms, in single precision, and learns."""
    in_memory = 4 * K * d if K * d > 1_000_000 else 0  # else the arms stay in a cache
    return Work(flops=2 * K * d + 4 * d * d, bytes=in_memory)


class Limits(NamedTuple):
    """Rates a second."""

    flops: float  # of BLAS: a product of two large matrices in double precision
    bytes: float  # read from memory: the square of a long vector's length, by BLAS
    normals: float  # of NumPy's generator

    def seconds(self, work: Work) -> float:
        """Return the least time for a unit of work: that of its slowest part."""
        return max(need / rate for need, rate in zip(work, self, strict=True))


@functools.cache
def limits() -> Limits:
    """Return the machine's limits, measured once a session."""
    rng = np.random.default_rng(0)
    square, out = rng.normal(size=(1024, 1024)), np.empty((1024, 1024))
    long, normals = np.ones(1 << 25), np.empty(1 << 20)
    return Limits(
        flops=2.0 * 1024**3 / _best(lambda: np.matmul(square, square, out=out)),
        bytes=long.nbytes / _best(lambda: np.dot(long, long)),
        normals=len(normals) / _best(lambda: rng.standard_normal(out=normals)),
    )


def _best(call: Callable[[], object]) -> float:
    return min(seconds(call) for _ in range(7))
