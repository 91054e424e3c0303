"""The times at which regret is recorded."""

import numpy as np
from numpy.typing import NDArray

from fastes.checks import memory


def recording_times(T: int, points: int) -> NDArray[np.int64]:
    """Return T and at most `points` earlier times, half evenly spaced, half evenly in log t.

    They are nested: times of a longer horizon, up to a shorter one, are among those of the shorter
    one. So a simulation can be extended as if it had been that long from the start.

    Examples
    --------
    >>> recording_times(1000, 8).tolist()
    [1, 16, 256, 512, 768, 1000]
    >>> recording_times(2000, 8).tolist()
    [1, 16, 256, 512, 1024, 1536, 2000]
    """
    most = min(T, points + 1)
    memory.require(f"a record at {most:,} times", 3 * 8 * most)
    if points >= T:
        return np.arange(1, T + 1)
    half = max(1, points // 2)
    # Powers of two: a coarser spacing is a multiple of every finer one.
    spacing = 1 << max(0, (-(-T // half) - 1).bit_length())
    even = np.arange(spacing, T, spacing)
    octaves = T.bit_length()
    rest = points - half
    gap = 1.0 / 64  # octaves
    while octaves / gap > rest:
        gap *= 2.0
    exact = (2.0 ** (i * gap) for i in range(int(octaves / gap) + 1) if rest)
    geometric = [t for t in map(round, exact) if t < T]
    return np.unique(np.concatenate([even, np.array([*geometric, T], np.int64)]))
