"""Reward laws: valid rewards, the belief that fits them, the law for kernels."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastes.actions import ActionSet
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.problem.truth import LAWS, Truth

if TYPE_CHECKING:
    from fastes.problem.whitening import Canonical

LARGEST_REWARD = 1e12
"""In units of the noise; beyond, rounding would affect choices."""

LARGEST_LOGARITHM = 200.0
"""Log of a mean count, well below overflow."""


class BeliefOptions(NamedTuple):
    """Options of an agent's belief.

    Attributes
    ----------
    rooted : bool
        Whether a model is sampled at every step: the belief then keeps a root of its covariance.
    kind : {"auto", "exact", "online"}
        For rewards that are not Gaussian. exact: the mode given all data; online: each reward
        linearised once; auto: exact if arms recur, else online.
    variance : float
        Variance of the models' perturbations; 0: set by the belief.
    noise : (float, float, float), optional
        For Gaussian rewards whose noise is learned: shape and scale of the inverse gamma prior of
        its variance, and the noise with which theta has its prior.
    discount : float
        How much a reward counts when one more has been taken in, at most 1.
    window : int
        How many of the last rewards count; 0: all.
    """

    rooted: bool = False
    kind: str = "auto"
    variance: float = 0.0
    noise: tuple[float, float, float] | None = None
    discount: float = 1.0
    window: int = 0

    def memory(self, r: int) -> Any:
        """Return the layout of the memory of a normal belief about r coordinates."""
        from fastes.kernels.beliefs.memory import windowed, with_discount

        return windowed.layout(self.window, r) if self.window else with_discount(self.discount)


@dataclass(frozen=True)
class RewardLaw(ABC):
    """How the reward of an arm follows from its value a'theta."""

    unit: float = 1.0
    """Unit of rewards in canonical coordinates: the standard deviation of the noise, if any."""

    name: ClassVar[str]
    """Its name in files, options and tables."""

    lost: ClassVar[str]
    """Why a belief may fail numerically, for messages."""

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for tables: its name, or for Gaussian rewards the noise."""
        return {"rewards": self.name}

    @property
    @abstractmethod
    def allowed(self) -> str:
        """Description of a valid reward."""

    @abstractmethod
    def takes(self, reward: Any) -> Any:
        """Return whether a reward is valid, elementwise for arrays."""

    def checked(self, reward: ArrayLike) -> Floats:
        """Return rewards in canonical units, or raise."""
        rewards = np.atleast_1d(arrays.array("reward", reward, booleans=True))
        refused = ~self.takes(rewards)
        if refused.any():
            raise ValueError(f"reward must be {self.allowed}, got {rewards[refused.argmax()]:g}")
        return rewards / self.unit

    def check_arms(self, actions: ActionSet, canonical: "Canonical") -> None:  # noqa: B027
        """Raise ValueError if the arms' values are unsuitable."""

    @abstractmethod
    def check_truth(self, truth: Truth) -> None:
        """Raise ValueError if a truth sets what this law does not have."""

    @abstractmethod
    def belief(self, keys: int | None, r: int, steps: int, options: BeliefOptions) -> Any:
        """Return the layout of the belief of an agent on arms of rank r, or raise ValueError.

        Recurring arms have keys below `keys`; None if none recur. `steps` is the number of steps to
        come, or 0 if unknown.
        """

    @abstractmethod
    def layout(self, truth: Truth | None) -> Any:
        """Return the layout of the true reward law, for kernels."""


@dataclass(frozen=True)
class GaussianRewards(RewardLaw):
    """A reward is the arm's value plus noise."""

    name: ClassVar[str] = "gaussian"
    lost: ClassVar[str] = "the noise is too small for the arms' values"

    @property
    def facts(self) -> dict[str, Any]:
        """The standard deviation of the noise."""
        return {"noise": self.unit}

    @property
    def largest(self) -> float:
        """The largest absolute value of a reward."""
        return LARGEST_REWARD * self.unit

    @property
    def allowed(self) -> str:
        """Description of a valid reward."""
        return f"a number from {-self.largest:g} to {self.largest:g}"

    def takes(self, reward: Any) -> Any:
        """Return whether a reward is within the limit."""
        return abs(reward) <= self.largest

    def check_truth(self, truth: Truth) -> None:
        """Raise ValueError if the true noise is too large relative to the bandit's."""
        from fastes.problem.whitening import LARGEST_VALUE

        if truth.noise is not None and not truth.noise / self.unit <= LARGEST_VALUE:
            raise ValueError(
                f"truth's noise must be at most {LARGEST_VALUE:g} times the bandit's "
                f"{self.unit:g}, got {truth.noise:g}"
            )

    def belief(self, keys: int | None, r: int, steps: int, options: BeliefOptions) -> Any:
        """Return the layout of the posterior."""
        from fastes.kernels.beliefs.gaussian.state import gaussian
        from fastes.kernels.beliefs.noise import learned_noise

        if options.kind == "online" or options.variance:
            name = "belief" if options.kind == "online" else "variance"
            raise ValueError(f"{name} is about rewards that are not gaussian: leave it out")
        if options.noise is None:
            return gaussian.layout(r, options.rooted, memory=options.memory(r))
        if options.discount < 1.0 or options.window:
            name = "window" if options.window else "discount"
            value = getattr(options, name)
            raise ValueError(f"{name} is for agents that know the noise, got {value:g}")
        return gaussian.layout(r, options.rooted, learned_noise.layout(*options.noise))

    def layout(self, truth: Truth | None) -> Any:
        """Return the layout of the true noise: its law and standard deviation."""
        from fastes.kernels.rewards.gaussian import gaussian_rewards

        truth = truth or Truth()
        scale = 1.0 if truth.noise is None else truth.noise / self.unit
        return gaussian_rewards.layout(LAWS.index(truth.noise_law), scale)


GAUSSIAN = GaussianRewards()
"""With noise 1."""


class GeneralisedLinear(RewardLaw):
    """Rewards of a generalised linear model with the canonical link."""

    lost: ClassVar[str] = "the mode of the posterior was not found"

    def check_truth(self, truth: Truth) -> None:
        """Raise ValueError if the truth sets the noise."""
        if truth.noise is not None or truth.noise_law != "normal":
            raise ValueError(
                f"truth's noise is about Gaussian rewards, got {truth} for {self.name} rewards"
            )

    @abstractmethod
    def outcomes(self, values: Floats) -> range:
        """Return the rewards that there can be for arms of these values, but for one in 10^12."""

    @abstractmethod
    def probability(self, reward: int, values: Floats) -> Floats:
        """Return the probability of a reward for arms of these values."""

    @abstractmethod
    def _family(self, variance: float) -> Any:
        """Return the family for kernels, with the variance of perturbations."""

    def belief(self, keys: int | None, r: int, steps: int, options: BeliefOptions) -> Any:
        """Return the layout of the exact or the online belief."""
        from fastes.kernels.beliefs.gaussian.rewards import linearised
        from fastes.kernels.beliefs.gaussian.state import gaussian
        from fastes.kernels.beliefs.glm.state import glm
        from fastes.kernels.beliefs.memory import with_discount

        if options.noise is not None:
            raise ValueError(
                f"noise 'learned' is about gaussian rewards, got {self.name} rewards: leave it out"
            )
        family = self._family(options.variance)
        if options.kind == "online" or (options.kind == "auto" and keys is None):
            if options.variance:
                raise ValueError(
                    "variance is that of the rewards, 'fisher', where a belief is online, "
                    f"got {options.variance:g}"
                )
            rewards = linearised.layout(family, r)
            return gaussian.layout(r, options.rooted, rewards, options.memory(r))
        if options.window:
            raise ValueError(
                "window needs belief 'online' where rewards are not gaussian: the exact one counts "
                f"rewards by arm, got {options.window:,}"
            )
        if keys is None and steps == 0:
            raise ValueError(
                "belief 'exact' keeps every reward of arms that do not come again, for as many "
                "steps as a simulation has: a live agent's is 'online'"
            )
        return glm.layout(family, keys or 0, r, steps, with_discount(options.discount, period=1))


class BernoulliRewards(GeneralisedLinear):
    """1 with probability 1 / (1 + exp(-a'theta)), else 0."""

    name: ClassVar[str] = "bernoulli"

    @property
    def allowed(self) -> str:
        """Description of a valid reward."""
        return "0 or 1"

    def takes(self, reward: Any) -> Any:
        """Return whether a reward is 0 or 1."""
        return (reward == 0) | (reward == 1)

    def outcomes(self, values: Floats) -> range:
        """Return 0 and 1."""
        return range(2)

    def probability(self, reward: int, values: Floats) -> Floats:
        """Return 1 / (1 + exp(-value)) for 1."""
        from scipy.special import expit

        return np.asarray(expit(values if reward else -values))

    def _family(self, variance: float) -> Any:
        from fastes.kernels.beliefs.families import Bernoulli

        return Bernoulli(variance)

    def layout(self, truth: Truth | None) -> Any:
        """Return the layout of the law."""
        from fastes.kernels.rewards.bernoulli import bernoulli_rewards

        return bernoulli_rewards.layout()


class PoissonRewards(GeneralisedLinear):
    """A count of mean exp(a'theta)."""

    name: ClassVar[str] = "poisson"

    @property
    def allowed(self) -> str:
        """Description of a valid reward."""
        return f"a whole number from 0 to {LARGEST_REWARD:g}"

    def check_arms(self, actions: ActionSet, canonical: "Canonical") -> None:
        """Raise ValueError if mean rewards, exp(a'theta), could overflow."""
        from fastes.problem.whitening import widest

        factor: Any = canonical.factor
        if canonical.arms is not None:
            mean, spread = canonical.arms.largest[0], canonical.arms.largest[1]
        else:
            mean = actions.longest * np.linalg.norm(canonical.prior_mean)
            spread = actions.longest * widest(factor)
        if not mean + 6.0 * spread <= LARGEST_LOGARITHM:
            raise ValueError(
                f"the arms' values must stay below {LARGEST_LOGARITHM:g} within six standard "
                f"deviations of the prior, got {mean:g} +- 6 * {spread:g}: a mean reward is their "
                "exponential"
            )

    def takes(self, reward: Any) -> Any:
        """Return whether a reward is a count."""
        return (reward >= 0) & (reward == np.floor(reward)) & (reward <= LARGEST_REWARD)

    def outcomes(self, values: Floats) -> range:
        """Return the counts of all Poisson laws, but for tails."""
        least, most = np.exp([values.min(), values.max()])
        last = most + 7.5 * np.sqrt(most) + 28.0
        return range(max(0, int(least - 7.5 * np.sqrt(least))), int(last))

    def probability(self, reward: int, values: Floats) -> Floats:
        """Return the Poisson law's, of mean exp(value)."""
        return np.exp(reward * values - np.exp(values) - math.lgamma(reward + 1.0))

    def _family(self, variance: float) -> Any:
        from fastes.kernels.beliefs.families import Poisson

        return Poisson(variance)

    def layout(self, truth: Truth | None) -> Any:
        """Return the layout of the law."""
        from fastes.kernels.rewards.poisson import poisson_rewards

        return poisson_rewards.layout()
