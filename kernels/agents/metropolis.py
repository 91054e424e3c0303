"""Thompson sampling with the exact posterior, where only its density is known: a Markov chain.

At every step the chain moves on by some proposals, drawn from Student's law around the mode of the
belief whatever the chain's state is (beliefs/student.py). With w the ratio of the posterior's
density to the proposal's, a proposal z' is taken with probability min(1, w(z') / w(z)): the
posterior is the law that the chain keeps. Then it is played as a draw from it. Before the first
step the chain is a draw from the normal approximation, which without data is the prior itself.
"""

from typing import NamedTuple

import numpy as np

from ..beliefs.interface import Belief, mean_of, sample
from ..beliefs.student import draw_student, lanes_of, log_weight
from ..jit.decorators import entry, inlined
from ..states.layout import allocated, zeros
from ..streams.layout import DIAGNOSTICS, INITIAL_MODELS, PROPOSALS, probe_counter
from ..streams.normals import fill_normals, minus_log_uniform
from ..streams.philox import random_pair
from .interface import has_linear_scores, prepare

_U = np.uint64


class Scratch(NamedTuple):
    """What a step writes to, and the mean that its belief keeps."""

    mean: np.ndarray  # (r,): the belief's own array
    normals: np.ndarray  # (r,)
    proposal: np.ndarray  # (r,)


class Metropolis(NamedTuple):
    """State of Thompson sampling by a Markov chain."""

    belief: Belief
    inflation: float
    proposals: int  # a step
    chain: np.ndarray  # (2, r): before step t, row t % 2; a step writes to the other one
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def metropolis(belief: Belief, inflation: float, proposals: int) -> Metropolis:
    """Return the state before the first step, from the layout of its belief."""
    mean = mean_of(belief)
    r = len(mean)
    scratch = Scratch(mean, zeros(r), zeros(r))
    return Metropolis(belief, inflation, proposals, zeros((2, r)), zeros(r), scratch)


@has_linear_scores.body(Metropolis)
def _has_linear_scores(agent):
    return True


@inlined
def _draw(agent, source, stream, counter, t, z):
    """z = where the chain is after the proposals of step t, by numbers of a stream at a counter.

    Of each proposal the lanes of its draw, then one whose first number decides on it.
    """
    belief, proposal, r = agent.belief, agent.scratch.proposal, z.shape[0]
    if t == 0:
        fill_normals(source, INITIAL_MODELS, 0, agent.scratch.normals)
        sample(belief, agent.scratch.normals, z)
    else:
        for j in range(r):
            z[j] = agent.chain[t % 2, j]
    weight, lanes = log_weight(belief, z), lanes_of(r)
    for i in range(agent.proposals):
        lane = i * (lanes + 1)
        draw_student(belief, source, stream, counter, lane, agent.scratch.normals, proposal)
        proposed = log_weight(belief, proposal)
        bits, _ = random_pair(source, stream, _U(lane + lanes), _U(counter))
        # What is not a number is taken: the run is to end, if its belief was lost.
        if not proposed - weight < -minus_log_uniform(bits):
            weight = proposed
            for j in range(r):
                z[j] = proposal[j]


@inlined
def _inflate(agent, z):
    """z = mu + inflation (z - mu)."""
    if agent.inflation != 1.0:
        mu = agent.scratch.mean
        for j in range(z.shape[0]):
            z[j] = mu[j] + agent.inflation * (z[j] - mu[j])


@prepare.body(Metropolis)
def _prepare(agent, source, t):
    _draw(agent, source, PROPOSALS, t, t, agent.z)
    for j in range(agent.z.shape[0]):
        agent.chain[(t + 1) % 2, j] = agent.z[j]
    _inflate(agent, agent.z)


@entry
def draw_models(agent, source, t, z):
    """z[i, :] = the i-th model that a probe draws, one that step t might play."""
    for i in range(z.shape[0]):
        _draw(agent, source, DIAGNOSTICS, probe_counter(t, i), t, z[i])
        _inflate(agent, z[i])
