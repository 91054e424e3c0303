"""A compiled agent to copy. As it is, it plays greedily."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fastes.agents.authoring import (
    Agent,
    Posterior,
    has_linear_scores,
    learn,
    parameter,
    prepare,
    prior,
    update,
)


class Scratch(NamedTuple):
    """What a step writes to. It is not saved: the next step must not read it."""

    vector: np.ndarray  # (r,)


class MineState(NamedTuple):
    """All that the agent knows. Arrays are saved, but for `z` and `scratch`; numbers are not."""

    posterior: Posterior
    z: np.ndarray  # (r,): the model of this step
    scale: float  # a parameter
    scratch: Scratch


@has_linear_scores.body(MineState)
def _has_linear_scores(agent):
    return True  # scores are o + b'z; leave the body out if you write one for `score`


@prepare.body(MineState)
def _prepare(agent, source, t):
    # Before the choice of step t: make z, from random numbers if you draw it.
    for j in range(agent.z.shape[0]):
        agent.scratch.vector[j] = agent.posterior.mu[j]
        agent.z[j] = agent.scale * agent.scratch.vector[j]


@learn.body(MineState)
def _learn(agent, row, key, reward, source, t):
    # After the choice: arm `row` has paid `reward`.
    update(agent.posterior, row, key, reward)


@dataclass(frozen=True)
class Mine(Agent):
    """What it plays, in one sentence, with its equation and its source."""

    scale: float = parameter("What it is.", "number", 1.0, default=1.0, minimum=0)
    scores = "linear"  # what has_linear_scores says

    def initial_state(self, K, r, source, steps=0):
        """Return the state before the first step, in canonical coordinates."""
        return MineState(prior(r), np.zeros(r), self.scale, Scratch(np.zeros(r)))

    def state_bytes(self, K, r, T):
        """Return the memory of a state: what `simulate` plans by."""
        return super().state_bytes(K, r, T) + 8 * 2 * r

    # def action_law(self, state, arms, source, t): diagnostics need it, see the checklist.
