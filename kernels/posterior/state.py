"""The Gaussian posterior of the canonical problem, updated one observation at a time.

Equation (1) of the paper in canonical form: after a reward y of arm b (its offset taken off),

    P <- P + b b',   S <- P^-1,   mu <- S (P_old mu + y b).

An agent carries the one matrix that its step needs: S, by Sherman and Morrison's formula
(`update`), or, where a model is drawn at every step, a triangular root of S (`update_root`). The
truth that these and mu are computed afresh from, before rounding can gather in them, is a
triangular system U mu = eta with P = U'U, and the arms played since with what they paid. An
orthogonal transformation takes those in (a square-root information filter); P itself, whose small
eigenvalues would drown in its large ones, is never formed.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.vectors import add_transposed, axpy
from ..jit.decorators import inlined

FEWEST_UPDATES = 256
MOST_UPDATES = 4096
"""Updates after which the posterior is computed afresh, however few the arms (`refactor`)."""


class Scratch(NamedTuple):
    """What updates of a posterior write to, and nobody keeps."""

    gain: np.ndarray  # (r,): S b of the last update; of `update`, times sqrt(g)
    rows: np.ndarray  # (3, r): of `update_root`
    columns: np.ndarray  # (r + 1, recent arms): of `refactor`
    slot: np.ndarray  # (256,) int64: where an arm of recent_key was last found


class Posterior(NamedTuple):
    """The belief N(mu, S) about z. `n` is short for `most_recent_arms(r)`."""

    mu: np.ndarray  # (r,)
    S: np.ndarray  # (r, r): covariance, symmetric to the bit; (0, 0) where its root is kept instead
    factor: np.ndarray  # (r, r): U, upper triangular, P = U'U as of the last `refactor`
    eta: np.ndarray  # (r,): U mu as of the last `refactor`
    root: np.ndarray  # (r, r): X, lower triangular, S = X'X after `refactor` and `update_root`
    recent: np.ndarray  # (n, r): the distinct arms played since, one a row
    recent_key: np.ndarray  # (n,) int64: their keys; arms of one key are equal
    recent_plays: np.ndarray  # (n,) int64: how often each was played
    recent_pay: np.ndarray  # (n,): what each paid in all
    since_refactor: np.ndarray  # (3,) int64: updates since, distinct arms in them, updates allowed
    scratch: Scratch


def prior(r: int, rooted: bool = False) -> Posterior:
    """Return the canonical prior N(0, I), to be updated by `update`, or by `update_root`."""
    n = most_recent_arms(r)
    return Posterior(
        mu=np.zeros(r),
        S=np.eye(0 if rooted else r),
        factor=np.eye(r),
        eta=np.zeros(r),
        root=np.eye(r),
        recent=np.zeros((n, r)),
        recent_key=np.zeros(n, np.int64),
        recent_plays=np.zeros(n, np.int64),
        recent_pay=np.zeros(n),
        since_refactor=np.array([0, 0, FEWEST_UPDATES], np.int64),
        scratch=Scratch(
            np.zeros(r), np.zeros((3, r)), np.zeros((r + 1, n)), np.zeros(256, np.int64)
        ),
    )


def most_recent_arms(r: int) -> int:
    """Return how many distinct arms are played before the posterior is computed afresh, at most.

    That takes O(r^3 + n r^2) for n of them: O(r^2) an update even if no arm is played twice.
    """
    return max(256, 2 * r)


def prior_bytes(r: int, rooted: bool = False) -> int:
    """Return the memory that `prior` takes."""
    matrices = 2 if rooted else 3
    return 8 * (matrices * r * r + (2 * r + 4) * most_recent_arms(r) + 6 * r + 259)


def covariance(posterior: Posterior) -> np.ndarray:
    """Return S, whether it is kept or its root."""
    kept = len(posterior.S) == len(posterior.mu)
    return posterior.S if kept else posterior.root.T @ posterior.root


@inlined
def model_from_xi(posterior, xi, z):
    """z = mu + S xi, a model in information space (ensembles/eager.py); cost O(r^2)."""
    for j in range(z.shape[0]):
        z[j] = posterior.mu[j]
    add_transposed(posterior.S, xi, z)


@inlined
def sample(posterior, normals, out):
    """out = mu + X'n, a draw from N(mu, S) for n ~ N(0, I); cost O(r^2).

    It runs along the rows of X, four at a time: what is beyond the diagonal is zero.
    """
    X, r = posterior.root, out.shape[0]
    for j in range(r):
        out[j] = posterior.mu[j]
    whole = r - r % 4
    for i in range(0, whole, 4):
        n0, n1, n2, n3 = normals[i], normals[i + 1], normals[i + 2], normals[i + 3]
        for j in range(i + 4):
            x = fma(n0, X[i, j], out[j])
            x = fma(n1, X[i + 1, j], x)
            x = fma(n2, X[i + 2, j], x)
            out[j] = fma(n3, X[i + 3, j], x)
    for i in range(whole, r):
        axpy(normals[i], X[i, : i + 1], out[: i + 1])
