"""The smallest ensemble that suffices, from its regret beside Thompson sampling's."""

from collections.abc import Callable

import numpy as np

TOLERANCE = 0.1
NEAR = 0.02
DRAWS = 400


def smallest(sizes, gaps, tolerance):
    """Return where gaps first fall to a tolerance, between sizes by interpolation in log M.

    The first size where the first gap is small enough, infinity where none is.

    Examples
    --------
    >>> from ensemble_size.smallest import smallest
    >>> round(smallest([2, 4, 8], [9.0, 3.0, 1.0], tolerance=2.0), 2)
    5.66
    >>> smallest([2, 4], [9.0, 3.0], tolerance=2.0)
    inf
    """
    enough = np.flatnonzero(np.asarray(gaps) <= tolerance)
    if not len(enough):
        return np.inf
    i = enough[0]
    if i == 0:
        return float(sizes[0])
    share = (gaps[i - 1] - tolerance) / (gaps[i - 1] - gaps[i])
    return float(np.exp(np.log(sizes[i - 1]) + share * np.log(sizes[i] / sizes[i - 1])))


def relative(regret, ts, T, K):
    """Mean regret above 1.1 times Thompson sampling's."""
    return regret.mean(axis=1) - (1 + TOLERANCE) * ts.mean(axis=1)


def step(regret, ts, T, K):
    """Mean regret above Thompson sampling's plus 0.02 a step."""
    return regret.mean(axis=1) - ts.mean(axis=1) - NEAR * T


def tail(regret, ts, T, K):
    """The 95% quantile above 1.1 times that of Thompson sampling."""
    at = [np.quantile(each, 0.95, axis=1) for each in (regret, ts)]
    return at[0] - (1 + TOLERANCE) * at[1]


def root(regret, ts, T, K):
    """Mean regret above sqrt(K T), the order of Theorem D."""
    return regret.mean(axis=1) - np.sqrt(K * T)


RULES: dict[str, Callable] = {each.__name__: each for each in (relative, step, tail, root)}
"""How much is too much: (M, runs) regrets of ensembles and of TS to an excess for each M."""


def with_interval(sizes, regret, ts, T, K, rule, seed=0):
    """Return the smallest sufficient M, and where 95% of bootstrap draws of runs have it.

    A draw takes the same runs of all agents, so that differences stay paired.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of models.
    regret : (sizes, runs) array
        Of the ensembles.
    ts : (sizes, runs) array
        Of Thompson sampling on the same problem; rows are equal unless every M has its own.
    T, K : int
        Horizon, and number of arms.
    rule : str
        One of `RULES`.

    Examples
    --------
    >>> import numpy as np
    >>> ts = np.full((3, 50), 10.0)
    >>> regret = np.repeat([[40.0], [16.0], [10.0]], 50, axis=1)
    >>> [round(M, 2) for M in with_interval([2, 4, 8], regret, ts, 100, 9, "relative")]
    [7.13, 7.13, 7.13]
    """
    runs = regret.shape[1]
    drawn = np.random.default_rng(seed).integers(runs, size=(DRAWS, runs))
    at = [smallest(sizes, RULES[rule](regret, ts, T, K), 0.0)]
    for rows in drawn:
        at.append(smallest(sizes, RULES[rule](regret[:, rows], ts[:, rows], T, K), 0.0))
    # Of the order statistics themselves: infinity cannot be interpolated.
    low, high = np.quantile(at[1:], [0.025, 0.975], method="nearest")
    return at[0], float(low), float(high)
