"""The Gaussian posterior of the canonical problem, updated one observation at a time.

Equation (1) of the paper in canonical form: after a reward y of arm b (its offset taken off),

    P <- P + b b',   S <- P^-1,   mu <- S (P_old mu + y b).

S and mu follow by Sherman and Morrison's formula. The truth that they are computed afresh from,
before rounding can gather in them, is a triangular system U mu = eta with P = U'U, and the arms
played since with what they paid. An orthogonal transformation takes those in (a square-root
information filter); P itself, whose small eigenvalues would drown in its large ones, is never
formed.
"""

from typing import NamedTuple

import numpy as np

from .floats import axpy, dot, fma
from .jit import inlined, kernel


class Posterior(NamedTuple):
    """The belief N(mu, S) about z, with workspace."""

    mu: np.ndarray  # (r,)
    S: np.ndarray  # (r, r): covariance, symmetric to the bit
    factor: np.ndarray  # (r, r): U, upper triangular, P = U'U as of the last `refactor`
    eta: np.ndarray  # (r,): U mu as of the last `refactor`
    recent: np.ndarray  # (cadence, r): the distinct arms played since, one a row
    recent_arm: np.ndarray  # (cadence,) int64: which they are
    recent_plays: np.ndarray  # (cadence,) int64: how often each was played
    recent_pay: np.ndarray  # (cadence,): what each paid in all
    age: np.ndarray  # (2,) int64: updates since the last `refactor`, distinct arms in them
    root: np.ndarray  # (r, r): S = root root' after `refactor`, and under `update_with_root`
    b: np.ndarray  # (r,): the arm of the last update
    gain: np.ndarray  # (r,): sqrt(g) S b of the last update
    image: np.ndarray  # (r,): root'b of the last update
    columns: np.ndarray  # (r + 1, cadence): workspace of `refactor`


def prior(r: int) -> Posterior:
    """Return the canonical prior N(0, I)."""
    mu, eta, b, gain, image = np.zeros((5, r))
    S, factor, root = np.eye(r), np.eye(r), np.eye(r)
    recent, columns = np.zeros((cadence(r), r)), np.zeros((r + 1, cadence(r)))
    recent_arm, recent_plays = np.zeros((2, cadence(r)), np.int64)
    return Posterior(
        mu=mu,
        S=S,
        factor=factor,
        eta=eta,
        recent=recent,
        recent_arm=recent_arm,
        recent_plays=recent_plays,
        recent_pay=np.zeros(cadence(r)),
        age=np.zeros(2, np.int64),
        root=root,
        b=b,
        gain=gain,
        image=image,
        columns=columns,
    )


def cadence(r: int) -> int:
    """Return after how many updates S is computed afresh: a cost of O(r^2) an update."""
    return max(256, 2 * r)


def prior_bytes(r: int) -> int:
    """Return the memory that `prior` takes."""
    return 8 * (3 * r * r + (2 * r + 4) * cadence(r) + 5 * r + 2)


@kernel
def add_transposed(matrix, x, out):
    """out += matrix'x (n x r); cost O(n r), running along rows, four at a time."""
    n, r = x.shape[0], out.shape[0]
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(r):
            s = fma(x0, matrix[i, j], out[j])
            s = fma(x1, matrix[i + 1, j], s)
            s = fma(x2, matrix[i + 2, j], s)
            out[j] = fma(x3, matrix[i + 3, j], s)
    for i in range(whole, n):
        axpy(x[i], matrix[i], out)


@kernel
def multiply_transposed(matrix, x, out):
    """out = matrix'x, which is matrix x for symmetric matrices."""
    for j in range(out.shape[0]):
        out[j] = 0.0
    add_transposed(matrix, x, out)


@inlined
def read_out(posterior, xi, z):
    """z = mu + S xi: a model in information space, read (ensemble.py); cost O(r^2)."""
    for j in range(z.shape[0]):
        z[j] = posterior.mu[j]
    add_transposed(posterior.S, xi, z)


@inlined
def update(posterior, arm, y):
    """Condition on the reward y of an arm, its row in `posterior.b`; cost O(r^2). Return g.

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit.
    """
    mu, S, b, v = posterior.mu, posterior.S, posterior.b, posterior.gain
    multiply_transposed(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    axpy(g * (y - dot(b, mu)), v, mu)
    root_g = np.sqrt(g)
    for i in range(b.shape[0]):
        v[i] *= root_g
    for i in range(b.shape[0]):
        axpy(-v[i], v, S[i])
    _remember(posterior, arm, y)
    if posterior.age[0] == posterior.recent.shape[0]:
        refactor(posterior)
    return g


@inlined
def _remember(posterior, arm, y):
    """Count the play of an arm, and its reward, among the recent ones."""
    place, distinct = 0, posterior.age[1]
    while place < distinct and posterior.recent_arm[place] != arm:
        place += 1
    if place == distinct:
        for j in range(posterior.b.shape[0]):
            posterior.recent[place, j] = posterior.b[j]
        posterior.recent_arm[place] = arm
        posterior.recent_plays[place] = 0
        posterior.recent_pay[place] = 0.0
        posterior.age[1] += 1
    posterior.recent_plays[place] += 1
    posterior.recent_pay[place] += y
    posterior.age[0] += 1


@inlined
def update_with_root(posterior, arm, y):
    """Do as `update` and keep S = root root'; cost O(r^2).

    Potter's form: with w = root'b and v = S b = root w, the matrix I - g w w' has the square
    root I - c w w', c = g / (1 + sqrt(g)), hence root <- root - c v w'.
    """
    root, b, w = posterior.root, posterior.b, posterior.image
    multiply_transposed(root, b, w)
    g = update(posterior, arm, y)
    if posterior.age[0] > 0:
        root_g = np.sqrt(g)
        c = root_g / (1.0 + root_g)  # `gain` holds sqrt(g) v
        for i in range(b.shape[0]):
            axpy(-c * posterior.gain[i], w, root[i])


@kernel
def _absorb(U, eta, columns, n):
    """Take n rewards into U mu = eta; cost O(n r^2).

    Column i of `columns` is an arm b and, last, its reward y: P = U'U <- U'U + sum of b b' and
    P mu = U'eta <- U'eta + sum of y b. One Householder reflection for each column k of the
    stacked [U; b'] leaves U_kk > 0 and nothing below it. Loops run along the rows of `columns`.
    """
    r = U.shape[0]
    for k in range(r):
        x = columns[k, :n]
        square = dot(x, x)
        if not square < 1e-280:  # what is less is lost beside U_kk >= 1; nan must be seen
            diagonal = np.sqrt(U[k, k] * U[k, k] + square)
            # The reflector is (head, x); written so, its head does not cancel.
            head = -square / (U[k, k] + diagonal)
            scale = 2.0 / (head * head + square)
            U[k, k] = diagonal
            for j in range(k + 1, r):
                weight = -scale * fma(head, U[k, j], dot(x, columns[j, :n]))
                U[k, j] = fma(weight, head, U[k, j])
                axpy(weight, x, columns[j, :n])
            weight = -scale * fma(head, eta[k], dot(x, columns[r, :n]))
            eta[k] = fma(weight, head, eta[k])
            axpy(weight, x, columns[r, :n])


@kernel
def refactor(posterior):
    """Compute factor, root, S and mu afresh; cost O(r^3).

    U takes in the recent arms, X = U'^-1 by forward substitution, root = X', S = X'X, and
    mu by back substitution. Written here and not taken from LAPACK because the bits must not
    depend on which BLAS is installed or on how many threads it takes.
    """
    U, X, S = posterior.factor, posterior.root, posterior.S
    r = U.shape[0]
    # n plays of an arm b that paid y in all are one of sqrt(n) b that paid y / sqrt(n).
    distinct = posterior.age[1]
    for i in range(distinct):
        scale = np.sqrt(np.float64(posterior.recent_plays[i]))
        for j in range(r):
            posterior.columns[j, i] = scale * posterior.recent[i, j]
        posterior.columns[r, i] = posterior.recent_pay[i] / scale
    _absorb(U, posterior.eta, posterior.columns, distinct)
    posterior.age[:] = 0
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
    for i in range(r - 1, -1, -1):
        rest = posterior.eta[i] - dot(U[i, i + 1 :], posterior.mu[i + 1 :])
        posterior.mu[i] = rest / U[i, i]


@inlined
def sample(posterior, normals, out):
    """out = mu + root n, a draw from N(mu, S) for n ~ N(0, I); cost O(r^2)."""
    for i in range(out.shape[0]):
        out[i] = posterior.mu[i] + dot(posterior.root[i], normals)
