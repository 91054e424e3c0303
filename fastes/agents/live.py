"""Live agents, which choose arms and learn from rewards as they come."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from fastes.agents import agent_from_description
from fastes.agents.agent import Agent
from fastes.agents.best_arms import read_models
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.live_calls import MOST_AT_ONCE, LiveCalls, Numbers, plays_by_row
from fastes.agents.live_law import ArmProbabilities, Chosen, chosen_with
from fastes.agents.live_rows import offered_to_many
from fastes.agents.own_compiled import checked
from fastes.agents.run_bytes import run_bytes
from fastes.checks import memory, numbers
from fastes.checks.arrays import Arrays, Floats
from fastes.checks.documented import documented
from fastes.checks.memory import require
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.guard import made_of
from fastes.files.kinds import require_replaceable
from fastes.kernels.agents.interface import saved_arrays
from fastes.kernels.beliefs.interface import covariance_of, mean_of, noise_of
from fastes.kernels.beliefs.noise import noise_of_choice, prior_root, variance_law
from fastes.kernels.loop.live import act_often
from fastes.kernels.streams.philox import source
from fastes.problem.bandit import Bandit
from fastes.problem.whitening import to_user_coordinates

_Live = TypeVar("_Live", bound="LiveAgent")


@documented
class Belief(NamedTuple):
    """The posterior of theta, N(mean, covariance), in the coordinates and units of the problem.

    For a `LogisticBandit` or `PoissonBandit` it is Laplace's approximation: the mode, and the
    inverse Hessian there.

    Attributes
    ----------
    mean : (d,) array
        The posterior mean of theta.
    covariance : (d, d) array
        The posterior covariance of theta.
    """

    mean: Floats
    covariance: Floats


@documented
class NoiseBelief(NamedTuple):
    """What an agent that learns the noise believes: its variance is InverseGamma(shape, scale).

    The mean of the variance is scale / (shape - 1).

    Attributes
    ----------
    shape : float
        The shape: the prior's, and a half for each reward.
    scale : float
        The scale, in squared units of rewards.
    """

    shape: float
    scale: float


class LiveAgent(LiveCalls):
    """A live agent, made by `Agent.start` or by `load`.

    Rewards may be delayed, in batches, in any order, and for arms that the agent did not choose. It
    is a pure function of its seed and of the calls made: saved and loaded, copied or pickled, it
    continues to the same bit. Threads may share one: their calls take turns.

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

    def __repr__(self) -> str:
        return (
            f"LiveAgent({self.agent}, {self.bandit}, acts={self.acts}, "
            f"observations={self.observations})"
        )

    @property
    def acts(self) -> int:
        """Number of arms chosen."""
        return self._acts

    @property
    def observations(self) -> int:
        """Number of rewards observed."""
        return int(self._observed[0])

    @overload
    def act(
        self, actions: ArrayLike | None = ..., *, available: ArrayLike | None = ...
    ) -> int | Floats: ...

    @overload
    def act(
        self, actions: ArrayLike | None = ..., *, available: ArrayLike | None = ..., k: int
    ) -> Numbers: ...

    @overload
    def act(
        self,
        actions: ArrayLike | None = ...,
        *,
        available: ArrayLike | None = ...,
        probability: Literal[True],
    ) -> Chosen: ...

    def act(
        self,
        actions: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        k: int | None = None,
        probability: bool = False,
    ) -> int | Floats | Numbers | Chosen:
        """Return the arm to play, or a slate of k arms.

        Parameters
        ----------
        actions : (n, d) array_like, optional
            The arms on offer, one per row, if the problem's actions are `Offered`.
        available : (n,) array_like of int, optional
            The arms of a fixed set that can be played now; by default all.
        k : int, optional
            Return a slate: the k best arms of one model, best first. Its first arm is the one that
            `act` would return without `k`. Where an agent explores by a random arm, the others are
            random too. Observe its arms one by one.
        probability : bool
            Return a `Chosen`: the arm, and the probability with which it was chosen. See
            `action_law` for how it is computed and what that costs.

        Returns
        -------
        int, (d,) array, (k,) array of int, or Chosen
            The index of the arm in `actions` or in `bandit.actions`; on a ball, the arm itself.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> agent = fastes.ThompsonSampling().start(bandit, seed=1)
        >>> agent.act(available=[3, 17, 31]) in (3, 17, 31)
        True
        >>> agent.act(k=3).tolist()
        [11, 43, 34]
        >>> chosen = agent.act(probability=True)
        >>> chosen.arm, round(chosen.probability, 3), round(chosen.standard_error, 3)
        (19, 0.015, 0.001)
        """
        with self._lock:
            rows, numbers_of_arms, choice = self._choice(actions, available)
            if k is not None:
                if probability:
                    raise TypeError("probability is about a single arm: leave out k")
                slate = self._slate(rows, choice, k)
                return slate if numbers_of_arms is None else numbers_of_arms[slate]
            if probability:
                law = self._law(rows, choice)
            position = self._choose(rows, choice)
            if self._by_vector:
                return self.bandit.action_set.played(choice.actions)
            arm = position if numbers_of_arms is None else int(numbers_of_arms[position])
            return chosen_with(law, arm, position) if probability else arm

    def act_many(self, offers: Sequence[ArrayLike] | int) -> Numbers:
        """Return the arms to play for many users at once, as calls of `act` in turn would.

        It takes a small part of the time that separate calls take.

        Parameters
        ----------
        offers : sequence of (n, d) array_like, or int
            The arms on offer to each user, if the problem's actions are `Offered`; on fixed arms,
            the number of users.

        Returns
        -------
        (users,) array of int
            The index of the arm in each offer, or in `bandit.actions`.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit(fastes.actions.Offered(d=2))
        >>> agent = fastes.Greedy().start(bandit)
        >>> agent.observe([1.0, 0.0], 2.0)
        >>> agent.act_many([[[0.0, 1.0], [1.0, 0.0]], [[0.9, 0.0], [0.5, 0.1], [0.2, 1.0]]])
        array([1, 0])
        """
        with self._lock:
            if self._by_vector:
                raise TypeError("act_many() needs arms with numbers, but actions are the ball")
            if self._by_row:
                return self._act_on_offers(*offered_to_many(offers, self._d))
            assert self._all is not None
            out = np.empty(numbers.integer("offers", offers, 0, numbers.MAX_SIZE), np.int64)
            return self._act_in_turn(self._all, out, act_often)

    def action_law(
        self, actions: ArrayLike | None = None, available: ArrayLike | None = None
    ) -> ArmProbabilities:
        """Return the probability of each arm to be the next one, given the agent's state.

        Neither the state nor later choices change. The probabilities are exact for `Greedy`,
        `EpsilonGreedy`, `LinUCB`, `DiscountedLinUCB`, `BayesUCB`, `UniformRandom`, `LinearEnsemble`
        and ensemble sampling with the eager engine and at most 8,192 models. They are frequencies
        in 8,192 draws for `ThompsonSampling`, `EnsemblePlusPlus` and `PerturbedHistory`. For a
        deferred ensemble, what models have missed is drawn, several times if M is below 8,192; of a
        larger one, the first 8,192 models are read. For `InformationDirectedSampling` they are the
        mean of 32 laws, each for other draws. The cost is that of 8,192 models:
        8,192 (r^2 + K r) operations.

        Parameters
        ----------
        actions, available
            The arms on offer, as for `act`.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=4, d=2)
        >>> agent = fastes.EpsilonGreedy(epsilon=0.2).start(bandit)
        >>> agent.observe([0, 1], [0.9, -0.3])
        >>> agent.action_law().probability.round(2).tolist()
        [0.85, 0.05, 0.05, 0.05]
        """
        with self._lock:
            rows, _, choice = self._choice(actions, available)
            return self._law(rows, choice)

    def observe(self, arm: ArrayLike, reward: ArrayLike) -> None:
        """Observe the reward of an arm, or the rewards of several arms in order.

        Nothing changes if any of them is refused.

        Parameters
        ----------
        arm : int or (n,) array_like of int; (d,) or (n, d) array_like
            The arms played: their indices in a fixed set, else their rows.
        reward : float or (n,) array_like
            Their rewards. True and False count as 1 and 0.
        """
        with self._lock:
            checked = self._checked_rows if self._by_row else self._checked
            arms, rewards = checked(arm, reward)
            room = self._most_steps - int(self._observed[0])
            if len(arms) > room:
                raise ValueError(
                    f"{self.agent} can observe at most {room} more rewards, got {len(arms)}"
                )
            first, n = 0, len(arms)
            while first < n:
                last = first + MOST_AT_ONCE
                one_call = first == 0 and n <= MOST_AT_ONCE
                part = (arms, rewards) if one_call else (arms[first:last], rewards[first:last])
                learned = self._learn(*part)
                first += learned
                if learned == 0:
                    self._state = self.agent.with_capacity(self._state)

    def posterior(self) -> Belief:
        """Return mu_t and Sigma_t given all rewards observed (equation 1).

        Of an agent with noise "learned", the covariance is that of Student's law of theta.
        """
        bandit = self.bandit
        require(f"a covariance of {bandit.d:,} dimensions", 4 * 8 * bandit.d**2)
        U = self._to_user_coordinates()
        with self._lock:
            belief = self._state.belief
            mu, S = mean_of(belief).copy(), covariance_of(belief).copy()
            variance, least = self._mean_variance(), prior_root(noise_of(belief))
        spread = U @ S @ U.T
        if (
            bandit.canonical.factor is None
        ):  # directions without information keep the prior covariance
            prior = bandit.prior_cov
            whole = prior if np.ndim(prior) == 2 else np.diag(np.full(bandit.d, prior))
            spread += (whole - U @ U.T) / least**2
        return Belief(bandit.prior_mean + U @ mu, variance * spread)

    def noise_posterior(self) -> NoiseBelief:
        """Return the law of the noise's variance given all rewards observed.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> agent = fastes.ThompsonSampling(noise="learned").start(bandit)
        >>> agent.observe([0] * 1000, [5.0, -5.0] * 500)
        >>> shape, scale = agent.noise_posterior()
        >>> round((scale / (shape - 1)) ** 0.5, 2)
        5.0
        """
        with self._lock:
            law = variance_law(noise_of(self._state.belief))
            if law is None:
                raise TypeError(f"{self.agent} knows the noise: only noise='learned' has its law")
            shape, scale = (float(each) for each in law)
        return NoiseBelief(shape, scale * self.bandit.rewards.unit**2)

    def _mean_variance(self) -> float:
        """Return the mean variance of the noise, in units of the bandit's."""
        law = variance_law(noise_of(self._state.belief))
        if law is None:
            return 1.0
        if not law[0] > 1.0:
            raise ValueError(
                "the covariance of theta is infinite before the first reward, if noise_shape is 1"
            )
        return float(law[1] / (law[0] - 1.0))

    def ensemble(self) -> Floats:
        """Return all M models now, (M, d), without changing later choices.

        Models that were not read recently are drawn given their past, with separate random numbers:
        repeated calls at the same time return equal models, but calls at different times do not
        continue one path. With fewer arms than dimensions, directions that no reward depends on are
        at their mean. Where the noise is learned, they are read with that of the next choice.
        """
        if not isinstance(self.agent, EnsembleSampling):
            raise TypeError(f"{self.agent} has no ensemble")
        M = self.agent.M
        require(f"an ensemble of {M:,} models", 2 * 8 * M * (self.bandit.d + self.bandit.rank))
        with self._lock:
            belief = self._state.belief
            xi = self.agent.models(self._state, self._source, self.observations)
            if self.agent.noise == "learned":
                xi *= noise_of_choice(noise_of(belief), self._source, self._acts)
            z = read_models(belief, xi)
        return self.bandit.prior_mean + z @ self._to_user_coordinates().T

    def _to_user_coordinates(self) -> Floats:
        bandit = self.bandit
        rows = np.empty((0, bandit.d)) if self._by_row else bandit.actions
        return to_user_coordinates(bandit.canonical, rows, bandit.prior_cov, bandit.rewards.unit)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the agent and its bandit to one npz file, atomically.

        A file that is not an agent is replaced only with `force`.
        """
        require_replaceable(path, "agent", force)
        with ExitStack() as stack:
            stack.enter_context(self._lock)
            counts = {"acts": self.acts, "observations": self.observations}
            state = saved_arrays(self._state)
            if sum(array.nbytes for array in state.values()) < memory.available_bytes() // 2:
                state = _copied(state)
                stack.close()  # other threads wait for the copy, not for the file
            meta = {**self.agent.description(), "seed": self.seed, **counts}
            arrays = {f"state_{name}": array for name, array in state.items()}
            save_arrays(path, "agent", meta, {**self.bandit.arrays(), **arrays})

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies have a snapshot of the state, and their own lock and scratch memory.
        with self._lock:
            state = _copied(saved_arrays(self._state))
            counts = self.acts, self.observations
        return _restored, (type(self), self.bandit, self.agent, self.seed, state, *counts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an agent that `save` wrote."""
        meta, arrays = load_arrays(path, "agent")
        with made_of(path, "agent"):
            agent = agent_from_description(meta)
            acts, observations = (
                numbers.integer(name, meta[name], 0, agent.max_steps)
                for name in ("acts", "observations")
            )
            seed = numbers.integer("seed", meta["seed"], 0, numbers.MAX_SEED)
            bandit = Bandit.from_arrays(arrays)
            _require_room(agent, bandit)
            saved = with_prefix(arrays, "state_")
            return _restored(cls, bandit, agent, seed, saved, acts, observations)


def start_live(agent: Agent, bandit: Bandit, seed: int, search: str | None = None) -> LiveAgent:
    """Return a live agent before its first choice.

    `search` is the method to find the best of fixed arms, by default the fastest for their number.
    """
    if not isinstance(bandit, Bandit):
        raise TypeError(
            f"bandit must be a problem such as a LinearBandit, got {numbers.shown(bandit)}"
        )
    seed = numbers.integer("seed", seed, 0, numbers.MAX_SEED)
    checked(agent)
    _require_room(agent, bandit)
    K = None if plays_by_row(bandit) else bandit.K
    state = agent.initial_state(K, bandit.rank, source(seed), rewards=bandit.rewards)
    return LiveAgent(bandit, agent, seed, state, search=search)


def _require_room(agent: Agent, bandit: Bandit) -> None:
    needed = run_bytes(agent, bandit.sizes, 1, 0)
    require(f"{agent}", needed.state + needed.search + needed.offers)


def _restored(
    kind: type[_Live],
    bandit: Bandit,
    agent: Agent,
    seed: int,
    saved: Arrays,
    acts: int,
    observations: int,
) -> _Live:
    """Return the live agent whose state has these arrays, or raise."""
    arms = None if plays_by_row(bandit) else bandit.canonical.arms
    state = agent.restored_state(saved, arms, bandit.rank, rewards=bandit.rewards)
    return kind(bandit, agent, seed, state, acts, observations)


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}
