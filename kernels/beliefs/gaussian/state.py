"""The normal belief about z, and how it starts.

Equation (1) of the paper in canonical form: after a reward y of arm b (its offset taken off),

    P <- P + b b',   S <- P^-1,   mu <- S (P_old mu + y b).

That is with a memory of all rewards; memory.py has the form of one that forgets.

A belief carries the one matrix that a rule needs: S, by Sherman and Morrison's formula
(`Gaussian`), or, where a model is drawn at every step, a triangular root of S (`RootedGaussian`).
The truth that these and mu are computed afresh from, before rounding can gather in them, is a
triangular system U mu = eta with P = U'U, and the arms played since with what they paid. An
orthogonal transformation takes those in (a square-root information filter); P itself, whose small
eigenvalues would drown in its large ones, is never formed.
"""

from typing import Any, NamedTuple

import numpy as np

from ...states.layout import allocated, full, identity, zeros
from ..memory import UNLIMITED, Discounted, Memory
from ..noise import prior_root

FEWEST_UPDATES = 256
MOST_UPDATES = 4096
"""Updates after which the belief is computed afresh, however few the arms (`refactor`)."""


class Scratch(NamedTuple):
    """What updates write to, and nobody keeps."""

    gain: np.ndarray  # (r,): S b of the last update; of `update_covariance`, times sqrt(g)
    rows: np.ndarray  # (3, r): of `update_root`
    columns: np.ndarray  # (r + 1, recent arms): of `refactor`
    slot: np.ndarray  # (256,) int64: where an arm of recent_key was last found


class NormalRewards(NamedTuple):
    """Rewards that are normal with unit noise: the belief is the exact posterior."""


class Gaussian(NamedTuple):
    """The belief N(mu, S), with S. `n` is short for `most_recent_arms(r)`."""

    rewards: Any  # how one is taken in: above, or `Linearised` (rewards.py), or `LearnedNoise`
    memory: Memory  # of all of them, or of the recent ones (memory.py)
    mu: np.ndarray  # (r,)
    S: np.ndarray  # (r, r): covariance, symmetric to the bit; (0, 0) where its root is kept instead
    factor: np.ndarray  # (r, r): U, upper triangular, P = U'U as of the last `refactor`
    eta: np.ndarray  # (r,): U mu as of the last `refactor`
    root: np.ndarray  # (r, r): X, lower triangular, S = X'X after `refactor` and `update_root`
    recent: np.ndarray  # (n, r): the distinct arms played since, one a row
    recent_key: np.ndarray  # (n,) int64: their keys; arms of one key are equal
    recent_plays: np.ndarray  # (n,): how often each was played, weighted (forget.py)
    recent_pay: np.ndarray  # (n,): what each paid in all, weighted
    since_refactor: np.ndarray  # (3,) int64: updates since, distinct arms in them, updates allowed
    scratch: Scratch


NORMAL = NormalRewards()


class RootedGaussian(Gaussian):
    """The belief N(mu, S), with a root of S in the place of S."""

    __slots__ = ()


@allocated
def gaussian(
    r: int, rooted: bool = False, rewards: Any = NORMAL, memory: Memory = UNLIMITED
) -> Gaussian:
    """Return the canonical prior, with S or with its root; of given rewards and memory."""
    n = most_recent_arms(r)
    allowed = memory.period if isinstance(memory, Discounted) else FEWEST_UPDATES
    kind, scale = (RootedGaussian if rooted else Gaussian), prior_root(rewards)
    return kind(
        rewards=rewards,
        memory=memory,
        mu=zeros(r),
        S=identity(0 if rooted else r, scale**-2),
        factor=identity(r, scale),
        eta=zeros(r),
        root=identity(r, 1.0 / scale),
        recent=zeros((n, r)),
        recent_key=zeros(n, np.int64),
        recent_plays=zeros(n),
        recent_pay=zeros(n),
        since_refactor=full(3, [0, 0, allowed], np.int64),
        scratch=Scratch(zeros(r), zeros((3, r)), zeros((r + 1, n)), zeros(256, np.int64)),
    )


def most_recent_arms(r: int) -> int:
    """Return how many distinct arms are played before the belief is computed afresh, at most.

    That takes O(r^3 + n r^2) for n of them: O(r^2) an update even if no arm is played twice.
    """
    return max(256, 2 * r)
