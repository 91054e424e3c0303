"""The memory that one run takes, from the sizes of its problem alone."""

from typing import NamedTuple

from fastes.agents.agent import Agent
from fastes.agents.search import ball_bytes, offer_bytes, search_bytes
from fastes.kernels.actions.arms import empty_arms
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.loop.late import late_rewards
from fastes.problem.sizes import FIXED, ProblemSizes


class RunBytes(NamedTuple):
    """The memory of one run, by what takes it; their sum is all."""

    state: int  # the agent's, and the rewards that are late
    search: int  # for the best arm
    offers: int  # the arms on offer, where they are not the problem's own
    means: int  # what the arms pay, and how often each was played


def run_bytes(agent: Agent, problem: ProblemSizes, T: int, waiting: int) -> RunBytes:
    """Return the most memory that one run takes in T steps, of whose rewards some are `waiting`."""
    K, d, r = problem.K or 1, problem.d, problem.rank
    if problem.arms_repeat:
        state, search = agent.state_bytes(K, r, T), search_bytes(agent, K, r)
    else:
        state = agent.state_bytes(None, r, T)
        search = ball_bytes(agent, d, r) if problem.kind == "ball" else offer_bytes(agent, K, r)
    return RunBytes(
        state=state + late_rewards.nbytes(waiting, r),
        search=search,
        offers=0
        if problem.kind == FIXED
        else empty_arms.nbytes(K, r) + 8 * _numbers_on_offer(problem),
        means=2 * 8 * max(K, problem.counted_arms),
    )


def _numbers_on_offer(problem: ProblemSizes) -> int:
    """Return how many numbers are kept of arms on offer, beside their canonical form."""
    kind, K, d, r, pool = (
        problem.kind,
        problem.K or 1,
        problem.d,
        problem.rank,
        problem.counted_arms,
    )
    if kind == "redrawn":
        return K * (d + 2 * r)  # while they are made: their rows, and these whitened and checked
    if kind == "subset":
        return pool * (r + 1) + 6 * K  # of each arm in the pool its row; of a subset, a table
    whitening = 3 * d + (d * r if problem.full else 0)
    return whitening + (TILE * (d + 2) if kind == "fresh" else 2 * d + r + 2)
