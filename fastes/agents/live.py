"""Live agents, which choose arms and learn from rewards as they come."""

import os
from contextlib import ExitStack
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.agents import agent_from_description
from fastes.agents.agent import Agent
from fastes.agents.best_arms import read_models
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.live_lock import new_lock
from fastes.agents.live_rows import Choice, Room, checked_rows, refused
from fastes.agents.own_compiled import checked
from fastes.agents.run_bytes import run_bytes
from fastes.agents.search import renew_search, search_method, workspace_on
from fastes.checks import memory, numbers
from fastes.checks.arrays import Arrays, Floats
from fastes.checks.documented import documented
from fastes.checks.memory import require
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.guard import made_of
from fastes.files.kinds import require_replaceable
from fastes.kernels.actions.whitening import first_refused
from fastes.kernels.agents.interface import needs_capacity, saved_arrays
from fastes.kernels.beliefs.interface import covariance_of, mean_of
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live, act, act_on_rows, observe, observe_rows
from fastes.kernels.search.certificate import snapshot_due
from fastes.kernels.streams.philox import source
from fastes.problem.bandit import Bandit
from fastes.problem.whitening import to_user_coordinates

_Live = TypeVar("_Live", bound="LiveAgent")

_PLAIN = (float, int, bool)
"""Types of a single reward with a fast check."""

_MOST_AT_ONCE = 10_000  # rewards per kernel call, so that Ctrl-C is noticed


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


class LiveAgent:
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

    def __init__(
        self,
        bandit: Bandit,
        agent: Agent,
        seed: int,
        state: Any,
        acts: int = 0,
        observations: int = 0,
        search: str | None = None,
    ) -> None:
        self.bandit = bandit
        self.agent = agent
        self.seed = seed
        self._state = state
        self._source = source(seed)
        self._by_row = _by_row(bandit)
        self._all = _all_arms(agent, bandit, search)
        self._room = Room(agent, bandit.canonical)
        self._lock = new_lock()  # held by calls that use the state or scratch memory
        self._whitening = bandit.canonical.whitening() if self._by_row else None
        self._limits = bandit.canonical.limits
        self._K, self._most_steps = bandit.K, agent.max_steps  # computed once: calls take 2 us
        self._row = np.empty(bandit.rank)
        self._boxes: dict[bool, tuple[Any, ...]] = {}  # of all arms, or not: state, actions, box
        self._one_arm, self._one_reward = np.empty(1, np.int64), np.empty(1)
        self._acts = acts
        self._observed = np.array([observations], np.int64)  # counted by kernels

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

    def act(
        self, actions: ArrayLike | None = None, *, available: ArrayLike | None = None
    ) -> int | Floats:
        """Return the arm to play.

        Parameters
        ----------
        actions : (n, d) array_like, optional
            The arms on offer, one per row, if the problem's actions are `Offered`.
        available : (n,) array_like of int, optional
            The arms of a fixed set that can be played now; by default all.

        Returns
        -------
        int or (d,) array
            The index of the arm in `actions` or in `bandit.actions`; on a ball, the arm itself.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> agent = fastes.ThompsonSampling().start(bandit, seed=1)
        >>> agent.act(available=[3, 17, 31]) in (3, 17, 31)
        True
        """
        with self._lock:
            rows, numbers_of_arms, choice = self._choice(actions, available)
            offered, work = choice
            while True:
                if snapshot_due(work):
                    renew_search(work, self._state, offered.arms)
                arm = self._act(rows, choice)
                if arm >= 0:
                    break
                if not needs_capacity(self._state):
                    raise FloatingPointError(
                        f"the posterior failed numerically: {self.bandit.rewards.lost}"
                    )
                self._state = self.agent.with_capacity(self._state)
            self._acts += 1
            if self.bandit.action_set.chosen_by == "vector":
                return self.bandit.action_set.played(offered)
            return int(arm) if numbers_of_arms is None else int(numbers_of_arms[arm])

    def _renew_search(self) -> None:
        """Update the search among all arms now, which `act` otherwise does when it is due."""
        if self._all is not None:
            with self._lock:
                renew_search(self._all.work, self._state, self._all.actions.arms)

    def _act(self, rows: Floats | None, choice: Choice) -> int:
        """Let the kernel choose. Return the arm, or -1."""
        box = self._box_of(choice)
        if rows is None:
            return int(act(box, self._acts))
        arm = act_on_rows(box, rows, self._acts)
        if arm < -1:
            raise refused(f"actions[{-2 - arm}]", rows[-2 - arm])
        return int(arm)

    def _box_of(self, choice: Choice) -> Any:
        """Return the box of what kernels use, a new one if the state or the actions are new."""
        all_arms, (actions, work) = choice is self._all, choice
        state, of, box = self._boxes.get(all_arms, (None, None, None))
        if state is not self._state or of is not actions:
            known = self._source, self._observed, self._row
            rows = (self._whitening, self._limits) if self._by_row else ()
            box = boxed(Live(self._state, actions, work, *known, *rows))
            self._boxes[all_arms] = self._state, actions, box
        return box

    def _choice(
        self, actions: ArrayLike | None, available: ArrayLike | None
    ) -> tuple[Floats | None, NDArray[np.int64] | None, Choice]:
        """Return the rows on offer, the arms' numbers if not 0, 1, ..., and the choice."""
        given = self.bandit.action_set
        offered = given.chosen_by == "row"
        if offered != (actions is not None):
            rule = "needs actions, the arms on offer" if offered else "takes no actions"
            raise TypeError(f"act() {rule}, if arms are {given.text}")
        if available is not None and self._by_row:
            raise TypeError(f"available needs fixed arms, but actions are {given.text}")
        if actions is not None:
            rows = checked_rows("actions", actions, self.bandit.d)
            if len(rows) == 0:
                raise ValueError("actions must have at least one arm, got none")
            return rows, None, self._room.of(len(rows))
        if available is not None:
            chosen = self._checked_arms("available", available)
            if len(chosen) == 0 or len(np.unique(chosen)) < len(chosen):
                raise ValueError("available must have at least one arm, and each once")
            return None, chosen, self._room.some(chosen)
        assert self._all is not None  # None only if arms are offered
        return None, None, self._all

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
            arms, rewards = (
                self._checked_rows(arm, reward) if self._by_row else self._checked(arm, reward)
            )
            room = self._most_steps - self.observations
            if len(arms) > room:
                raise ValueError(
                    f"{self.agent} can observe at most {room} more rewards, got {len(arms)}"
                )
            first = 0
            while first < len(arms):
                last = first + _MOST_AT_ONCE
                learned = self._learn(arms[first:last], rewards[first:last])
                first += learned
                if learned == 0:
                    self._state = self.agent.with_capacity(self._state)

    def _learn(self, arms: NDArray[Any], rewards: Floats) -> int:
        """Let the kernel learn rewards. Return how many it learned before it needed capacity."""
        box = self._box_of(self._all or self._room.last)
        if not self._by_row:
            return int(observe(box, arms, rewards))
        learned = int(observe_rows(box, arms, rewards))
        if learned < 0:
            raise refused("row", arms[-1 - learned])
        return learned

    def _checked_rows(self, row: ArrayLike, reward: ArrayLike) -> tuple[Floats, Floats]:
        """Return rows, and rewards in canonical units, as arrays of equal length, or raise."""
        rows = checked_rows("row", row, self.bandit.d)
        rewards = self.bandit.rewards.checked(reward)
        if len(rows) != len(rewards):
            raise ValueError(
                f"row and reward must be single or of equal length, got shapes {np.shape(row)} "
                f"and {np.shape(reward)}"
            )
        if len(rows) > _MOST_AT_ONCE:  # else the kernel checks them before it learns
            wrong = first_refused(self._whitening, rows, self._limits, self._row)
            if wrong >= 0:
                raise refused("row", rows[wrong])
        return rows, rewards

    def _checked(self, arm: ArrayLike, reward: ArrayLike) -> tuple[NDArray[np.int64], Floats]:
        """Return arms, and rewards in canonical units, as arrays of equal length, or raise."""
        K, law = self._K, self.bandit.rewards
        if type(arm) is int and type(reward) in _PLAIN and 0 <= arm < K and law.takes(reward):
            self._one_arm[0], self._one_reward[0] = arm, float(reward) / law.unit
            return self._one_arm, self._one_reward  # fast path
        arms = np.atleast_1d(np.asarray(arm))
        rewards = law.checked(reward)
        if arms.ndim != 1 or arms.shape != rewards.shape:
            raise ValueError(
                f"arm and reward must be single or of equal length, got shapes {arms.shape} "
                f"and {rewards.shape}"
            )
        return self._checked_arms("arm", arms), rewards

    def _checked_arms(self, name: str, given: ArrayLike) -> NDArray[np.int64]:
        """Return numbers of fixed arms, or raise."""
        arms, K = np.atleast_1d(np.asarray(given)), self.bandit.K
        if len(arms) and not np.issubdtype(arms.dtype, np.integer):
            raise TypeError(f"{name} must be an integer from 0 to {K - 1}, got {arms.flat[0]!r}")
        outside = (arms < 0) | (arms >= K)
        if outside.any():
            raise ValueError(
                f"{name} must be an integer from 0 to {K - 1}, got {arms[outside.argmax()]}"
            )
        return arms.astype(np.int64)

    def posterior(self) -> Belief:
        """Return mu_t and Sigma_t given all rewards observed (equation 1)."""
        bandit = self.bandit
        require(f"a covariance of {bandit.d:,} dimensions", 4 * 8 * bandit.d**2)
        U = self._to_user_coordinates()
        with self._lock:
            belief = self._state.belief
            mu, S = mean_of(belief).copy(), covariance_of(belief).copy()
        spread = U @ S @ U.T
        if (
            bandit.canonical.factor is None
        ):  # directions without information keep the prior covariance
            prior = bandit.prior_cov
            whole = prior if np.ndim(prior) == 2 else np.diag(np.full(bandit.d, prior))
            spread += whole - U @ U.T
        return Belief(bandit.prior_mean + U @ mu, spread)

    def ensemble(self) -> Floats:
        """Return all M models now, (M, d), without changing later choices.

        Models that were not read recently are drawn given their past, with separate random numbers:
        repeated calls at the same time return equal models, but calls at different times do not
        continue one path. With fewer arms than dimensions, directions that no reward depends on are
        at their mean.
        """
        if not isinstance(self.agent, EnsembleSampling):
            raise TypeError(f"{self.agent} has no ensemble")
        M = self.agent.M
        require(f"an ensemble of {M:,} models", 2 * 8 * M * (self.bandit.d + self.bandit.rank))
        with self._lock:
            belief = self._state.belief
            xi = self.agent.models(self._state, self._source, self.observations)
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
    K = None if _by_row(bandit) else bandit.K
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
    arms = None if _by_row(bandit) else bandit.canonical.arms
    state = agent.restored_state(saved, arms, bandit.rank, rewards=bandit.rewards)
    return kind(bandit, agent, seed, state, acts, observations)


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}


def _by_row(bandit: Bandit) -> bool:
    """Return whether arms are observed by rows; ValueError if the set cannot be played live."""
    given = bandit.action_set
    if not given.live:
        raise ValueError(
            f"a live agent needs fixed arms, Offered(d) or Ball(d), got actions {given.text}"
        )
    return given.chosen_by != "number"


def _all_arms(agent: Agent, bandit: Bandit, search: str | None) -> Choice | None:
    """Return the choice among all arms, or None if arms are offered at each call."""
    given = bandit.action_set
    if given.chosen_by == "row":
        return None
    given.check_plays(agent.label, agent.scores)
    actions = given.kernel_actions(bandit.canonical, 0, 0)
    method = ""
    if given.arms_repeat:
        method = search or search_method(agent, bandit.K, bandit.rank)
    return Choice(actions, workspace_on(agent, given, actions, method))
