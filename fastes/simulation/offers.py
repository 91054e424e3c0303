"""What a run plays on: the arms on offer, what they pay, and how the best of them is found."""

from typing import Any, NamedTuple

import numpy as np

from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.agents.agent import Agent
from fastes.agents.live_offers import ball_choice, whitening_of
from fastes.agents.search import offer_workspace, search_workspace
from fastes.checks.arrays import Floats
from fastes.kernels.actions import ball, fresh, given, subset
from fastes.kernels.actions.arms import Arms, empty_arms, store_rows
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.loop.environment import (
    BallEnvironment,
    OfferEnvironment,
    PoolEnvironment,
    draw_values,
    environments,
)
from fastes.kernels.loop.late import late_rewards
from fastes.kernels.rewards.interface import mean_of_value
from fastes.kernels.states.layout import allocate
from fastes.kernels.states.stack import state_at
from fastes.kernels.streams.layout import THETA
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source
from fastes.problem.coordinates import canonical_theta, largest_value
from fastes.problem.whitening import (
    LARGEST_SPREAD,
    LARGEST_VALUE,
    arm_values,
    check_size,
    rows_and_offsets,
    whiten_rows,
)
from fastes.simulation.experiment import Experiment


class Offers(NamedTuple):
    """What a run plays on, for its loop."""

    actions: Any  # a kernel's action set
    environment: Any
    work: Any  # the search for the best arm


def offers_of_run(experiment: Experiment, agent: Agent, run: int, search: str) -> Offers:
    """Return what one run of an experiment plays on, where the arms are not fixed."""
    given_set, bandit = experiment.bandit.actions, experiment.bandit
    if isinstance(given_set, Redrawn):
        return _redrawn(experiment, run, search)
    if isinstance(given_set, Ball):
        return _ball(experiment, agent, run)
    arms = empty_arms(given_set.arms_on_offer, bandit.rank)
    work = offer_workspace(agent, arms)
    if isinstance(given_set, Subset):
        return Offers(*_subset(experiment, run, arms), work)
    whitening = whitening_of(bandit)
    if isinstance(given_set, Fresh):
        scratch: Any = fresh.tile_scratch(bandit.d)
        actions: Any = fresh.FreshActions(arms, whitening, given_set.family, scratch)
    else:
        assert isinstance(given_set, Given)
        most = np.array([LARGEST_SPREAD**2, LARGEST_VALUE])
        scratch = given.Scratch(np.zeros(bandit.d), np.zeros(bandit.rank))
        actions = given.GivenActions(arms, whitening, given_set.array, most, scratch)
    z, row = _true_z(experiment, run), np.zeros(bandit.rank)
    environment = OfferEnvironment(arms, z, row, np.zeros(TILE), *_law_and_late(experiment))
    return Offers(actions, environment, work)


def _law_and_late(e: Experiment) -> tuple[Any, Any]:
    return allocate(e.law), late_rewards(e.waiting, e.bandit.rank)


def means_of_runs(e: Experiment, runs: range, arms: Arms | None, rows: Floats) -> Floats:
    """Return what arms pay in each run, (runs, K), in units of the noise.

    The arms are given in canonical coordinates, in which theta is drawn, and as rows, for a theta
    that comes from elsewhere.
    """
    values = np.empty((len(runs), len(rows)))
    for row, run in zip(values, runs, strict=True):
        theta = e.true_theta(run)
        if theta is None:  # of no run then
            z, seed = np.empty(e.bandit.rank), np.uint64(e.seed)
            draw_values(arms, seed, np.uint64(runs.start), z, np.empty(TILE), values)
            break
        row[:] = arm_values(rows, theta, e.bandit.noise)
    means: Floats = mean_of_value(allocate(e.law), values)
    return means


def _true_z(e: Experiment, run: int) -> Floats:
    """Return theta of a run in canonical coordinates."""
    bandit, theta = e.bandit, e.true_theta(run)
    if theta is not None:
        largest = largest_value(theta, bandit.actions.longest, bandit.noise)
        check_size("the arms' mean rewards", np.array(largest), LARGEST_VALUE)
        return canonical_theta(bandit.canonical, theta, bandit.prior_mean)
    z = np.empty(bandit.rank)
    fill_normals(source(e.seed, run), THETA, 0, z)
    return z


def _subset(e: Experiment, run: int, arms: Arms) -> tuple[Any, Any]:
    bandit, given_set = e.bandit, e.bandit.actions
    chosen = np.zeros(given_set.size, np.int64)
    pool = subset.Pool(*rows_and_offsets(bandit.canonical))
    actions = subset.SubsetActions(arms, pool, chosen, subset.empty_table(given_set.size))
    runs = range(run, run + 1)
    means = means_of_runs(e, runs, bandit.canonical.arms, given_set.pool)[0]
    row = np.zeros(bandit.rank)
    return actions, PoolEnvironment(means, chosen, row, *_law_and_late(e))


def _redrawn(e: Experiment, run: int, search: str) -> Offers:
    bandit = e.bandit
    rows, factor = bandit.actions.rows(e.seed, run, 0), bandit.canonical.factor
    assert factor is not None  # only where there are arms
    arms = empty_arms(len(rows), bandit.rank)
    offsets = arm_values(rows, bandit.prior_mean, bandit.noise)
    store_rows(arms, 0, whiten_rows(rows, factor, bandit.noise), offsets)
    means = means_of_runs(e, range(run, run + 1), arms, rows)
    environment = state_at(environments(means, bandit.rank, e.law, e.waiting), 0)
    return Offers(FixedActions(arms), environment, search_workspace(search, arms))


def _ball(e: Experiment, agent: Agent, run: int) -> Offers:
    (actions, work), z = ball_choice(agent, e.bandit), _true_z(e, run)
    law, late = _law_and_late(e)
    best = float(mean_of_value(law, ball.largest_value(actions, z)))
    environment = BallEnvironment(actions.arms, z, best, np.zeros(e.bandit.rank), law, late)
    return Offers(actions, environment, work)
