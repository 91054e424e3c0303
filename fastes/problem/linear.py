"""The linear-Gaussian bandit of the paper's section 3.1."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from fastes.actions import ActionSet, Fixed
from fastes.actions.families import random_arms
from fastes.checks import arrays, numbers
from fastes.checks.memory import require
from fastes.checks.numbers import MAX_SIZE, MAX_STEPS
from fastes.problem.bandit import Bandit
from fastes.problem.belief import checked_mean
from fastes.problem.hard import threshold, thresholds
from fastes.problem.rewards import GaussianRewards
from fastes.problem.sizes import problem_bytes


class LinearBandit(Bandit):
    """K arms in R^d, a Gaussian prior on theta, and Gaussian noise on every reward.

    Arm a pays ``a'theta + N(0, noise^2)``, with theta ~ N(prior_mean, prior_cov).

    Parameters
    ----------
    actions : (K, d) array_like or action set
        The arms, one a row, the same at every step: the paper's setting. Or an action set of
        ``fastes.actions``.
    prior_mean : float or (d,) array_like
        mu_0; a single number is repeated.
    prior_cov : float, (d,) or (d, d) array_like
        Sigma_0: isotropic, diagonal or full. It may be singular.
    noise : float
        sigma, the standard deviation of a reward.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit([[1.0, 0.0], [0.6, 0.8]], prior_cov=[1.0, 4.0], noise=0.5)
    >>> bandit
    LinearBandit(K=2, d=2, noise=0.5)
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=20)
    Result(TS: regret 3.011 +- 0.48 at T=100, 20 runs)
    """

    law = GaussianRewards
    arguments: ClassVar[tuple[str, ...]] = (*Bandit.arguments, "noise")

    def __init__(
        self,
        actions: ArrayLike | ActionSet,
        prior_mean: ArrayLike = 0.0,
        prior_cov: ArrayLike = 1.0,
        noise: float = 1.0,
    ) -> None:
        rewards = GaussianRewards(numbers.positive("noise", noise))
        super().__init__(actions, prior_mean, prior_cov, rewards)

    @property
    def noise(self) -> float:
        """sigma, the standard deviation of a reward."""
        return self.rewards.unit

    def __repr__(self) -> str:
        return f"LinearBandit({self.action_set}, noise={self.noise:g})"

    @classmethod
    def random(
        cls,
        K: int,
        d: int,
        arms: str = "sphere",
        *,
        prior_mean: ArrayLike = 0.0,
        prior_cov: ArrayLike = 1.0,
        noise: float = 1.0,
        seed: int = 0,
    ) -> Self:
        """Return a bandit with random arms.

        Parameters
        ----------
        K, d : int
            Number of arms and their dimension.
        arms : {"sphere", "gaussian", "uniform", "basis"}
            On the unit sphere; N(0, I/d); uniform on [-1/sqrt(d), 1/sqrt(d)]^d; or the unit
            vectors (not random, and K must equal d).
        prior_mean, prior_cov, noise
            As for `LinearBandit`.
        seed : int
            Seed of the arms; independent of the seed of `simulate`.

        Examples
        --------
        >>> import fastes
        >>> fastes.LinearBandit.random(K=1000, d=20, arms="gaussian", seed=3)
        LinearBandit(K=1000, d=20, noise=1)
        """
        return cls(Fixed(random_arms(arms, K, d, seed)), prior_mean, prior_cov, noise)

    @classmethod
    def gaussian_process(
        cls, kernel_matrix: ArrayLike, mean: ArrayLike = 0.0, noise: float = 1.0
    ) -> Self:
        """Return the bandit whose arms' values are jointly N(mean, kernel_matrix).

        Parameters
        ----------
        kernel_matrix : (K, K) array_like
            Covariance of the arms' values; it may be singular.
        mean : float or (K,) array_like
            Mean of the arms' values.
        noise : float
            Standard deviation of a reward.

        Examples
        --------
        >>> import fastes, numpy as np
        >>> x = np.linspace(0, 1, 50)
        >>> kernel = np.exp(-((x[:, None] - x) ** 2) / 0.02)
        >>> bandit = fastes.LinearBandit.gaussian_process(kernel, noise=0.1)
        >>> bandit.K, bandit.rank
        (50, 33)
        """
        covariance = np.atleast_2d(arrays.array("kernel_matrix", kernel_matrix))
        K = len(covariance)
        if covariance.shape != (K, K) or K == 0:
            raise ValueError(f"kernel_matrix must be square, got shape {covariance.shape}")
        require(f"a Gaussian process with K={K:,}", 5 * 8 * K * K)
        return cls(np.eye(K), checked_mean("mean", mean, K), covariance, noise)

    @classmethod
    def hard_for_ensembles(
        cls,
        K: int,
        M: int,
        noise: float = 1.0,
        *,
        inflation: float = 1.0,
        symmetric: bool = False,
    ) -> Self:
        """Return the problem of Theorem D, on which M models have regret proportional to T K / M.

        Arm 0 has reward 0. The others are the K - 1 unit vectors: theta ~ N(-c, I), where c is such
        that a model prefers a given arm to arm 0 at first with probability 1/M, and so c is the
        inflation times the c' with P(N(0, 1) > c') = 1/M. With probability about 1/e no model
        initially prefers a given arm to arm 0, and that arm is then never played.

        Parameters
        ----------
        K : int
            Number of arms, from 2 to M + 2.
        M : int
            Number of models, at least 2.
        noise : float
            Standard deviation of a reward.
        inflation : float
            That of the ensemble, from 1 to 30. Above 1 an arm is better than arm 0 with a
            probability of at least M^-(inflation^2).
        symmetric : bool
            Whether the ensemble is symmetric: then M models and their reflections count.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.hard_for_ensembles(K=3, M=40)
        >>> bandit.actions.tolist(), round(float(bandit.prior_mean[0]), 3)
        ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], -1.96)
        >>> bandit = fastes.LinearBandit.hard_for_ensembles(K=3, M=40, inflation=2.0)
        >>> round(float(bandit.prior_mean[0]), 3)
        -3.92
        """
        M = numbers.integer("M", M, 2, MAX_SIZE)
        K = numbers.integer("K", K, 2, min(MAX_SIZE, M + 2))
        require(f"a problem with K={K:,} and d={K - 1:,}", problem_bytes(K, K - 1, drawn=False))
        return cls(np.eye(K, K - 1, k=-1), -threshold(M, inflation, symmetric), 1.0, noise)

    @classmethod
    def hard_for_all_ensembles(cls, T: int, noise: float = 1.0) -> Self:
        """Return the problem of Theorem D+: hard, over T steps, for every M from 2 to T.

        Arm 0 has reward 0. The others are J = ceil(log2 T) unit vectors with independent
        theta_j ~ N(-c_j, 1), P(theta_j > 0) = 2^-j. For each M there is an arm j with 2^j about M.
        With probability about 1/e no model prefers it to arm 0 at first, and it is then never
        played: the regret is at least of the order of T / M, but for a root of log M.

        Parameters
        ----------
        T : int
            Steps, at least 2.
        noise : float
            Standard deviation of a reward.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.hard_for_all_ensembles(T=600)
        >>> bandit, bandit.prior_mean[:3].round(3).tolist()
        (LinearBandit(K=11, d=10, noise=1), [0.0, -0.674, -1.15])
        """
        c = thresholds(numbers.integer("T", T, 2, MAX_STEPS))
        return cls(np.eye(len(c) + 1, len(c), k=-1), 0.0 - c, 1.0, noise)
