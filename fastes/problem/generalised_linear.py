"""Bandits whose rewards are clicks or counts: generalised linear models with the canonical link."""

from typing import Self

from numpy.typing import ArrayLike

from fastes.actions import ActionSet, Fixed
from fastes.actions.families import random_arms
from fastes.problem.bandit import Bandit
from fastes.problem.rewards import BernoulliRewards, PoissonRewards


class _GeneralisedLinearBandit(Bandit):
    """What logistic and Poisson bandits share."""

    def __init__(
        self,
        actions: ArrayLike | ActionSet,
        prior_mean: ArrayLike = 0.0,
        prior_cov: ArrayLike = 1.0,
    ) -> None:
        super().__init__(actions, prior_mean, prior_cov, self.law())

    @classmethod
    def random(
        cls,
        K: int,
        d: int,
        arms: str = "sphere",
        *,
        prior_mean: ArrayLike = 0.0,
        prior_cov: ArrayLike = 1.0,
        seed: int = 0,
    ) -> Self:
        """Return a bandit with random arms. Parameters are those of `LinearBandit.random`.

        Examples
        --------
        >>> import fastes
        >>> fastes.LogisticBandit.random(K=30, d=5, prior_cov=4.0)
        LogisticBandit(K=30, d=5)
        """
        return cls(Fixed(random_arms(arms, K, d, seed)), prior_mean, prior_cov)


class LogisticBandit(_GeneralisedLinearBandit):
    """Arms that pay 1 or 0, as clicks do, with a Gaussian prior on theta.

    Arm a pays 1 with probability ``1 / (1 + exp(-a'theta))``, else 0. Regret is of these
    probabilities, so that it counts clicks. The posterior has no closed form: agents work with its
    mode, and with the curvature there. Ensemble sampling solves for the mode of one perturbed data
    set a step, whatever M is.

    Parameters
    ----------
    actions : (K, d) array_like or action set
        The arms, one a row; or a set of ``fastes.actions``, where they change.
    prior_mean : float or (d,) array_like
        Mean of theta; a number stands for a vector of it.
    prior_cov : float, (d,) or (d, d) array_like
        Covariance of theta: isotropic, diagonal or full. It may be singular.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LogisticBandit.random(K=50, d=5, prior_cov=4.0)
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=100), T=200, runs=20)
    Result(ES, M=100: regret 10.17 +- 1.1 at T=200, 20 runs)
    """

    law = BernoulliRewards


class PoissonBandit(_GeneralisedLinearBandit):
    """Arms that pay counts, with a Gaussian prior on theta.

    Arm a pays a Poisson number of mean ``exp(a'theta)``. All else is as for `LogisticBandit`.

    Parameters
    ----------
    actions, prior_mean, prior_cov
        As for `LogisticBandit`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.PoissonBandit.random(K=50, d=5, prior_cov=0.5)
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=200, runs=20)
    Result(TS: regret 114 +- 16 at T=200, 20 runs)
    """

    law = PoissonRewards
