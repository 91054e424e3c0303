"""What all agents share: frozen parameters, and the kernel state that they start."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes import validation
from fastes.files import FileFormatError
from fastes.kernels.argmax import workspace
from fastes.kernels.arms import Arms
from fastes.kernels.certificate import certified, certified_bytes
from fastes.kernels.posterior import Posterior, prior_bytes
from fastes.kernels.streams import Source, source
from fastes.memory import require
from fastes.validation import Floats

if TYPE_CHECKING:
    from fastes.live import LiveAgent
    from fastes.problem import LinearBandit

Arrays = dict[str, NDArray[Any]]


class ActionLaw(NamedTuple):
    """What an agent in some state would play, and the models it would play it for.

    Attributes
    ----------
    probabilities : (K,) array or None
        Of each arm, given the state and not only the history; None stands for the law of the
        optimal action itself.
    moments : Moments, optional
        Of an ensemble.
    """

    probabilities: Floats | None
    moments: "Moments | None" = None


class Moments(NamedTuple):
    """How an ensemble compares with M independent draws from the posterior N(mu, S).

    All three are about 1 for such draws; the expectation of the last two's squares is.

    Attributes
    ----------
    variance : float
        tr(P C) / r, with C the mean of (z - mu)(z - mu)' over models.
    mean_error : float
        |mean of z - mu| in the norm of P, over sqrt(r / M).
    cov_error : float
        Frobenius norm of C - S, in coordinates where S is the identity, over sqrt(r (r + 1) / M).
    """

    variance: float
    mean_error: float
    cov_error: float


class Agent(ABC):
    """An agent: a rule for choosing arms, and its parameters.

    `simulate` plays it many times; `start` gives one that chooses and learns live.
    """

    name: ClassVar[str]
    """The short name, as on the command line."""

    engine: str = "exact"
    """How its steps are computed."""

    @property
    def max_steps(self) -> int:
        """The most steps that it can take."""
        return validation.MAX_STEPS

    @abstractmethod
    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> Any:
        """Return a kernel state on the canonical problem, before the first step.

        `steps` is how many are to come, where that is known.
        """

    def parameters(self) -> dict[str, Any]:
        """Return what sets this agent apart from others of its name."""
        return {}

    def description(self) -> dict[str, Any]:
        """Return what `agent_of` makes the same agent of, ready for JSON."""
        return {"agent": self.name, "engine": self.engine, "parameters": self.parameters()}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the most memory that one run's state takes in T steps."""
        return prior_bytes(r)

    def certifies(self, K: int, r: int) -> bool:
        """Tell whether to look for the best arm with a certificate rather than by a full scan.

        It changes no choice. Measured: where a full scan takes longer than the bookkeeping.
        """
        return K >= max(2048, 80 * r)

    def in_step(self, K: int, r: int, T: int) -> bool:
        """Tell whether several runs are done faster in step, the arms read once for all of them.

        It changes no bit. Measured: where a certificate rules out few arms, or comes too late.
        """
        return K * r >= 32_768 and (not self.certifies(K, r) or r >= 64 or T < 20 * r)

    def brief(self, K: int, r: int, T: int) -> bool:
        """Tell whether a run is so short that several are better done in one call.

        It changes no bit. Measured: where handing the interpreter's lock from thread to thread
        for every call takes as long as the steps in it.
        """
        return T <= 10_000 and not self.certifies(K, r)

    def workspace(self, arms: Arms) -> Any:
        """Return what a run needs to find the best of these arms."""
        return (certified if self.certifies(arms.K, arms.tiles.shape[1]) else workspace)(arms)

    def run_bytes(self, K: int, r: int, T: int) -> int:
        """Return the most memory that one run takes in T steps: its state and workspace."""
        search = certified_bytes(K, r) if self.certifies(K, r) else K
        return self.state_bytes(K, r, T) + search

    def shared_cost(self, r: int) -> float:
        """Return about how many multiply-adds a step takes that threads can share."""
        return 0.0

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the arm that the agent plays at step t, changing nothing.

        By default: any arm of the largest index, each as likely.
        """
        from fastes.kernels.tally import indices

        scores = np.empty(arms.K)
        indices(state, arms, workspace(arms), scores)
        best = scores == scores.max()
        return ActionLaw(best / best.sum())

    def start(self, bandit: "LinearBandit", seed: int = 0) -> "LiveAgent":
        """Return an agent that chooses arms and learns from rewards as they come.

        Parameters
        ----------
        bandit : LinearBandit
            The arms, the prior and the noise. Its rewards come from the caller.
        seed : int
            Of the agent's own randomness.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> agent = fastes.EnsembleSampling(M=100).start(bandit, seed=1)
        >>> arm = agent.act()
        >>> agent.observe(arm, reward=0.7)
        """
        from fastes.live import LiveAgent

        seed = validation.integer("seed", seed, 0, validation.MAX_SEED)
        require(f"{self}", self.run_bytes(bandit.K, bandit.rank, 1))
        state = self.initial_state(bandit.K, bandit.rank, source(seed))
        return LiveAgent(bandit, self, seed, state)

    def pack(self, state: Any) -> Arrays:
        """Return the arrays from which `unpack` makes the same state again."""
        return pack_posterior(state.posterior)

    def unpack(self, arrays: Arrays, arms: Arms, r: int, source: Source, steps: int = 0) -> Any:
        """Return the state that `pack` was given, or raise FileFormatError.

        `steps` is how many there will be in all, where that is known.
        """
        state = self.initial_state(arms.K, r, source, steps)
        unpack_posterior(arrays, state.posterior)
        return state


_OF_POSTERIOR = (
    *("mu", "S", "factor", "eta", "root"),
    *("recent", "recent_arm", "recent_plays", "recent_pay", "age"),
)


def pack_posterior(posterior: Posterior) -> Arrays:
    """Return the arrays that make up a posterior, without its workspace."""
    return {name: getattr(posterior, name) for name in _OF_POSTERIOR}


def unpack_posterior(arrays: Arrays, posterior: Posterior) -> None:
    """Fill a posterior from its arrays."""
    for name in _OF_POSTERIOR:
        unpack_array(arrays, name, getattr(posterior, name))
    updates, distinct = posterior.age
    if not 0 <= distinct <= updates < len(posterior.recent):
        raise FileFormatError(f"a saved agent's 'age' is out of range: {updates}, {distinct}")


def unpack_array(arrays: Arrays, name: str, target: NDArray[Any]) -> None:
    """Copy an array of a file into one of known shape and type."""
    stored = arrays.get(name)
    if stored is None or stored.shape != target.shape or stored.dtype != target.dtype:
        raise FileFormatError(f"a saved agent's {name!r} is missing or does not fit")
    np.copyto(target, stored)
