"""The streams, and the meaning of their lanes and counters.

Three uses of (lane, counter) recur:

- a vector at a time t: element j is half ``j % 2`` of the block (lane ``j // 2``, counter t);
- a scalar at a time t: half ``t % 2`` of the block (lane 0, counter ``t // 2``);
- a scalar for each of many models at a time t: the same with the model as lane.
"""

import numpy as np

from ..jit.decorators import inlined

_U = np.uint64

# Typed numbers, not Python's: numba would compile a copy of each kernel for every literal.
THETA = _U(1)  # the true parameter: a vector at 0; where it drifts, at t too (loop/drift.py)
MODEL_INDEX = _U(2)  # which model a step reads: an integer at t
INITIAL_MODELS = _U(3)  # xi of a model before the first step, or at its first read: a vector
PERTURBATION = _U(4)  # W: a scalar for each model at t, or a vector at t or at the read of step t
NOISE = _U(5)  # of rewards: a scalar at t; of the Laplace law both halves of (lane 0, counter t)
TIES = _U(6)  # which of several best arms, or of all arms: an integer at t
POSTERIOR_SAMPLE = _U(7)  # of Thompson sampling: a vector at t
ARMS = _U(8)  # random arms: a vector for each
DIAGNOSTICS = _U(9)  # models that a probe draws: a vector at `probe_counter`
OPTIMAL_ACTION = _U(10)  # theta given the history: a vector at `probe_counter`
OFFERS = _U(11)  # arms on offer at t: see actions/fresh.py, actions/subset.py, actions/ball.py
FORGOTTEN = _U(12)  # what a model missed that is not to be kept: a vector at `probe_counter`
REFERENCE = _U(13)  # how Ensemble++ mixes its models: a vector at t
EXPLORATION = _U(14)  # whether a step explores: a scalar at t
INFORMATION_MODELS = _U(15)  # models of a step: a vector at t (search/information_ratio.py)
INFORMATION_CHOICE = _U(16)  # which of two arms: a scalar at t
PROPOSALS = _U(17)  # of a Markov chain: the lanes at t of agents/metropolis.py
KEPT_ROWS = _U(18)  # which rows of a log are replayed: a vector of length 1 at each row
REFILL = _U(19)  # what models get back of the prior: ensembles/refill.py
SLATES = _U(20)  # which of several best arms is next: an integer at `slate_counter`
FIRST_OWN = _U(128)  # streams from here to 255 are for custom agents

MAX_LANE = 2**32 - 1
MAX_COUNTER = 2**56 - 1


@inlined
def probe_counter(probe_index, i):
    """Return the counter of the i-th vector of a probe, i below 2^32.

    Probes are numbered by the step before which they are made, modulo 2^24.
    """
    return ((probe_index % 2**24) << 32) + i


@inlined
def slate_counter(t, i):
    """Return the counter of the i-th arm of a slate at time t < 2^32, i below 2^24."""
    return (t << 24) + i
