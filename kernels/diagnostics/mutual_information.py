"""Mutual information of a reward and the optimal action, from draws of a belief."""

import numpy as np

from ..jit.decorators import entry, inlined

_WIDEST_BIN = 0.25  # in units of the noise
_FEWEST_BINS = 32
_STEP = 0.75  # between points of quadrature
_REACH = 8.0  # standard deviations on either side that a reward's density covers


def bins_of(spread: float) -> tuple[int, float]:
    """Return how many bins values so far apart take, and how wide they are."""
    width = max(min(_WIDEST_BIN, spread / _FEWEST_BINS), 1e-12)
    return int(spread / width) + 2, width


def points_of(spread: float) -> int:
    """Return how many points of quadrature values so far apart take."""
    return int((spread + 2 * _REACH) / _STEP) + 1


@entry
def information(values, label, bins, width, density):
    """Return I(A*; v + N(0, 1)) from draws of (v, A*), in nats.

    values (n, even) are draws of v, less the smallest; label (n) is the best arm in each, as a
    number below J.
    Rewards given A* = j have a density f_j, a mixture over the draws with that label, and

        I = sum_j p_j KL(f_j || f)
          = integral of (sum_j p_j f_j log(p_j f_j) - f log f) - sum_j p_j log p_j,

    by the trapezoidal rule. Few draws make it too large by a multiple of 1/n, which twice the
    value less the mean of those of both halves does not have. Cost O(n + J x bins x points);
    `bins` (2, bins, J), as many and as wide as `bins_of` says, and `density` (2, J) are workspace.
    """
    n = values.shape[0]
    # Sharing a draw between two bins adds a sixth of a squared width to its variance on average,
    # which the density of the noise has less of: what is left is of fourth order.
    variance = 1.0 - width * width / 6.0
    bins[:] = 0.0
    for s in range(n):
        place = values[s] / width
        whole = np.int64(place)
        part = place - whole
        bins[s & 1, whole, label[s]] += 2.0 * (1.0 - part) / n
        bins[s & 1, whole + 1, label[s]] += 2.0 * part / n
    last = bins.shape[1]
    total, y = 0.0, -_REACH
    while y < (last - 1) * width + _REACH:
        density[:] = 0.0
        low, high = np.int64((y - _REACH) / width), np.int64((y + _REACH) / width) + 1
        for i in range(max(0, low), min(last, high)):
            x = i * width - y
            weight = np.exp(-0.5 * x * x / variance)
            for half in range(2):
                for j in range(density.shape[1]):
                    density[half, j] += weight * bins[half, i, j]
        total += _corrected(density)
        y += _STEP
    total *= _STEP / np.sqrt(2.0 * np.pi * variance)
    density[:] = 0.0
    for half in range(2):
        for i in range(last):
            for j in range(density.shape[1]):
                density[half, j] += bins[half, i, j]
    return total - _corrected(density)


@inlined
def _corrected(density):
    """Return sum_j f_j log f_j - f log f, f = sum_j f_j, for both halves, corrected."""
    total = whole0 = whole1 = 0.0
    for j in range(density.shape[1]):
        f0, f1 = density[0, j], density[1, j]
        total += 2.0 * _x_log_x(0.5 * (f0 + f1)) - 0.5 * (_x_log_x(f0) + _x_log_x(f1))
        whole0 += f0
        whole1 += f1
    return total - (
        2.0 * _x_log_x(0.5 * (whole0 + whole1)) - 0.5 * (_x_log_x(whole0) + _x_log_x(whole1))
    )


@inlined
def _x_log_x(x):
    return x * np.log(x) if x > 0.0 else 0.0
