"""A check of what a log says of itself: that arms were drawn uniformly from those on offer."""

import math

import numpy as np

from fastes.logs.offers import Integers

_LEVEL = 1e-6
"""A log of uniform draws is refused with at most this probability."""


def check_uniform(place: Integers, sizes: Integers) -> None:
    """Raise ValueError if some place among the arms on offer was played too often or too rarely.

    Under uniform draws the plays of place k are a sum of independent indicators, of mean E and
    variance V. By Bernstein's inequality they are x away from E with probability at most
    2 exp(-x^2 / (2 (V + x / 3))). This notices only arms that are preferred throughout, not those
    preferred in some contexts: see `PolicyValue.mean_weight`.
    """
    most = int(sizes.max())
    rows = np.bincount(sizes, minlength=most + 1)[1:]  # that offer 1, 2, ... arms
    p = 1.0 / np.arange(1, most + 1)
    # Place k is on offer where there are more than k arms.
    expected = np.cumsum((rows * p)[::-1])[::-1]
    variance = np.cumsum((rows * p * (1.0 - p))[::-1])[::-1]
    gap = np.abs(np.bincount(place, minlength=most) - expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(gap > 0, gap**2 / (2.0 * (variance + gap / 3.0)), 0.0)
    worst = int(exponent.argmax())
    if exponent[worst] > math.log(2.0 * most / _LEVEL):
        count = int(np.count_nonzero(place == worst))
        raise ValueError(
            f"propensity cannot be 'uniform': place {worst} among the arms on offer was played "
            f"{count:,} times, uniform draws play it {expected[worst]:,.0f} +- "
            f"{math.sqrt(variance[worst]):,.0f} times"
        )
