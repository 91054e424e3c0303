"""Ahead-of-time compilation of the kernels that agents need.

Machine code depends on the types of an agent's state, of the action set, the reward law and the
search, not on sizes. Sizes determine the search and the mode (`fastes.agents.search`,
`fastes.simulation.plan`), which are then compiled by a few steps on a tiny problem.
"""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fastes.actions import ActionSet, Fixed
from fastes.actions.families import few_arms, random_arms
from fastes.agents.agent import Agent
from fastes.agents.live import start_live
from fastes.agents.search import search_method
from fastes.kernels.arithmetic.tile_product import MODELS
from fastes.problem.bandit import Bandit
from fastes.problem.bandits import bandit_class
from fastes.simulation.execute import execute
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import RunPlan, modes

_STEPS = 3
_DRAWS = 512  # with fewer, a probe does not compute the information gain


def compilations(
    agent: Agent, actions: ActionSet, T: int, rewards: str = "gaussian"
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield (name, function that compiles) for what an agent needs on an action set.

    That is simulations of T steps, diagnostics if arms are fixed and the agent can be measured, and
    live agents where there are any; for a `Subset`, on fixed arms of which some are available.
    """
    K, r = actions.K or 1, min(actions.counted_arms or actions.d, actions.d)
    bandit = _bandit(actions.small(), rewards)
    search = search_method(agent, K, r) if actions.arms_repeat else "scan"
    if actions.simulated:
        for mode in modes(agent, K, r, T) if actions.fixed else ["alone"]:
            batch = 1 if mode == "alone" else MODELS
            yield mode, _runs(bandit, agent, RunPlan(1, batch, mode, search))
        if agent.shared_cost(r) > 0:
            yield "shared update", _runs(bandit, agent, RunPlan(1, 1, "alone", search, sharing=2))
    if actions.fixed and agent.believes_posterior:
        yield "diagnostics", _runs(bandit, agent, RunPlan(1, 1, "alone", search), probe=True)
    if actions.live:
        yield "live", lambda: _live(bandit, agent, search)
    elif actions.counted_arms:  # a live agent knows all of them
        whole = search_method(agent, actions.counted_arms, r)
        yield "live", lambda: _live(_bandit(Fixed(few_arms()), rewards), agent, whole, some=True)


def _bandit(actions: ActionSet, rewards: str) -> Bandit:
    """Return a problem whose coordinates need a matrix, which takes more kernels than a number."""
    random_arms("uniform", 1, 1, 0).draw()  # others have kernels that the sphere has too
    return bandit_class(rewards)(actions, 0.0, np.array([[1.0, 0.1], [0.1, 1.0]]))  # type: ignore[call-arg]


def _runs(bandit: Bandit, agent: Agent, plan: RunPlan, probe: bool = False) -> Callable[[], None]:
    """Return a function that does a few steps of one batch of runs."""

    def run() -> None:
        times = np.array([1]) if probe else None
        experiment = Experiment(
            bandit, (agent,), _STEPS, plan.batch, 0, probe_times=times, samples=_DRAWS
        )
        execute(experiment, agent, empty_partial_result(experiment, range(plan.batch)), plan)

    return run


def _live(bandit: Bandit, agent: Agent, search: str, some: bool = False) -> None:
    """Do what a user of a live agent does; `some`: on a part of the arms too."""
    live = start_live(agent, bandit, 0, search)
    by_row = bandit.action_set.chosen_by == "row"
    rows = few_arms().draw()
    arm: Any = live.act(rows) if by_row else live.act()
    live.observe(rows[arm] if by_row else arm, 0.0)
    if some:
        live.act(available=[0, 1])
    live._renew_search()
    pickle.loads(pickle.dumps(live))
