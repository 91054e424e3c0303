"""The memory that one run takes, from the sizes of its problem alone."""

from typing import NamedTuple

from fastes.agents.agent import Agent
from fastes.agents.search import offer_bytes, search_bytes
from fastes.kernels.loop.late import late_rewards
from fastes.problem.sizes import ProblemSizes


class RunBytes(NamedTuple):
    """The memory of one run, by what takes it; their sum is all."""

    state: int  # the agent's, and the rewards that are late
    search: int  # for the best arm
    offers: int  # the arms on offer, where they are not the problem's own
    means: int  # what the arms pay, and how often each was played


def run_bytes(agent: Agent, problem: ProblemSizes, T: int, waiting: int) -> RunBytes:
    """Return the most memory that one run takes in T steps, of whose rewards some are `waiting`."""
    given, K, r = problem.actions, problem.K, problem.rank
    if given.arms_repeat:
        state = agent.state_bytes(K, r, T, problem.rewards)
        search = search_bytes(agent, K, r)
    else:
        state = agent.state_bytes(None, r, T, problem.rewards, given.keys)
        own = given.search_bytes(agent.scores, r)
        search = offer_bytes(agent, K, r) if own is None else own
    return RunBytes(
        state=state + late_rewards.nbytes(waiting, r),
        search=search,
        offers=given.offer_bytes(r, problem.full),
        means=2 * 8 * max(K, given.counted_arms),
    )
