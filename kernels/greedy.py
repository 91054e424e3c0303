"""Greedy: play the best arm of the posterior mean."""

from typing import NamedTuple

from .agent import learn, score
from .arms import load_arm, score_tile
from .posterior import Posterior, prior, update


class Greedy(NamedTuple):
    """State of the greedy agent."""

    posterior: Posterior


def greedy(r: int) -> Greedy:
    """Return the state before the first step."""
    return Greedy(prior(r))


@score.body(Greedy)
def _score(agent, arms, tile, work):
    score_tile(arms, tile, agent.posterior.mu, work[0])


@learn.body(Greedy)
def _learn(agent, arms, source, t, arm, reward):
    offset = load_arm(arms, arm, agent.posterior.b)
    update(agent.posterior, arm, reward - offset)
