"""A compiled agent to copy. As it is, it plays greedily."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fastes.agents.authoring import (
    Agent,
    Belief,
    has_linear_scores,
    learn,
    mean_of,
    parameter,
    prepare,
    update,
    zeros,
)


class Scratch(NamedTuple):
    """What a step writes to. It is not saved: the next step must not read it."""

    vector: np.ndarray  # (r,)


class MineState(NamedTuple):
    """All that the agent knows. Arrays are saved, but for `z` and `scratch`; numbers are not."""

    belief: Belief
    mean: np.ndarray  # (r,): of the belief
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
        agent.scratch.vector[j] = agent.mean[j]
        agent.z[j] = agent.scale * agent.scratch.vector[j]


@learn.body(MineState)
def _learn(agent, row, offset, key, reward, source, t):
    # After the choice: the arm with this row and offset has paid `reward`.
    update(agent.belief, row, offset, key, reward)


@dataclass(frozen=True)
class Mine(Agent):
    """What it plays, in one sentence, with its equation and its source."""

    scale: float = parameter("What it is.", "number", 1.0, default=1.0, minimum=0)
    scores = "linear"  # what has_linear_scores says

    def layout(self, K, belief, steps):
        """Return the state before the first step, `zeros` in the place of its arrays."""
        mean = mean_of(belief)
        r = len(mean)
        return MineState(belief, mean, zeros(r), self.scale, Scratch(zeros(r)))

    # def action_law(self, state, arms, source, t): diagnostics need it, see the checklist.
