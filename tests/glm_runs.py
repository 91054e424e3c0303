"""Runs on generalised linear rewards, composed of kernel objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from fastes.kernels.actions.arms import empty_arms, store_rows
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents import ensemble_plus_plus as plus
from fastes.kernels.agents import greedy, interface, linucb, metropolis, thompson
from fastes.kernels.agents import perturbed_history as history
from fastes.kernels.beliefs.families import Bernoulli, Gaussian, Poisson
from fastes.kernels.beliefs.glm.state import glm
from fastes.kernels.beliefs.memory import UNLIMITED
from fastes.kernels.ensembles import eager
from fastes.kernels.ensembles.deferred import with_capacity
from fastes.kernels.ensembles.deviations import NORMAL, Deviations
from fastes.kernels.ensembles.weight_log import ensemble_by_weights
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.environment import environments
from fastes.kernels.loop.lockstep import advance_sequence
from fastes.kernels.loop.record import record
from fastes.kernels.rewards.bernoulli import bernoulli_rewards
from fastes.kernels.rewards.gaussian import gaussian_rewards
from fastes.kernels.rewards.interface import mean_of_value
from fastes.kernels.rewards.poisson import poisson_rewards
from fastes.kernels.search.scan import workspace
from fastes.kernels.states.layout import allocate
from fastes.kernels.states.stack import set_state, stack_states, state_at
from fastes.kernels.streams.philox import source

LAWS = {Bernoulli: bernoulli_rewards, Poisson: poisson_rewards, Gaussian: gaussian_rewards}


def arms_of(rows, offsets=0.0):
    """Return canonical arms."""
    arms = empty_arms(*rows.shape)
    store_rows(arms, 0, np.ascontiguousarray(rows, float), np.zeros(len(rows)) + offsets)
    return arms


def ensemble(M, K, belief, origin, steps, deviations: Deviations = NORMAL, engine="deferred"):
    """Return an ensemble before the first step."""
    if engine == "deferred":
        return ensemble_by_weights(belief, M, deviations, steps)
    state = eager.eager_ensemble(belief, M, deviations)
    eager.draw_prior_models(state.models, origin, 0, len(state.models.tiles))
    return state


def plus_plus(M, belief, origin):
    """Return Ensemble++ before the first step."""
    state = plus.ensemble_plus_plus(belief, M, plus.SPHERE, plus.SPHERE, 1.0)
    plus.draw_prior_models(state, origin)
    return state


AGENTS = {
    "es": lambda K, belief, origin, T: ensemble(5, K, belief, origin, T),
    "eager": lambda K, belief, origin, T: ensemble(5, K, belief, origin, T, engine="eager"),
    "ts": lambda K, belief, origin, T: thompson.thompson(belief, 1.0),
    "metropolis": lambda K, belief, origin, T: metropolis.metropolis(belief, 1.0, 32),
    "greedy": lambda K, belief, origin, T: greedy.greedy(belief),
    "linucb": lambda K, belief, origin, T: linucb.linucb(belief, 1.0),
    "phe": lambda K, belief, origin, T: history.perturbed_history(belief, 0.7),
    "es++": lambda K, belief, origin, T: plus_plus(8, belief, origin),
}


@dataclass
class Run:
    """One run in progress."""

    state: Any
    actions: FixedActions
    environment: Any
    record: Any
    source: Any
    work: Any

    def advance(self, start: int, stop: int) -> int:
        """Run some steps. Return the step reached: below stop where no score is a number."""
        while start < stop:
            if interface.needs_capacity(self.state):
                self.state = with_capacity(self.state)
            rest = (self.environment, self.record, self.source, self.work, start, stop)
            reached = advance(self.state, self.actions, *rest)
            if reached == start and not interface.needs_capacity(self.state):
                return reached
            start = reached
        return stop


def start(rows, z, make, T, seed=0, run=0, family=None, offsets=0.0, room=None, memory=UNLIMITED):
    """Return a run at its start: of the agent that `make(K, belief layout, source, T)` returns."""
    family = family or Bernoulli(0.0)
    K, r = rows.shape
    arms, origin = arms_of(rows, offsets), source(seed, run)
    law = LAWS[type(family)].layout()
    means = np.asarray(mean_of_value(allocate(law), rows @ z + offsets), float)
    environment = state_at(environments(means[None], r, law), 0)
    kept = record(
        np.arange(1, T + 1), np.zeros(T), np.zeros(K, np.int64), np.zeros(T, np.uint32), np.zeros(T)
    )
    room = T if room is None else room
    state = make(K, glm.layout(family, K, r, room, memory), origin, room)
    return Run(state, FixedActions(arms), environment, kept, origin, workspace(arms))


def advance_together(rows, zs, make, T, seed):
    """Return the regret of several runs, a theta each, whose states are in a stack."""
    single = [start(rows, z, make, T, seed, run) for run, z in enumerate(zs)]

    def stack(states):
        together = stack_states(states[0], len(states))
        for run, state in enumerate(states):
            set_state(together, run, state)
        return together

    parts = [
        stack([getattr(run, name) for run in single])
        for name in ("state", "environment", "record", "source")
    ]
    first = single[0]
    agents, *rest = parts
    failed = np.zeros(1, np.int64)
    reached = advance_sequence(agents, first.actions, *rest, first.work, failed, 0, T)
    assert reached == T
    return parts[2].regret
