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

from ..arithmetic.vectors import add_transposed, dot
from ..jit.decorators import inlined


class Scratch(NamedTuple):
    """What updates of a posterior write to, and nobody keeps."""

    gain: np.ndarray  # (r,): sqrt(g) S b of the last update
    image: np.ndarray  # (r,): root'b of the last update
    columns: np.ndarray  # (r + 1, interval): of `refactor`


class Posterior(NamedTuple):
    """The belief N(mu, S) about z. `interval` is short for `refactor_interval(r)`."""

    mu: np.ndarray  # (r,)
    S: np.ndarray  # (r, r): covariance, symmetric to the bit
    factor: np.ndarray  # (r, r): U, upper triangular, P = U'U as of the last `refactor`
    eta: np.ndarray  # (r,): U mu as of the last `refactor`
    root: np.ndarray  # (r, r): S = root root' after `refactor`, and under `update_with_root`
    recent: np.ndarray  # (interval, r): the distinct arms played since, one a row
    recent_key: np.ndarray  # (interval,) int64: their keys; arms of one key are equal
    recent_plays: np.ndarray  # (interval,) int64: how often each was played
    recent_pay: np.ndarray  # (interval,): what each paid in all
    since_refactor: np.ndarray  # (2,) int64: updates since `refactor`, distinct arms in them
    scratch: Scratch


def prior(r: int) -> Posterior:
    """Return the canonical prior N(0, I)."""
    interval = refactor_interval(r)
    return Posterior(
        mu=np.zeros(r),
        S=np.eye(r),
        factor=np.eye(r),
        eta=np.zeros(r),
        root=np.eye(r),
        recent=np.zeros((interval, r)),
        recent_key=np.zeros(interval, np.int64),
        recent_plays=np.zeros(interval, np.int64),
        recent_pay=np.zeros(interval),
        since_refactor=np.zeros(2, np.int64),
        scratch=Scratch(np.zeros(r), np.zeros(r), np.zeros((r + 1, interval))),
    )


def refactor_interval(r: int) -> int:
    """Return after how many updates S is computed afresh: a cost of O(r^2) an update."""
    return max(256, 2 * r)


def prior_bytes(r: int) -> int:
    """Return the memory that `prior` takes."""
    return 8 * (3 * r * r + (2 * r + 4) * refactor_interval(r) + 4 * r + 2)


@inlined
def model_from_xi(posterior, xi, z):
    """z = mu + S xi, a model in information space (ensembles/eager.py); cost O(r^2)."""
    for j in range(z.shape[0]):
        z[j] = posterior.mu[j]
    add_transposed(posterior.S, xi, z)


@inlined
def sample(posterior, normals, out):
    """out = mu + root n, a draw from N(mu, S) for n ~ N(0, I); cost O(r^2)."""
    for i in range(out.shape[0]):
        out[i] = posterior.mu[i] + dot(posterior.root[i], normals)
