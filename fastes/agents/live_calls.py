"""What the methods of a live agent share: checks of what callers pass, and calls of kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.agents.agent import Agent
from fastes.agents.live_law import ArmProbabilities, known_again, law_on
from fastes.agents.live_lock import new_lock
from fastes.agents.live_rows import Choice, Room, checked_rows, refused
from fastes.agents.search import renew_search, search_method, workspace_on
from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.kernels.actions.whitening import first_refused, store_whitened
from fastes.kernels.agents.interface import needs_capacity
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import (
    Live,
    act,
    act_on_offers,
    act_on_rows,
    act_slate,
    observe,
    observe_rows,
)
from fastes.kernels.search.certificate import snapshot_due
from fastes.kernels.search.slate import slate_search
from fastes.kernels.streams.philox import source
from fastes.problem.bandit import Bandit

Numbers = NDArray[np.int64]

_PLAIN = (float, int, bool)
"""Types of a single reward with a fast check."""

MOST_AT_ONCE = 10_000  # rewards or choices per kernel call, so that Ctrl-C is noticed

_LARGEST_SLATE = 1 << 24  # of which each arm has a random number

_NO_BOX = None, None, None


class LiveCalls:
    """The state of a live agent, and the calls that use it. Callers hold the lock."""

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
        self._by_row = plays_by_row(bandit)
        self._all = _all_arms(agent, bandit, search)
        self._room = Room(agent, bandit.canonical)
        self._lock = new_lock()  # held by calls that use the state or scratch memory
        self._whitening = bandit.canonical.whitening() if self._by_row else None
        self._limits = bandit.canonical.limits
        self._by_vector = bandit.action_set.chosen_by == "vector"
        # Computed once: calls take 2 us.
        self._K, self._d, self._most_steps = bandit.K, bandit.d, agent.max_steps
        self._due = snapshot_due.body_of(type(self._all.work if self._all else None))
        self._row = np.empty(bandit.rank)
        self._boxes: dict[tuple[bool, bool], tuple[Any, ...]] = {}  # state, actions, box
        self._one_arm, self._one_reward = np.empty(1, np.int64), np.empty(1)
        self._acts = acts
        self._observed = np.array([observations], np.int64)  # counted by kernels

    def _act_on_offers(self, rows: Floats, ends: Numbers) -> Numbers:
        """Choose from each offer, rows ends[i], ..., ends[i + 1] - 1."""
        wrong = first_refused(self._whitening, rows, self._limits, self._row)
        if wrong >= 0:
            user = int(np.searchsorted(ends, wrong, side="right")) - 1
            raise refused(f"offers[{user}][{wrong - ends[user]}]", rows[wrong])
        choice = self._room.of(int(np.diff(ends).max(initial=1)))
        out = np.empty(len(ends) - 1, np.int64)
        return self._act_in_turn(
            choice, out, lambda box, *rest: act_on_offers(box, rows, ends, *rest)
        )

    def _act_in_turn(self, choice: Choice, out: Numbers, act_some: Callable[..., int]) -> Numbers:
        """Fill `out` with choices."""
        t, done = self._acts, 0
        while done < len(out):
            self._renew_if_due(choice)
            last, box = min(done + MOST_AT_ONCE, len(out)), self._box_of(choice)
            reached = int(act_some(box, t, done, last, out))
            if reached == done and not self._is_due(choice):
                self._grow()
            done, self._acts = reached, t + reached
        return out

    def _law(self, rows: Floats | None, choice: Choice) -> ArmProbabilities:
        if self._by_vector:
            raise TypeError("each arm of a ball has probability 0: there is no law to return")
        if rows is not None:
            self._store(rows, choice)
        arms = choice.actions.arms
        arms = arms if choice is self._all else known_again(arms)
        return law_on(self.agent, self._state, arms, self._source, self._acts)

    def _store(self, rows: Floats, choice: Choice) -> None:
        """Store the rows on offer as the arms of a choice, or raise."""
        arms = choice.actions.arms
        wrong = store_whitened(arms, self._whitening, rows, self._row, self._limits)
        if wrong >= 0:
            raise refused(f"actions[{wrong}]", rows[wrong])

    def _slate(self, rows: Floats | None, choice: Choice, k: int) -> Numbers:
        """Choose the k best arms of one model."""
        if self._by_vector or self.agent.scores == "information":
            label, text = self.agent.label, self.bandit.action_set.text
            why = f"arms are {text}" if self._by_vector else f"{label} gives single arms no score"
            raise TypeError(f"k arms cannot be chosen: {why}")
        out = np.empty(numbers.integer("k", k, 1, min(choice.actions.arms.K, _LARGEST_SLATE)), int)
        if rows is not None:
            self._store(rows, choice)
        while int(act_slate(self._box_of(choice, slate=True), self._acts, out)) < len(out):
            self._grow()
        self._acts += 1
        return out

    def _choose(self, rows: Floats | None, choice: Choice) -> int:
        """Choose an arm. Return its position among those of the choice."""
        while True:
            self._renew_if_due(choice)
            box = self._box_of(choice)
            if rows is None:
                arm = act(box, self._acts)
            else:
                arm = act_on_rows(box, rows, self._acts)
                if arm < -1:
                    raise refused(f"actions[{-2 - arm}]", rows[-2 - arm])
            if arm >= 0:
                self._acts += 1
                return int(arm)
            self._grow()

    def _grow(self) -> None:
        """Give the state more capacity, or raise if it needs none: then scores are nan."""
        if not needs_capacity(self._state):
            raise FloatingPointError(
                f"the posterior failed numerically: {self.bandit.rewards.lost}"
            )
        self._state = self.agent.with_capacity(self._state)

    def _is_due(self, choice: Choice) -> bool:
        """Return whether the search is to be renewed: only one among all arms ever is."""
        return choice is self._all and self._due(choice.work)

    def _renew_if_due(self, choice: Choice) -> None:
        if choice is self._all and self._due(choice.work):
            renew_search(choice.work, self._state, choice.actions.arms)

    def _renew_search(self) -> None:
        """Renew the search among all arms, due or not."""
        if self._all is not None:
            with self._lock:
                renew_search(self._all.work, self._state, self._all.actions.arms)

    def _box_of(self, choice: Choice, slate: bool = False) -> Any:
        """Return the box of what kernels use, a new one if the state or the actions are new."""
        kind, (actions, work) = (choice is self._all, slate), choice
        state, of, box = self._boxes.get(kind, _NO_BOX)
        if state is not self._state or of is not actions:
            known = self._source, self._observed, self._row
            rows = (self._whitening, self._limits) if self._by_row else ()
            used = slate_search(actions.arms) if slate else work
            box = boxed(Live(self._state, actions, used, *known, *rows))
            self._boxes[kind] = self._state, actions, box
        return box

    def _choice(
        self, actions: ArrayLike | None, available: ArrayLike | None
    ) -> tuple[Floats | None, Numbers | None, Choice]:
        """Return the rows on offer, the arms' numbers if not 0, 1, ..., and the choice."""
        if actions is None and available is None and self._all is not None:
            return None, None, self._all
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
        assert available is not None
        chosen = self._checked_arms("available", available)
        if len(chosen) == 0 or len(np.unique(chosen)) < len(chosen):
            raise ValueError("available must have at least one arm, and each once")
        return None, chosen, self._room.some(chosen)

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
        law = self.bandit.rewards
        rows = checked_rows("row", row, self._d)
        if len(rows) == 1 and type(reward) in _PLAIN and law.takes(reward):
            self._one_reward[0] = float(reward) / law.unit  # type: ignore[arg-type]
            return rows, self._one_reward  # fast path
        rewards = law.checked(reward)
        if len(rows) != len(rewards):
            raise ValueError(
                f"row and reward must be single or of equal length, got shapes {np.shape(row)} "
                f"and {np.shape(reward)}"
            )
        if len(rows) > MOST_AT_ONCE:  # else the kernel checks them before it learns
            wrong = first_refused(self._whitening, rows, self._limits, self._row)
            if wrong >= 0:
                raise refused("row", rows[wrong])
        return rows, rewards

    def _checked(self, arm: ArrayLike, reward: ArrayLike) -> tuple[Numbers, Floats]:
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

    def _checked_arms(self, name: str, given: ArrayLike) -> Numbers:
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


def plays_by_row(bandit: Bandit) -> bool:
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
