"""One run of an experiment, as its action set sees it: theta, mean rewards, environments."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fastes.checks import memory
from fastes.checks.arrays import Floats
from fastes.kernels.actions.arms import Arms, tile_count
from fastes.kernels.actions.ball import largest_value as largest_on_ball
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.loop import drifting
from fastes.kernels.loop.drift import Moving
from fastes.kernels.loop.environment import (
    draw_values,
    environments,
    offer_environment,
    pool_environment,
    vector_environment,
)
from fastes.kernels.loop.late import LateRewards, late_rewards
from fastes.kernels.rewards.interface import mean_of_value
from fastes.kernels.states.layout import allocate
from fastes.kernels.states.stack import set_state, stack_states, state_at
from fastes.kernels.streams.layout import THETA
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source
from fastes.problem.coordinates import canonical_theta, largest_value
from fastes.problem.moving import moving_theta
from fastes.problem.whitening import LARGEST_VALUE, Canonical, arm_values, check_size
from fastes.simulation.experiment import Experiment


class Run:
    """One run of an experiment, as its action set sees it."""

    def __init__(self, e: Experiment, run: int) -> None:
        self.canonical: Canonical = e.bandit.canonical
        self.seed, self.run, self._e = e.seed, run, e

    def law(self) -> Any:
        """Return the reward law, for kernels."""
        return allocate(self._e.law)

    def late(self) -> LateRewards:
        """Return the ring of delayed rewards, for kernels."""
        return late_rewards(self._e.waiting, self.canonical.rank)

    def z(self) -> Floats:
        """Return the true theta of step 0 in canonical coordinates."""
        bandit, theta = self._e.bandit, self._e.true_theta(self.run)
        if theta is not None:
            largest = largest_value(theta, bandit.action_set.longest, bandit.rewards.unit)
            check_size("the arms' mean rewards", np.array(largest), LARGEST_VALUE)
            return canonical_theta(bandit.canonical, theta, bandit.prior_mean)
        z = np.empty(bandit.rank)
        fill_normals(source(self.seed, self.run), THETA, 0, z)
        return z

    def moving(self) -> Moving:
        """Return theta at step 0 and how it changes, where it drifts."""
        e = self._e
        assert e.world.truth is not None
        z = self.z() if e.bandit.action_set.needs_coordinates else None
        return moving_theta(e.bandit, e.world.truth, e.place, e.first_theta(self.run), z)

    # Environments, by what an action set offers. `rows` returns arms in the user's coordinates.

    def offer_environment(self, arms: Arms) -> Any:
        """Return the environment of arms that change at every step."""
        if self._e.drift is not None:
            return drifting.drifting_offers(self.moving(), arms, self.law(), self.late())
        return offer_environment(arms, self.z(), self.law(), self.late())

    def vector_environment(self, actions: Any) -> Any:
        """Return the environment of a ball."""
        if self._e.drift is not None:
            copy = self._e.bandit.action_set.kernel_actions(self.canonical, self.seed, self.run)
            return drifting.drifting_vectors(self.moving(), actions, copy, self.law(), self.late())
        z = self.z()
        best = largest_on_ball(actions, z)
        return vector_environment(actions.arms, z, best, self.law(), self.late())

    def pool_environment(self, chosen: Any, rows: Callable[[], Floats]) -> Any:
        """Return the environment of subsets of known arms, given room for their numbers."""
        e, known = self._e, self.canonical
        if e.drift is not None:
            scaled = e.arms_once("rows", partial(_scaled, rows, e.bandit.rewards.unit))
            return drifting.drifting_pool(
                self.moving(), scaled, chosen, known.rank, self.law(), self.late()
            )
        means = _means(e, range(self.run, self.run + 1), known.arms, rows)[0]
        return pool_environment(means, chosen, known.rank, self.law(), self.late())

    def environment(self, arms: Arms, rows: Callable[[], Floats]) -> Any:
        """Return the environment if these arms are on offer at every step."""
        if self._e.drift is not None:
            return self._drifting_environment(rows)
        runs = range(self.run, self.run + 1)
        return state_at(environments_of(self._e, runs, arms, rows), 0)

    def _drifting_environment(self, rows: Callable[[], Floats]) -> Any:
        e = self._e
        made = partial(_tiles, rows, e.bandit.rewards.unit)
        tiles = e.arms_once("tiles", made) if e.bandit.action_set.fixed else made()
        r = self.canonical.rank
        return drifting.drifting_environment(
            self.moving(), tiles, e.bandit.K, r, self.law(), self.late()
        )


def environments_of(
    e: Experiment, runs: range, arms: Arms | None, rows: Callable[[], Floats]
) -> Any:
    """Return a stack of the environments of runs with these arms on offer at every step."""
    if e.drift is None:
        return environments(_means(e, runs, arms, rows), e.bandit.rank, e.law, e.waiting)
    each = [Run(e, run).environment(arms, rows) for run in runs]
    stack = stack_states(each[0], len(runs))
    for i, environment in enumerate(each):
        set_state(stack, i, environment)
    return stack


def _means(e: Experiment, runs: range, arms: Any, rows: Callable[[], Floats]) -> Floats:
    """Return the mean rewards of arms in each run, (runs, K), in units of the noise.

    `arms` are in canonical coordinates, in which theta is drawn; `rows` returns the original ones,
    for a theta from elsewhere.
    """
    values = np.empty((len(runs), arms.K))
    for row, run in zip(values, runs, strict=True):
        theta = e.true_theta(run)
        if theta is None:  # then so for all runs
            z, seed = np.empty(e.bandit.rank), np.uint64(e.seed)
            draw_values(arms, seed, np.uint64(runs.start), z, np.empty(TILE), values)
            break
        row[:] = arm_values(rows(), theta, e.bandit.rewards.unit)
    means: Floats = mean_of_value(allocate(e.law), values)
    return means


def _scaled(rows: Callable[[], Floats], unit: float) -> Floats:
    """Return arms over the noise, one a row."""
    given = rows()
    memory.require("the arms of a theta that drifts", given.nbytes)
    return np.ascontiguousarray(given * (1.0 / unit))


def _tiles(rows: Callable[[], Floats], unit: float) -> Floats:
    """Return arms over the noise in tiles, (tiles, d, TILE), with zeros beyond the last."""
    given = rows()
    K, d = given.shape
    memory.require("the arms of a theta that drifts", 2 * given.nbytes)
    padded = np.zeros((tile_count(K) * TILE, d))
    np.multiply(given, 1.0 / unit, out=padded[:K])
    return np.ascontiguousarray(padded.reshape(-1, TILE, d).transpose(0, 2, 1))
