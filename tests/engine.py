"""The engine, driven step by step, with what it knows brought back to user coordinates."""

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import reference
from fastes.kernels.actions.arms import arm_values
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents import interface
from fastes.kernels.agents.interface import needs_capacity
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.ensembles.deferred import with_capacity
from fastes.kernels.ensembles.deviations import models_between
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop import live
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.environment import Environment, draw_reward, environments
from fastes.kernels.loop.record import record
from fastes.kernels.rewards.gaussian import gaussian_rewards
from fastes.kernels.search.certificate import retake_snapshot, snapshot_due
from fastes.kernels.states.stack import state_at
from fastes.kernels.streams.layout import THETA
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source

from fastes.agents.search import search_method, search_workspace


def from_python(kernel):
    """Return a function that Python can call for one that only kernels can."""
    return numba.njit(getattr(kernel, "py_func", None) or (lambda *arguments: kernel(*arguments)))


prepare = from_python(interface.prepare)
learn = from_python(interface.learn)
pay = from_python(draw_reward)


@dataclass
class Run:
    """One run in progress."""

    bandit: Any
    state: Any
    environment: Environment
    record: Any
    source: Any
    work: Any

    def advance(self, start: int, stop: int) -> None:
        arms = self.bandit.canonical.arms
        while start < stop:
            if needs_capacity(self.state):
                self.state = with_capacity(self.state)
            if snapshot_due(self.work):
                retake_snapshot(self.work, self.state, arms)
            rest = (self.environment, self.record, self.source, self.work, start, stop)
            reached = advance(self.state, FixedActions(arms), *rest)
            assert reached > start
            start = reached

    def step(self, t: int) -> int:
        """Do step t and return the arm that was played."""
        before = self.record.counts.copy()
        self.advance(t, t + 1)
        return int(np.argmax(self.record.counts - before))


def start(bandit, agent, T, seed=0, run=0, workspace=None):
    """Return a run at its start, with the agent's own way to search or a given one."""
    arms, r = bandit.canonical.arms, bandit.rank
    origin = source(seed, run)
    z, means = np.empty(r), np.empty(bandit.K)
    fill_normals(origin, THETA, 0, z)
    arm_values(arms, z, np.empty(TILE), means)
    times = np.arange(1, T + 1)
    kept = record(times, np.zeros(T), np.zeros(bandit.K, np.int64))
    environment = state_at(environments(means[None], r, gaussian_rewards.layout()), 0)
    state = agent.initial_state(bandit.K, r, origin)
    method = search_method(agent, bandit.K, r)
    work = workspace(arms) if workspace else search_workspace(method, arms)
    return Run(bandit, state, environment, kept, origin, work)


def observe(state, arms, source, t, arm, reward):
    """Let an agent learn the reward of an arm of a fixed set, in units of the noise."""
    row = np.empty(arms.tiles.shape[1])
    box = boxed(live.Live(state, FixedActions(arms), None, source, np.array([t]), row))
    return live.observe(box, np.array([arm]), np.array([float(reward)])) == 1


def act(state, arms, source, t, work):
    """Return the arm of a fixed set that an agent chooses."""
    count, row = np.zeros(1, np.int64), np.empty(arms.tiles.shape[1])
    return live.act(boxed(live.Live(state, FixedActions(arms), work, source, count, row)), t)


def all_models(state, source, probe_index):
    """Return xi of all models of an ensemble, as they are now."""
    return models_between(state, source, probe_index, 0, state.models.M)


def lift(bandit):
    """Return U (d x r) with theta = mu0 + U z up to what no arm can tell.

    U = Cov(theta, z): F where Sigma0 itself was factored, else the regression of theta on the
    arms' values.
    """
    factor = bandit.canonical.factor
    if factor is None:
        problem = as_reference(bandit)
        values = problem.actions @ problem.covariance @ problem.actions.T
        return problem.covariance @ problem.actions.T @ np.linalg.pinv(values) @ rows(bandit)
    if np.ndim(factor) == 0:
        return factor * np.eye(bandit.d)
    if np.ndim(factor) == 1:
        kept = np.flatnonzero(factor) if factor.any() else [0]
        return np.diag(factor)[:, kept]
    return factor


def rows(bandit):
    """Return sigma b (K x r) from the tiles."""
    tiles = bandit.canonical.arms.tiles
    return bandit.noise * tiles.transpose(0, 2, 1).reshape(-1, bandit.rank)[: bandit.K]


def offsets(bandit):
    """Return sigma o (K)."""
    return bandit.noise * bandit.canonical.arms.offsets.ravel()[: bandit.K]


def as_reference(bandit):
    return reference.Problem.of(bandit.actions, bandit.prior_mean, bandit.prior_cov, bandit.noise)
