"""Softmax exploration, compiled: an agent from outside the package.

It plays arm a with probability proportional to exp(m_a / temperature), where m_a is the posterior
mean of the arm's reward in units of the noise. By the Gumbel trick that is the arm with the largest
m_a + temperature * G_a, where G_a = -log(-log(U_a)) and U_a is uniform on [0, 1).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fastes.agents.authoring import (
    FIRST_OWN,
    TILE,
    ActionLaw,
    Agent,
    Belief,
    Source,
    arm_values,
    fma,
    inlined,
    mean_of,
    parameter,
    prepare,
    random_pair,
    score,
    score_tile,
    zeros,
)


class Scratch(NamedTuple):
    """What a step writes to, and the next does not need."""

    source: np.ndarray  # (2,) uint64: the seed and the run
    step: np.ndarray  # (1,) int64


class SoftmaxState(NamedTuple):
    """State of the agent."""

    belief: Belief
    z: np.ndarray  # (r,): the mean of the belief
    temperature: float
    scratch: Scratch


@inlined
def gumbel(bits):
    """Return -log(-log(u)) for the uniform u that 64 random bits give."""
    u = np.float64(bits >> np.uint64(11)) * 2.0**-53
    return -np.log(-np.log(u))


@prepare.body(SoftmaxState)
def _prepare(agent, source, t):
    agent.scratch.source[0] = source.seed
    agent.scratch.source[1] = source.run
    agent.scratch.step[0] = t


@score.body(SoftmaxState)
def _score(agent, arms, tile, work):
    """work.scores[0, i] = m + temperature G of the arm in column i of the tile."""
    scores, words = work.scores[0], agent.scratch.source
    source, t = Source(words[0], words[1]), np.uint64(agent.scratch.step[0])
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.z, scores)
    for i in range(0, TILE, 2):
        lane = np.uint64((tile * TILE + i) // 2)
        first, second = random_pair(source, FIRST_OWN, lane, t)
        scores[i] = fma(agent.temperature, gumbel(first), scores[i])
        scores[i + 1] = fma(agent.temperature, gumbel(second), scores[i + 1])


@dataclass(frozen=True)
class Softmax(Agent):
    """Play arm a with probability proportional to exp(mean reward / temperature)."""

    temperature: float = parameter("In units of the noise.", "number", 0.2, default=0.2, minimum=0)
    scores = "any"

    def layout(self, K, belief, steps):
        """Return the state before the first step, `zeros` in the place of its arrays."""
        scratch = Scratch(zeros(2, np.uint64), zeros(1, np.int64))
        return SoftmaxState(belief, mean_of(belief), self.temperature, scratch)

    def action_law(self, state, arms, source, t):
        """Return the probability of each arm, which is known in closed form."""
        means = np.empty(arms.K)
        arm_values(arms, state.z, np.empty(TILE), means)
        best = means == means.max()
        if self.temperature > 0:
            best = np.exp((means - means.max()) / self.temperature)
        return ActionLaw(best / best.sum())
