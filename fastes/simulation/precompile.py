"""Ahead-of-time compilation of the kernels that agents need.

Machine code depends on the types of an agent's state and search, not on sizes. Sizes determine the
search and the mode (`fastes.agents.search`, `fastes.simulation.plan`), which are then compiled by a
few steps on a tiny problem.
"""

from collections.abc import Callable, Iterator

import numpy as np

from fastes.agents.agent import Agent
from fastes.agents.search import search_method, search_workspace
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents.interface import saved_arrays
from fastes.kernels.arithmetic.tile_product import MODELS
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live, act, observe
from fastes.kernels.search.certificate import retake_snapshot
from fastes.kernels.streams.philox import source
from fastes.problem.linear import LinearBandit
from fastes.simulation.execute import execute
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import RunPlan, modes

_STEPS = 3
_DRAWS = 512  # with fewer, a probe does not compute the information gain


def compilations(agent: Agent, K: int, d: int, T: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield (name, function that compiles) for what an agent needs at these sizes."""
    r = min(K, d)
    search = search_method(agent, K, r)
    for mode in modes(agent, K, r, T):
        batch = 1 if mode == "alone" else MODELS
        yield mode, _runs(agent, RunPlan(1, batch, mode, search))
    if agent.shared_cost(r) > 0:
        yield "shared update", _runs(agent, RunPlan(1, 1, "alone", search, sharing=2))
    yield "diagnostics", _runs(agent, RunPlan(1, 1, "alone", search), probe=True)
    yield "live", lambda: _live(agent, search)


def _problem() -> LinearBandit:
    return LinearBandit.random(2 * MODELS, 2)


def _runs(agent: Agent, plan: RunPlan, probe: bool = False) -> Callable[[], None]:
    """Return a function that does a few steps of one batch of runs."""

    def run() -> None:
        times = np.array([1]) if probe else None
        experiment = Experiment(
            _problem(), (agent,), _STEPS, plan.batch, 0, probe_times=times, samples=_DRAWS
        )
        execute(experiment, agent, empty_partial_result(experiment, range(plan.batch)), plan)

    return run


def _live(agent: Agent, search: str) -> None:
    """Exercise a live agent: steps, saving, restoring, and a snapshot if it has any."""
    bandit, origin = _problem(), source(0)
    arms, row, count = bandit.canonical.arms, np.empty(bandit.rank), np.zeros(1, np.int64)
    actions, work = FixedActions(arms), search_workspace(search, arms)
    state = agent.initial_state(bandit.K, bandit.rank, origin, rewards=bandit.rewards)
    box = boxed(Live(state, actions, work, origin, count, row))
    observe(box, np.array([act(box, 0)]), np.zeros(1))
    agent.restored_state(saved_arrays(state), arms, bandit.rank, rewards=bandit.rewards)
    retake_snapshot(work, state, arms)
