"""Quantiles of the standard normal law."""

import math

from ..jit.decorators import inlined

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


@inlined
def upper_quantile(p):
    """Return x with P(N(0, 1) > x) = p, 0 < p <= 1/2.

    A rational function (Abramowitz and Stegun 26.2.23, error below 4.5e-4), then two of Halley's
    steps on the tail probability, each of which cubes the error.
    """
    s = math.sqrt(-2.0 * math.log(p))
    above = 2.515517 + s * (0.802853 + s * 0.010328)
    x = s - above / (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308)))
    for _ in range(2):
        density = math.exp(-0.5 * x * x) / _ROOT_TWO_PI
        newton = (0.5 * math.erfc(x * _ROOT_HALF) - p) / density
        x += newton / (1.0 - 0.5 * x * newton)
    return x
