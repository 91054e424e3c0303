"""Ahead-of-time compilation of the kernels that agents need.

Machine code depends on the types of an agent's state, of the action set, the reward law and the
search, not on sizes. Sizes determine the search and the mode (`fastes.agents.search`,
`fastes.simulation.plan`), which are then compiled by a few steps on a tiny problem.
"""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fastes.actions import (
    ActionSet,
    Ball,
    Fixed,
    Fresh,
    Given,
    Offered,
    Redrawn,
    Subset,
)
from fastes.actions.families import random_arms
from fastes.agents.agent import Agent
from fastes.agents.live import start_live
from fastes.agents.search import search_method
from fastes.checks.arrays import Floats
from fastes.kernels.arithmetic.tile_product import MODELS
from fastes.problem.bandit import Bandit
from fastes.problem.bandits import bandit_class
from fastes.simulation.execute import execute
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import RunPlan, modes

_STEPS = 3
_DRAWS = 512  # with fewer, a probe does not compute the information gain
_ARMS = 2 * MODELS


def compilations(
    agent: Agent, actions: ActionSet, T: int, rewards: str = "gaussian"
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield (name, function that compiles) for what an agent needs on an action set.

    That is simulations of T steps, diagnostics if arms are fixed, and live agents where there are
    any: on fixed arms, and on a subset of them if `actions` is a `Subset`.
    """
    small, K, r = _small(actions), actions.K or 1, min(actions.counted_arms or actions.d, actions.d)
    bandit = _bandit(small, rewards)
    search = search_method(agent, K, r) if actions.arms_repeat else "scan"
    if actions.simulated:
        for mode in modes(agent, K, r, T) if actions.fixed else ["alone"]:
            batch = 1 if mode == "alone" else MODELS
            yield mode, _runs(bandit, agent, RunPlan(1, batch, mode, search))
        if agent.shared_cost(r) > 0:
            yield "shared update", _runs(bandit, agent, RunPlan(1, 1, "alone", search, sharing=2))
    if actions.fixed:
        yield "diagnostics", _runs(bandit, agent, RunPlan(1, 1, "alone", search), probe=True)
    if actions.live:
        yield "live", lambda: _live(bandit, agent, search)
    elif isinstance(actions, Subset):
        whole = search_method(agent, actions.counted_arms, r)
        yield "live", lambda: _live(_bandit(Fixed(_rows()), rewards), agent, whole, some=True)


def _rows() -> Floats:
    random_arms("uniform", _ARMS, 2, 0).draw()  # the only family with a kernel of its own
    return random_arms("sphere", _ARMS, 2, 0).draw()


_SMALL: dict[type[ActionSet], Callable[[], ActionSet]] = {
    Fixed: lambda: Fixed(_rows()),
    Redrawn: lambda: Redrawn(_ARMS, 2),
    Fresh: lambda: Fresh(_ARMS, 2),
    Subset: lambda: Subset(_rows(), _ARMS // 2),
    Given: lambda: Given(np.stack([_rows()] * _STEPS)),
    Ball: lambda: Ball(2),
    Offered: lambda: Offered(2),
}


def _small(actions: ActionSet) -> ActionSet:
    """Return a small set of the same kind."""
    return _SMALL[type(actions)]()


def _bandit(actions: ActionSet, rewards: str) -> Bandit:
    """Return a problem whose coordinates need a matrix, which takes more kernels than a number."""
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
    arm: Any = live.act(_rows()) if by_row else live.act()
    live.observe(_rows()[arm] if by_row else arm, 0.0)
    if some:
        live.act(available=[0, 1])
    live._renew_search()
    pickle.loads(pickle.dumps(live))
