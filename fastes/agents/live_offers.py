"""What a live agent chooses from: a fixed set, some of its arms, rows that are offered, a ball."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.actions import Ball, Offered
from fastes.agents.agent import Agent
from fastes.agents.search import offer_bytes, offer_workspace, search_method, search_workspace
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.kernels.actions import ball
from fastes.kernels.actions.arms import Arms, empty_arms, tile_count
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.actions.subset import Pool, gather
from fastes.kernels.actions.whitening import Whitening
from fastes.kernels.search.ball_search import ball_search
from fastes.kernels.search.scan import NoSearch
from fastes.problem.bandit import LinearBandit
from fastes.problem.coordinates import kernel_whitening
from fastes.problem.whitening import LARGEST_SPREAD, LARGEST_VALUE, rows_and_offsets

MOST = np.array([LARGEST_SPREAD**2, LARGEST_VALUE])
"""The largest |b|^2 and |o| of an arm that is offered."""


class Choice(NamedTuple):
    """What an agent chooses from, for its kernel."""

    actions: Any
    work: Any


def fixed_choice(agent: Agent, bandit: LinearBandit) -> Choice:
    """Return the choice from all arms of a fixed set."""
    arms = bandit.canonical.arms
    method = search_method(agent, bandit.K, bandit.rank)
    return Choice(FixedActions(arms), search_workspace(method, arms))


def check_plays(agent: Agent, bandit: LinearBandit) -> None:
    """Raise ValueError where an agent does not play on the problem's action set."""
    if not isinstance(bandit.actions, Ball):
        return
    if agent.scores == "information":
        raise ValueError(
            f"agent {agent.label} does not play on a Ball, got {bandit.actions}: "
            "each of its arms is the best with probability zero"
        )
    if agent.scores == "any":
        raise ValueError(f"{agent.label} scores one arm after the other: a ball has too many")


def ball_choice(agent: Agent, bandit: LinearBandit) -> Choice:
    """Return the choice from a ball, or raise ValueError."""
    check_plays(agent, bandit)
    given: Ball = bandit.actions
    d, r = bandit.d, bandit.rank
    scratch = ball.Scratch(np.zeros(d), np.zeros(r), np.zeros(d + 2))
    whitening = kernel_whitening(bandit.canonical, bandit.prior_mean, bandit.noise, given.exponent)
    radius = math.ldexp(given.radius, -given.exponent)
    actions = ball.BallActions(empty_arms(1, r), whitening, radius, scratch)
    quadratic = agent.scores == "quadratic"
    work = NoSearch(1) if agent.scores == "none" else ball_search(actions, quadratic)
    return Choice(actions, work)


def whitening_of(bandit: LinearBandit) -> Whitening:
    """Return the change of coordinates of a problem whose arms are not known before."""
    return kernel_whitening(bandit.canonical, bandit.prior_mean, bandit.noise)


class Offer:
    """Room for the arms of one call of `act`, which grows as it is needed."""

    def __init__(self, agent: Agent, bandit: LinearBandit) -> None:
        self._agent, self._bandit = agent, bandit
        self._pool: Pool | None = None
        self._make_room(64)

    def _make_room(self, n: int) -> None:
        r = self._bandit.rank
        needed = empty_arms.nbytes(n, r) + offer_bytes(self._agent, n, r)
        require(f"{n:,} arms on offer", needed)
        self._arms: Arms = empty_arms(n, r)
        self._last = FixedActions(self._arms)
        self._work: Any = offer_workspace(self._agent, self._arms)

    def _actions_for(self, n: int) -> FixedActions:
        """Return room for n arms, the same as for the last call if that had as many."""
        if self._last.arms.K != n:
            if n > self._arms.K:
                self._make_room(max(n, 2 * self._arms.K))
            tiles = tile_count(n)
            parts = {"tiles": self._arms.tiles[:tiles], "offsets": self._arms.offsets[:tiles]}
            self._last = FixedActions(self._arms._replace(**parts, K=n))
        return self._last

    def rows(self, actions: ArrayLike) -> tuple[Floats, Choice]:
        """Return rows, (n, d), and the choice from them once a kernel has stored them, or raise."""
        rows = checked_rows("actions", actions, self._bandit.d)
        if len(rows) == 0:
            raise ValueError("actions must hold at least one arm, got none")
        return rows, Choice(self._actions_for(len(rows)), self._work)

    def some(self, chosen: NDArray[np.int64]) -> Choice:
        """Return the choice from arms of a fixed set, by their numbers."""
        if self._pool is None:
            self._pool = Pool(*rows_and_offsets(self._bandit.canonical))
        actions = self._actions_for(len(chosen))
        gather(actions.arms, self._pool, chosen)
        return Choice(actions, self._work)


def checked_rows(name: str, given: ArrayLike, d: int) -> Floats:
    """Return arms as rows, (n, d), or raise; a kernel checks what is in them."""
    rows = given if type(given) is np.ndarray else np.asarray(given)
    if rows.dtype != np.float64:
        rows = arrays.array(name, given)
    if rows.ndim == 1 and name == "row":
        rows = rows[None]
    if rows.ndim != 2 or (rows.shape[1] != d and rows.size):
        raise ValueError(f"{name} must be rows of {d} numbers, got shape {np.shape(given)}")
    return np.ascontiguousarray(rows)


def refused(name: str, row: Floats) -> ValueError:
    """Return the error of an arm that a kernel did not take."""
    return ValueError(
        f"{name} must be finite, and its value within the limits of a problem, got {row}"
    )


def needs_rows(bandit: LinearBandit) -> bool:
    """Return whether arms are observed by their rows, or raise: live agents take no such set."""
    if bandit.action_set is None:
        return False
    if isinstance(bandit.actions, (Offered, Ball)):
        return True
    raise ValueError(
        "a live agent takes fixed arms, Offered(d) or Ball(d), "
        f"got actions {bandit.action_set.words}"
    )
