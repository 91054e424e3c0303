"""What a run plays on: the arms on offer, what they pay, and how the best of them is found."""

from typing import Any, NamedTuple

import numpy as np

from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.agents.agent import Agent
from fastes.agents.live_offers import ball_choice, whitening_of
from fastes.agents.search import offer_workspace, search_workspace
from fastes.checks.arrays import Floats
from fastes.kernels.actions import ball, fresh, given, subset
from fastes.kernels.actions.arms import empty_arms, mean_rewards, store_rows
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.loop.environment import BallEnvironment, OfferEnvironment, environments
from fastes.kernels.loop.states import state_at
from fastes.kernels.streams.blocks import no_block
from fastes.kernels.streams.layout import THETA
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source
from fastes.problem.bandit import LinearBandit
from fastes.problem.coordinates import canonical_theta
from fastes.problem.whitening import LARGEST_SPREAD, LARGEST_VALUE, whiten_rows
from fastes.problem.whitening import mean_rewards as mean_rewards_of_rows
from fastes.simulation.experiment import Experiment

_U = np.uint64


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
    z = _true_z(experiment, run)
    if isinstance(given_set, Ball):
        return _ball(bandit, agent, z)
    arms = empty_arms(given_set.arms_on_offer, bandit.rank)
    numbers = np.empty(0, np.int64)
    if isinstance(given_set, Subset):
        pool = subset.Pool(*pool_rows(bandit))
        numbers = np.zeros(given_set.size, np.int64)
        actions: Any = subset.SubsetActions(arms, pool, numbers, subset.empty_table(given_set.size))
    else:
        whitening = whitening_of(bandit)
        if isinstance(given_set, Fresh):
            scratch: Any = fresh.tile_scratch(bandit.d)
            actions = fresh.FreshActions(arms, whitening, given_set.family, scratch)
        else:
            assert isinstance(given_set, Given)
            most = np.array([LARGEST_SPREAD**2, LARGEST_VALUE])
            scratch = given.Scratch(np.zeros(bandit.d), np.zeros(bandit.rank))
            actions = given.GivenActions(arms, whitening, given_set.array, most, scratch)
    environment = OfferEnvironment(
        arms, z, numbers, np.zeros(bandit.rank), np.zeros(TILE), no_block(1)
    )
    return Offers(actions, environment, offer_workspace(agent, arms))


def pool_rows(bandit: LinearBandit) -> tuple[Floats, Floats]:
    """Return b and o of all arms of a pool, an arm a row."""
    from fastes.problem.whitening import rows_and_offsets

    return rows_and_offsets(bandit.canonical)


def _true_z(e: Experiment, run: int) -> Floats:
    """Return theta of a run in canonical coordinates."""
    bandit = e.bandit
    if e.theta is not None:
        theta = e.theta[run % len(e.theta)]
        return canonical_theta(bandit.canonical, theta, bandit.prior_mean)
    z = np.empty(bandit.rank)
    fill_normals(source(e.seed, run), THETA, 0, z)
    return z


def _redrawn(e: Experiment, run: int, search: str) -> Offers:
    bandit = e.bandit
    rows, factor = bandit.actions.rows(e.seed, run, 0), bandit.canonical.factor
    assert factor is not None  # only where there are arms
    arms = empty_arms(len(rows), bandit.rank)
    offsets = mean_rewards_of_rows(rows, bandit.prior_mean, bandit.noise)
    store_rows(arms, 0, whiten_rows(rows, factor, bandit.noise), offsets)
    means = np.empty(len(rows))
    if e.theta is None:
        mean_rewards(arms, _true_z(e, run), np.empty(TILE), means)
    else:
        means = mean_rewards_of_rows(rows, e.theta[run % len(e.theta)], bandit.noise)
    environment = state_at(environments(means[None], bandit.rank), 0)
    return Offers(FixedActions(arms), environment, search_workspace(search, arms))


def _ball(bandit: LinearBandit, agent: Agent, z: Floats) -> Offers:
    actions, work = ball_choice(agent, bandit)
    best, row = float(ball.largest_mean(actions, z)), np.zeros(bandit.rank)
    return Offers(actions, BallEnvironment(actions.arms, z, best, row, no_block(1)), work)
