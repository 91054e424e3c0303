"""An agent at work: it chooses arms and learns from rewards as they come."""

import os
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.agents import agent_from_description
from fastes.agents.agent import Agent
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.search import run_bytes, search_workspace, uses_certificate
from fastes.agents.states import state_arrays
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.kinds import FileFormatError, require_replaceable
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents.interface import needs_capacity
from fastes.kernels.loop.live import act, observe
from fastes.kernels.search.certificate import retake_snapshot, snapshot_due
from fastes.kernels.streams.philox import source
from fastes.problem.bandit import LinearBandit
from fastes.problem.whitening import LARGEST_REWARD, to_user_coordinates

_MOST_AT_ONCE = 10_000  # rewards: a call that takes longer would not hear Ctrl-C


class Belief(NamedTuple):
    """A normal belief about theta."""

    mean: Floats
    covariance: Floats


class LiveAgent:
    """An agent in use, made by `start` of any agent or by `load`.

    Rewards may come late, in batches, in any order, and for arms that the agent did not
    choose. It is a pure function of its seed and of the calls made: saved and loaded, it goes
    on to the same bit. Not for use by several threads at once.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> agent = fastes.EnsembleSampling(M=100).start(bandit, seed=1)
    >>> arms = [agent.act() for _ in range(3)]
    >>> agent.observe(arms, [0.1, -0.2, 0.4])
    >>> agent.acts, agent.observations
    (3, 3)
    >>> agent.posterior().mean.round(2).tolist()
    [0.09, 0.0, 0.06, -0.11, -0.16]
    """

    def __init__(
        self,
        bandit: LinearBandit,
        agent: Agent,
        seed: int,
        state: Any,
        acts: int = 0,
        observations: int = 0,
    ) -> None:
        self.bandit = bandit
        self.agent = agent
        self.seed = seed
        self._state = state
        self._actions = FixedActions(bandit.canonical.arms)
        self._source = source(seed)
        certificate = uses_certificate(agent, bandit.K, bandit.rank)
        self._work = search_workspace(agent, self._actions.arms, certificate)
        self._row = np.empty(bandit.rank)
        self._one_arm, self._one_reward = np.empty(1, np.int64), np.empty(1)
        self._acts = acts
        self._observations = observations

    def __repr__(self) -> str:
        return (
            f"LiveAgent({self.agent}, {self.bandit}, acts={self.acts}, "
            f"observations={self.observations})"
        )

    @property
    def acts(self) -> int:
        """How many arms it has chosen."""
        return self._acts

    @property
    def observations(self) -> int:
        """How many rewards it has taken in."""
        return self._observations

    def act(self) -> int:
        """Return the arm to play, by its index in `bandit.actions`."""
        if snapshot_due(self._work):
            retake_snapshot(self._work, self._state, self._actions.arms)
        arm = act(self._state, self._actions, self._source, self._acts, self._work)
        if arm < 0:
            if not needs_capacity(self._state):
                raise FloatingPointError(
                    "the posterior was lost to rounding: the arms' values are too many noise "
                    "standard deviations apart"
                )
            self._state = self.agent.with_capacity(self._state)
            return self.act()
        self._acts += 1
        return int(arm)

    def observe(self, arm: ArrayLike, reward: ArrayLike) -> None:
        """Take in the reward of an arm, or the rewards of several arms in their order.

        Nothing changes if any of them is refused.

        Parameters
        ----------
        arm : int or (n,) array_like of int
            Which arms were played.
        reward : float or (n,) array_like
            What they paid. True and False are rewards of 1 and 0.
        """
        arms, rewards = self._checked(arm, reward)
        room = self.agent.max_steps - self.observations
        if len(arms) > room:
            raise ValueError(f"{self.agent} takes in at most {room} more rewards, got {len(arms)}")
        first = 0
        while first < len(arms):
            last = first + _MOST_AT_ONCE
            learned = observe(
                self._state,
                self._actions,
                arms[first:last],
                rewards[first:last],
                self._source,
                self._observations,
                self._row,
            )
            self._observations += learned
            first += learned
            if learned == 0:
                self._state = self.agent.with_capacity(self._state)

    def _checked(self, arm: ArrayLike, reward: ArrayLike) -> tuple[NDArray[np.int64], Floats]:
        """Return arms and rewards, in units of the noise, as arrays of one length, or raise."""
        K, noise = self.bandit.K, self.bandit.noise
        if type(arm) is int and type(reward) is float and 0 <= arm < K:  # the common case, quick
            self._one_arm[0], self._one_reward[0] = arm, reward / noise
            if abs(reward) <= LARGEST_REWARD * noise:
                return self._one_arm, self._one_reward
        arms = np.atleast_1d(np.asarray(arm))
        rewards = np.atleast_1d(arrays.array("reward", reward, booleans=True))
        if arms.ndim != 1 or arms.shape != rewards.shape:
            raise ValueError(
                f"arm and reward must be single or of one length, got shapes {arms.shape} "
                f"and {rewards.shape}"
            )
        if len(arms) and not np.issubdtype(arms.dtype, np.integer):
            raise TypeError(f"arm must be an integer from 0 to {K - 1}, got {arms.flat[0]!r}")
        outside = (arms < 0) | (arms >= K)
        if outside.any():
            raise ValueError(
                f"arm must be an integer from 0 to {K - 1}, got {arms[outside.argmax()]}"
            )
        limit = LARGEST_REWARD * noise
        beyond = np.abs(rewards) > limit
        if beyond.any():
            value = rewards[beyond.argmax()]
            raise ValueError(f"reward must be a number from {-limit:g} to {limit:g}, got {value:g}")
        return arms.astype(np.int64), rewards / noise

    def posterior(self) -> Belief:
        """Return mu_t and Sigma_t given all rewards observed (equation 1)."""
        bandit, S = self.bandit, self._state.posterior.S
        require(f"a covariance of {bandit.d:,} dimensions", 4 * 8 * bandit.d**2)
        U = self._to_user_coordinates()
        covariance = U @ S @ U.T
        if bandit.canonical.factor is None:  # what no arm can tell keeps its prior covariance
            prior = bandit.prior_cov
            whole = prior if np.ndim(prior) == 2 else np.diag(np.full(bandit.d, prior))
            covariance += whole - U @ U.T
        return Belief(bandit.prior_mean + U @ self._state.posterior.mu, covariance)

    def ensemble(self) -> Floats:
        """Return all M models as they are now, (M, d), changing no choice that follows.

        Models that have not been read lately are drawn given all that is known of them, with
        numbers of their own: asked twice at the same moment it gives the same, a later call
        does not continue the same path. Where there are fewer arms than dimensions, what no arm
        can tell is left at its mean.
        """
        if not isinstance(self.agent, EnsembleSampling):
            raise TypeError(f"{self.agent} keeps no ensemble")
        posterior, M = self._state.posterior, self.agent.M
        require(f"an ensemble of {M:,} models", 2 * 8 * M * (self.bandit.d + self.bandit.rank))
        xi = self.agent.models(self._state, self._source, self._observations)
        return (
            self.bandit.prior_mean
            + (posterior.mu + xi @ posterior.S) @ self._to_user_coordinates().T
        )

    def _to_user_coordinates(self) -> Floats:
        bandit = self.bandit
        return to_user_coordinates(bandit.canonical, bandit.actions, bandit.prior_cov, bandit.noise)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the agent and its bandit to one npz file, whole or not at all.

        A file that is no agent is not replaced, unless by `force`.
        """
        require_replaceable(path, "agent", force)
        meta = {
            **self.agent.description(),
            "seed": self.seed,
            "acts": self.acts,
            "observations": self.observations,
        }
        arrays = {f"state_{name}": part for name, part in state_arrays(self._state).items()}
        save_arrays(path, "agent", meta, {**self.bandit.parts(), **arrays})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an agent that `save` wrote."""
        meta, arrays = load_arrays(path, "agent")
        try:
            agent = agent_from_description(meta)
            counts = tuple(
                numbers.integer(name, meta[name], 0, agent.max_steps)
                for name in ("acts", "observations")
            )
            seed = numbers.integer("seed", meta["seed"], 0, numbers.MAX_SEED)
            bandit = LinearBandit.from_parts(arrays)
            parts = with_prefix(arrays, "state_")
            if counts[1] != len(parts.get("played", range(counts[1]))):
                raise ValueError("observations do not fit the arms played")
            arms, origin = bandit.canonical.arms, source(seed)
            state = agent.restored_state(parts, arms, bandit.rank, origin)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"{os.fspath(path)} holds no whole agent: {error}") from error
        return cls(bandit, agent, seed, state, counts[0], counts[1])


def start_live(agent: Agent, bandit: LinearBandit, seed: int) -> LiveAgent:
    """Return a live agent before its first choice."""
    if not isinstance(bandit, LinearBandit):
        raise TypeError(f"bandit must be a LinearBandit, got {numbers.shown(bandit)}")
    seed = numbers.integer("seed", seed, 0, numbers.MAX_SEED)
    require(f"{agent}", run_bytes(agent, bandit.K, bandit.rank, 1))
    state = agent.initial_state(bandit.K, bandit.rank, source(seed))
    return LiveAgent(bandit, agent, seed, state)
