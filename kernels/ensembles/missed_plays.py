"""Updates that a model has missed, for recurring arms: sums of perturbations by arm.

In information space a model takes in W b at every step (eager.py). When model m is read at t, last
read at tau, it has missed the sum over arms a played in between of (the sum of n_a independent W)
b_a. For normal W that inner sum is sqrt(n_a) times one N(0, 1), for signs it is
2 Binomial(n_a, 1/2) - n_a (deviations.py): one draw and one axpy for each *distinct* arm.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.vectors import axpy
from ..beliefs.interface import noise_of
from ..beliefs.noise import prior_root
from ..jit.decorators import generic, inlined
from ..states.layout import zeros
from ..streams.blocks import STEPS, Block, draw_vector, no_block
from ..streams.normals import fill_normals, fill_normals_from
from . import log as interface
from .cached_models import draw_first_read
from .deviations import SignDeviations, scale_sums, sign_sums
from .log import now
from .play_log import PlayLog, all_plays, copy_plays, plays_beyond, plays_since

_AHEAD = 16
"""Normals of a catch-up that are drawn ahead, at most: of more, those of one step fill vectors."""


class Missed(NamedTuple):
    """What a catch-up writes to."""

    slots: np.ndarray  # (slots,) int32: of `plays_since`
    counts: np.ndarray  # (slots,) int64: of `plays_since`
    ahead: Block  # the first normals of catch-ups


@interface.missed_scratch.body(PlayLog)
def _missed_scratch(log):
    slots = len(log.rows)
    return Missed(zeros(slots, np.int32), zeros(slots, np.int64), no_block.layout(_AHEAD))


@interface.most_normals.body(PlayLog)
def _most_normals(log):
    return len(log.rows)


@inlined
def _list_missed(log, agent, slot):
    """List what the model in a slot has missed. Return the number of distinct arms."""
    missed, models = agent.scratch.missed, agent.models
    if models.plays.shape[1] > 0:
        return plays_beyond(log, models.plays[slot], missed.slots, missed.counts)
    return plays_since(log, models.read_at[slot], missed.slots, missed.counts)


@generic
def _draw_sums(deviations, agent, source, stream, counter, n):
    """Draw the n sums of perturbations of a catch-up.

    And some normals of the counters after it: a few do not fill vectors.
    """
    ahead, w = agent.scratch.missed.ahead, agent.scratch.normals
    few = min(n, _AHEAD)
    draw_vector(ahead, source, stream, counter, few)
    for i in range(few):
        w[i] = ahead.numbers[i, counter % STEPS]
    if few < n:
        fill_normals_from(source, stream, counter, few, w[few:n])
    scale_sums(agent.scratch.missed.counts, w[:n])


@_draw_sums.body(SignDeviations)
def _draw_sums_of_signs(deviations, agent, source, stream, counter, n):
    counts, sums = agent.scratch.missed.counts, agent.scratch.normals
    sign_sums(source, stream, counter, np.uint64(0), counts[:n], sums[:n])


@inlined
def _take_in(log, agent, n, xi):
    """Let xi take in n distinct arms that it has missed; cost O(r n).

    Arms are as `_list_missed` lists them, each with its sum of perturbations.
    """
    rows, slots, w = log.rows, agent.scratch.missed.slots, agent.scratch.normals
    # As `add_transposed`, with scattered rows.
    whole = n - n % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = slots[i], slots[i + 1], slots[i + 2], slots[i + 3]
        for j in range(xi.shape[0]):
            x = fma(w[i], rows[a0, j], xi[j])
            x = fma(w[i + 1], rows[a1, j], x)
            x = fma(w[i + 2], rows[a2, j], x)
            xi[j] = fma(w[i + 3], rows[a3, j], x)
    for i in range(whole, n):
        axpy(w[i], rows[slots[i]], xi)


@interface.catch_up.body(PlayLog)
def _catch_up(log, agent, slot, source, stream, counter, xi):
    n = _list_missed(log, agent, slot)
    _draw_sums(agent.models.deviations, agent, source, stream, counter, n)
    _take_in(log, agent, n, xi)


@draw_first_read.body(SignDeviations)
def _draw_first_read(deviations, agent, source, stream, counter, xi):
    """Draw a model of the prior and add all plays so far, with lanes not used for normals."""
    missed, sums = agent.scratch.missed, agent.scratch.normals
    n = all_plays(agent.log, missed.slots, missed.counts)
    fill_normals(source, stream, counter, xi)
    root = prior_root(noise_of(agent.belief))
    for j in range(xi.shape[0]):
        xi[j] *= root
    free = np.uint64(xi.shape[0])
    sign_sums(source, stream, counter, free, missed.counts[:n], sums[:n])
    _take_in(agent.log, agent, n, xi)


@interface.note_read.body(PlayLog)
def _note_read(log, models, slot):
    models.read_at[slot] = now(log)
    if models.plays.shape[1] > 0:
        copy_plays(log, models.plays[slot])
