"""The Gaussian posterior of the canonical problem, updated one observation at a time.

Equation (1) of the paper in canonical form: after a reward y of arm b (its offset taken off),

    P <- P + b b',   S <- P^-1,   mu <- S (P_old mu + y b).

P adds up exactly what was observed. S follows it by Sherman and Morrison's formula and is
computed afresh from P at a fixed cadence, before rounding can gather in it, and after a reward
that shrinks a variance a thousandfold.
"""

from typing import NamedTuple

import numpy as np

from .floats import axpy, dot, fma
from .jit import kernel


class Posterior(NamedTuple):
    """The belief N(mu, S) about z, with workspace."""

    mu: np.ndarray  # (r,)
    S: np.ndarray  # (r, r): covariance, symmetric to the bit
    P: np.ndarray  # (r, r): precision, symmetric to the bit
    root: np.ndarray  # (r, r): S = root root' after `refactor`, and under `update_with_root`
    b: np.ndarray  # (r,): the arm of the last update
    gain: np.ndarray  # (r,): S b of the last update
    image: np.ndarray  # (r,): root'b of the last update
    age: np.ndarray  # (1,): updates since S was last computed from P


def prior(r: int) -> Posterior:
    """Return the canonical prior N(0, I)."""
    mu, b, gain, image = np.zeros((4, r))
    S, P, root = np.eye(r), np.eye(r), np.eye(r)
    return Posterior(mu, S, P, root, b, gain, image, np.zeros(1, np.int64))


def prior_bytes(r: int) -> int:
    """Return the memory that `prior` takes."""
    return 8 * (3 * r * r + 4 * r + 1)


@kernel
def multiply_symmetric(S, x, out):
    """out = S x for symmetric S; cost O(r^2), running along rows."""
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(x.shape[0]):
        axpy(x[i], S[i], out)


@kernel
def update(posterior, y):
    """Condition on the reward y of the arm in `posterior.b`; cost O(r^2). Return g.

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit.
    """
    mu, S, P, b, v = posterior.mu, posterior.S, posterior.P, posterior.b, posterior.gain
    multiply_symmetric(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    axpy(g * (y - dot(b, mu)), v, mu)
    root_g = np.sqrt(g)
    r = b.shape[0]
    for i in range(r):
        h = root_g * v[i]
        for j in range(r):
            S[i, j] = fma(-h, root_g * v[j], S[i, j])
            P[i, j] = fma(b[i], b[j], P[i, j])
    posterior.age[0] += 1
    # The subtraction leaves the variance of b with an error of one part in 1e16 g.
    if posterior.age[0] >= max(256, 2 * r) or g < 1e-3:
        refactor(posterior)
    return g


@kernel
def update_with_root(posterior, y):
    """Do as `update` and keep S = root root'; cost O(r^2).

    Potter's form: with w = root'b and v = S b = root w, the matrix I - g w w' has the square
    root I - c w w', c = g / (1 + sqrt(g)), hence root <- root - c v w'.
    """
    root, b, w = posterior.root, posterior.b, posterior.image
    r = b.shape[0]
    for j in range(r):
        w[j] = 0.0
    for i in range(r):
        axpy(b[i], root[i], w)
    g = update(posterior, y)
    if posterior.age[0] > 0:
        c = g / (1.0 + np.sqrt(g))
        for i in range(r):
            axpy(-c * posterior.gain[i], w, root[i])


@kernel
def refactor(posterior):
    """Compute S and root afresh from P; cost O(r^3).

    P = L L' by Cholesky, X = L^-1 by forward substitution, root = X', S = X'X. The loops run
    along rows. Written here and not taken from LAPACK because the bits must not depend on
    which BLAS is installed or on how many threads it takes.
    """
    P, S, root = posterior.P, posterior.S, posterior.root
    r = P.shape[0]
    # S holds L (lower triangle) until it is overwritten.
    for i in range(r):
        for j in range(i + 1):
            s = P[i, j] - dot(S[i, :j], S[j, :j])
            if j < i:
                S[i, j] = s / S[j, j]
            else:
                S[i, i] = np.sqrt(s)
    # root holds X = L^-1: row i is (e_i - sum_{k < i} L_ik X_k) / L_ii.
    for i in range(r):
        for j in range(r):
            root[i, j] = 0.0
        root[i, i] = 1.0
        for k in range(i):
            axpy(-S[i, k], root[k, : k + 1], root[i, : k + 1])
        scale = 1.0 / S[i, i]
        for j in range(i + 1):
            root[i, j] *= scale
    # S = X'X, the sum of the outer products of X's rows.
    for i in range(r):
        for j in range(r):
            S[i, j] = 0.0
    for k in range(r):
        for i in range(k + 1):
            axpy(root[k, i], root[k, : k + 1], S[i, : k + 1])
    for i in range(r):
        for j in range(i):
            root[j, i], root[i, j] = root[i, j], root[j, i]
    posterior.age[0] = 0


@kernel
def sample(posterior, normals, out):
    """out = mu + root n, a draw from N(mu, S) for n ~ N(0, I); cost O(r^2)."""
    for i in range(out.shape[0]):
        out[i] = posterior.mu[i] + dot(posterior.root[i], normals)
