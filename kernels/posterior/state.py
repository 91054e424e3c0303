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
    since_refactor: (
        np.ndarray
    )  # (2,) int64: updates since the last `refactor`, distinct arms in them
    root: np.ndarray  # (r, r): S = root root' after `refactor`, and under `update_with_root`
    b: np.ndarray  # (r,): the arm of the last update
    gain: np.ndarray  # (r,): sqrt(g) S b of the last update
    image: np.ndarray  # (r,): root'b of the last update
    columns: np.ndarray  # (r + 1, cadence): workspace of `refactor`


def prior(r: int) -> Posterior:
    """Return the canonical prior N(0, I)."""
    mu, eta, b, gain, image = np.zeros((5, r))
    S, factor, root = np.eye(r), np.eye(r), np.eye(r)
    recent, columns = np.zeros((refactor_interval(r), r)), np.zeros((r + 1, refactor_interval(r)))
    recent_arm, recent_plays = np.zeros((2, refactor_interval(r)), np.int64)
    return Posterior(
        mu=mu,
        S=S,
        factor=factor,
        eta=eta,
        recent=recent,
        recent_arm=recent_arm,
        recent_plays=recent_plays,
        recent_pay=np.zeros(refactor_interval(r)),
        since_refactor=np.zeros(2, np.int64),
        root=root,
        b=b,
        gain=gain,
        image=image,
        columns=columns,
    )


def refactor_interval(r: int) -> int:
    """Return after how many updates S is computed afresh: a cost of O(r^2) an update."""
    return max(256, 2 * r)


def prior_bytes(r: int) -> int:
    """Return the memory that `prior` takes."""
    return 8 * (3 * r * r + (2 * r + 4) * refactor_interval(r) + 5 * r + 2)


@inlined
def model_from_xi(posterior, xi, z):
    """z = mu + S xi: a model in information space, read (ensemble.py); cost O(r^2)."""
    for j in range(z.shape[0]):
        z[j] = posterior.mu[j]
    add_transposed(posterior.S, xi, z)


@inlined
def sample(posterior, normals, out):
    """out = mu + root n, a draw from N(mu, S) for n ~ N(0, I); cost O(r^2)."""
    for i in range(out.shape[0]):
        out[i] = posterior.mu[i] + dot(posterior.root[i], normals)
