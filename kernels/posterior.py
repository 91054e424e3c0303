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
    P: np.ndarray  # (r, r): precision, upper triangle
    factor: np.ndarray  # (r, r): upper triangular, P = factor'factor as of the last `refactor`
    root: np.ndarray  # (r, r): S = root root' after `refactor`, and under `update_with_root`
    b: np.ndarray  # (r,): the arm of the last update
    gain: np.ndarray  # (r,): S b of the last update
    scaled: np.ndarray  # (r,): sqrt(g) S b of the last update
    image: np.ndarray  # (r,): root'b of the last update
    age: np.ndarray  # (1,): updates since S was last computed from P


def prior(r: int) -> Posterior:
    """Return the canonical prior N(0, I)."""
    mu, b, gain, scaled, image = np.zeros((5, r))
    S, P, factor, root = np.eye(r), np.eye(r), np.eye(r), np.eye(r)
    return Posterior(mu, S, P, factor, root, b, gain, scaled, image, np.zeros(1, np.int64))


def prior_bytes(r: int) -> int:
    """Return the memory that `prior` takes."""
    return 8 * (4 * r * r + 5 * r + 1)


@kernel
def multiply_transposed(S, x, out):
    """out = S'x, which is S x for symmetric S; cost O(r^2), along rows, four at a time."""
    r = x.shape[0]
    for j in range(r):
        out[j] = 0.0
    whole = r - r % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(r):
            s = fma(x0, S[i, j], out[j])
            s = fma(x1, S[i + 1, j], s)
            s = fma(x2, S[i + 2, j], s)
            out[j] = fma(x3, S[i + 3, j], s)
    for i in range(whole, r):
        axpy(x[i], S[i], out)


@kernel
def update(posterior, y):
    """Condition on the reward y of the arm in `posterior.b`; cost O(r^2). Return g.

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit.
    """
    mu, S, P, b, v = posterior.mu, posterior.S, posterior.P, posterior.b, posterior.gain
    multiply_transposed(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    axpy(g * (y - dot(b, mu)), v, mu)
    h = posterior.scaled
    root_g = np.sqrt(g)
    for i in range(b.shape[0]):
        h[i] = root_g * v[i]
    for i in range(b.shape[0]):
        axpy(-h[i], h, S[i])
        axpy(b[i], b[i:], P[i, i:])
    posterior.age[0] += 1
    # The subtraction leaves the variance of b with an error of one part in 1e16 g.
    if posterior.age[0] >= max(256, 2 * b.shape[0]) or g < 1e-3:
        refactor(posterior)
    return g


@kernel
def update_with_root(posterior, y):
    """Do as `update` and keep S = root root'; cost O(r^2).

    Potter's form: with w = root'b and v = S b = root w, the matrix I - g w w' has the square
    root I - c w w', c = g / (1 + sqrt(g)), hence root <- root - c v w'.
    """
    root, b, w = posterior.root, posterior.b, posterior.image
    multiply_transposed(root, b, w)
    g = update(posterior, y)
    if posterior.age[0] > 0:
        c = g / (1.0 + np.sqrt(g))
        for i in range(b.shape[0]):
            axpy(-c * posterior.gain[i], w, root[i])


@kernel
def refactor(posterior):
    """Compute factor, root and S afresh from P; cost O(r^3).

    P = U'U by Cholesky, X = U'^-1 by forward substitution, root = X', S = X'X. The loops run
    along rows. Written here and not taken from LAPACK because the bits must not depend on
    which BLAS is installed or on how many threads it takes.
    """
    P, U, X, S = posterior.P, posterior.factor, posterior.root, posterior.S
    r = P.shape[0]
    for k in range(r):
        for j in range(k, r):
            U[k, j] = P[k, j]
        for i in range(k):
            axpy(-U[i, k], U[i, k:], U[k, k:])
        scale = 1.0 / np.sqrt(U[k, k])
        for j in range(k, r):
            U[k, j] *= scale
    # Row i of X is (e_i - sum_{k < i} U_ki X_k) / U_ii.
    for i in range(r):
        for j in range(r):
            X[i, j] = 0.0
            S[i, j] = 0.0
        X[i, i] = 1.0
        for k in range(i):
            axpy(-U[k, i], X[k, : k + 1], X[i, : k + 1])
        scale = 1.0 / U[i, i]
        for j in range(i + 1):
            X[i, j] *= scale
    # S is the sum of the outer products of X's rows.
    for k in range(r):
        for i in range(k + 1):
            axpy(X[k, i], X[k, : k + 1], S[i, : k + 1])
    for i in range(r):
        for j in range(i):
            X[j, i], X[i, j] = X[i, j], X[j, i]
    posterior.age[0] = 0


@kernel
def sample(posterior, normals, out):
    """out = mu + root n, a draw from N(mu, S) for n ~ N(0, I); cost O(r^2)."""
    for i in range(out.shape[0]):
        out[i] = posterior.mu[i] + dot(posterior.root[i], normals)
