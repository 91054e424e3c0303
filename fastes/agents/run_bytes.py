"""The memory of a run, computed from the sizes of its problem."""

from typing import NamedTuple

from fastes.agents.agent import Agent
from fastes.agents.search import offer_bytes, search_bytes
from fastes.kernels.loop.late import late_rewards
from fastes.problem.sizes import ProblemSizes


class RunBytes(NamedTuple):
    """The memory of a run, by use."""

    state: int  # the agent's state, and delayed rewards
    search: int  # the search for the best arm
    offers: int  # the arms on offer, if they are not those of the problem
    means: int  # mean rewards and numbers of plays


def run_bytes(agent: Agent, problem: ProblemSizes, T: int, waiting: int) -> RunBytes:
    """Return the peak memory of a run of T steps with at most `waiting` delayed rewards."""
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
