"""The marginal likelihood of logged rewards under a normal prior, and its gradient.

In group g, y = X theta + noise, theta ~ N(m, L L'), noise ~ N(0, v). With theta = m + L u,
u ~ N(0, I), and b = X'(y - X m): the posterior of u is N(c, C), C^-1 = I + L'X'X L / v and
c = C L'b / v, and

    -2 log p(y) = N log(2 pi v) + log det C^-1 + |y - X m|^2 / v - (L'b / v)'c.

The gradient is that of the log of the joint density of y and u, averaged over the posterior of u
(Fisher's identity).
"""

import math
from typing import NamedTuple

import numpy as np

from fastes.checks.arrays import Floats


class Moments(NamedTuple):
    """What the likelihood needs of G groups: sums over their rows, and the number of rows."""

    XX: Floats  # (G, d, d): X'X
    Xy: Floats  # (G, d): X'y
    yy: Floats  # (G,): y'y
    n: int


class Gradient(NamedTuple):
    """The likelihood, and its derivatives."""

    value: float  # log p(y)
    mean: Floats  # (d,)
    root: Floats  # (d, d): by the entries of L
    log_noise: float  # by log v
    determined: float  # sum over groups of d - tr C, the number of parameters the data determine


def likelihood(moments: Moments, mean: Floats, root: Floats, v: float) -> Gradient:
    """Return log p(y) and its gradient; cost O(G d^3)."""
    XX, Xy, yy, n = moments
    d = len(mean)
    b = Xy - XX @ mean
    squares = yy - (Xy + b) @ mean  # |y - X m|^2
    XL = XX @ root
    precision = np.eye(d) + root.T @ XL / v
    C = np.linalg.inv(precision)
    Lb = b @ root / v
    c = (C @ Lb[:, :, None])[:, :, 0]
    logdet = np.linalg.slogdet(precision)[1].sum()
    fit = squares.sum() / v - float((Lb * c).sum())
    value = -0.5 * (n * math.log(2.0 * math.pi * v) + logdet + fit)
    second = C + c[:, :, None] * c[:, None, :]  # E uu'
    left = b - (XL @ c[:, :, None])[:, :, 0]  # E X'(y - X theta)
    residual = squares.sum() - 2.0 * v * float((Lb * c).sum())
    residual += float((root.T @ XL * second).sum())  # E |y - X theta|^2
    return Gradient(
        value,
        left.sum(axis=0) / v,
        (b.T @ c - np.tensordot(XL, second, ((0, 2), (0, 1)))) / v,
        0.5 * (residual / v - n),
        len(XX) * d - float(np.trace(C, axis1=1, axis2=2).sum()),
    )
