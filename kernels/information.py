"""What a reward tells about the optimal action: mutual information from draws of a belief."""

import numpy as np

from .jit import entry, inlined

_BIN = 0.25  # in units of the noise
_BINS_BETWEEN_POINTS = 3
_REACH = 24  # bins on either side that a reward's density covers: six standard deviations

# Sharing a draw between two bins adds a sixth of a squared width to its variance on average,
# which the density of the noise has less of: what is left is of fourth order.
_VARIANCE = 1.0 - _BIN * _BIN / 6.0


def points_of(spread: float) -> tuple[int, int]:
    """Return how many bins, and points of quadrature, values so far apart take."""
    bins = int(spread / _BIN) + 2
    return bins, (bins + 2 * _REACH) // _BINS_BETWEEN_POINTS + 1


@entry
def information(values, label, bins, density):
    """Return I(A*; v + N(0, 1)) from draws of (v, A*), in nats.

    values (n, even) are draws of v, less the smallest; label (n) is the best arm in each, as a
    number below J.
    Rewards given A* = j have a density f_j, a mixture over the draws with that label, and

        I = sum_j p_j KL(f_j || f) = integral of (sum_j p_j f_j log(p_j f_j) - f log f) - sum_j p_j log p_j,

    by the trapezoidal rule. Few draws make it too large by a multiple of 1/n, which twice the
    value less the mean of those of both halves does not have. Cost O(n + J x bins x points);
    `bins` (2, bins, J), as many as `points_of` says, and `density` (2, J) are workspace.
    """
    n = values.shape[0]
    bins[:] = 0.0
    for s in range(n):
        place = values[s] / _BIN
        whole = np.int64(place)
        part = place - whole
        bins[s & 1, whole, label[s]] += 2.0 * (1.0 - part) / n
        bins[s & 1, whole + 1, label[s]] += 2.0 * part / n
    last = bins.shape[1]
    total = 0.0
    for centre in range(-_REACH, last + _REACH, _BINS_BETWEEN_POINTS):
        density[:] = 0.0
        for i in range(max(0, centre - _REACH), min(last, centre + _REACH + 1)):
            x = (i - centre) * _BIN
            weight = np.exp(-0.5 * x * x / _VARIANCE)
            for half in range(2):
                for j in range(density.shape[1]):
                    density[half, j] += weight * bins[half, i, j]
        total += _corrected(density)
    total *= _BIN * _BINS_BETWEEN_POINTS / np.sqrt(2.0 * np.pi * _VARIANCE)
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
