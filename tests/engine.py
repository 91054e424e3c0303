"""The engine, driven step by step, with what it knows brought back to user coordinates."""

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import reference
from fastes.kernels import agent, deferred, ensemble, loop
from fastes.kernels.agent import full
from fastes.kernels.arms import mean_rewards
from fastes.kernels.certificate import due, renew
from fastes.kernels.deferred import Deferred, grown
from fastes.kernels.loop import Environment, advance, record
from fastes.kernels.streams import THETA, fill_normals, source
from fastes.kernels.tile_product import TILE


def from_python(kernel):
    """Return a function that Python can call for one that only kernels can."""
    return numba.njit(getattr(kernel, "py_func", None) or (lambda *arguments: kernel(*arguments)))


aim = from_python(agent.aim)
learn = from_python(agent.learn)
pay = from_python(loop.pay)


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
            if full(self.state):
                self.state = grown(self.state)
            if due(self.work):
                renew(self.work, self.state, arms)
            rest = (self.environment, self.record, self.source, self.work, start, stop)
            reached = advance(self.state, arms, *rest)
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
    mean_rewards(arms, z, np.empty(TILE), means)
    times = np.arange(1, T + 1)
    kept = record(times, np.zeros(T), np.zeros(bandit.K, np.int64))
    environment = Environment(means, float(means.max()))
    state = agent.initial_state(bandit.K, r, origin)
    work = (workspace or agent.workspace)(arms)
    return Run(bandit, state, environment, kept, origin, work)


def all_models(state, source, mark):
    """Return xi of all models of an ensemble, as they are now."""
    engine = deferred if isinstance(state, Deferred) else ensemble
    return engine.models_between(state, source, mark, 0, state.models.M)


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
