"""The choice of information-directed sampling: a law on two arms, from many models of a step.

Of n models z_s, drawn from the posterior, arm a* is the best of a share p(a*), and their mean is
m_{a*}; that of all is m. An arm costs the regret D(a) = mean_s max_a'(o + b'z_s) - (o_a + b_a'm),
and tells of the best arm the variance of its value's conditional mean,

    v(a) = sum_{a*} p(a*) (b_a'(m_{a*} - m))^2 = b_a'L b_a,  L = sum p (m_{a*} - m)(m_{a*} - m)'.

The law played has the least D^2 / v (ratio_frontier.py).

Model z_s = mu + X'n_s scores (o + b'mu) + (X b)'n_s: each arm is transformed once, not each model.
The normals n_s lie side by side, TILE of them in a block, coordinates in rows: they are drawn and
scored along the vector registers, for one arm after the other, so that few arms cost few
multiplications. Coordinate j of models s and s + TILE / 2 of a block are the pair of normals of
lane (block r + j) TILE / 2 + s: a model is the same however many there are.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, load_arm
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import MODELS, TILE, score_tile
from ..arithmetic.tile_variance import variance_tile
from ..arithmetic.vectors import axpy
from ..beliefs.interface import add_root_row, sample, score_by_mean, score_by_root_row
from ..jit.decorators import entry, inlined, kernel
from ..states.layout import allocated, full, zeros
from ..streams.draws import integer, uniform
from ..streams.layout import (
    DIAGNOSTICS,
    INFORMATION_CHOICE,
    INFORMATION_MODELS,
    TIES,
    probe_counter,
)
from ..streams.normals import normal_pair
from .ratio_frontier import least_ratio
from .scan import choose

_U = np.uint64


class RatioSearch(NamedTuple):
    """What a choice writes to, for every arm; a column beyond K is not used."""

    slot: np.ndarray  # (tiles TILE,) int32: an arm's place among those that are best, or -1
    regret: np.ndarray  # (tiles TILE,): D
    variance: np.ndarray  # (tiles TILE,): v


@allocated
def ratio_search(arms: Arms) -> RatioSearch:
    """Return the workspace of a choice from as many arms."""
    n = len(arms.tiles) * TILE
    return RatioSearch(full(n, -1, np.int32), zeros(n), zeros(n))


@choose.body(RatioSearch)
def _choose(work, agent, arms, source, t):
    first, second, q = _law(work, agent, arms, source, INFORMATION_MODELS, t)
    arm = second if uniform(source, INFORMATION_CHOICE, t) < q else first
    return _one_of_equals(work, arm, arms.K, source, t)


@kernel
def _one_of_equals(work, arm, K, source, t):
    """Return one of the arms with the same regret and variance as an arm, each as likely.

    The order of arms on offer may depend on how they were drawn.
    """
    if arm < 0:
        return arm
    regret, variance, equal = work.regret[:K], work.variance[:K], np.int64(0)
    D, v = regret[arm], variance[arm]
    for a in range(K):
        equal += regret[a] == D and variance[a] == v
    if equal == 1:
        return arm
    rank = integer(source, TIES, t, equal)
    for a in range(K):
        if regret[a] == D and variance[a] == v:
            if rank == 0:
                return np.int64(a)
            rank -= 1
    return arm


@entry
def law_at_probe(work, agent, arms, source, probe_index):
    """Return (first arm, second arm, probability of the second) for draws of a probe's own."""
    return _law(work, agent, arms, source, DIAGNOSTICS, probe_counter(probe_index, 0))


@kernel
def _law(work, agent, arms, source, stream, counter):
    """Return the two arms to play from and the probability of the second.

    Draws models from N(mu, S) with the normals of a stream at a counter; (-1, -1, 0.0) where no
    score of a model is a number. Cost O(n K r + distinct r^2 + K r^2).
    """
    belief, scratch = agent.belief, agent.scratch
    _draw_models(scratch, source, stream, counter)
    _find_best_arms(belief, scratch, arms)
    distinct = _sum_by_best_arm(work, scratch, agent.samples)
    if distinct == 0:
        return np.int64(-1), np.int64(-1), 0.0
    best = _means_and_spread(belief, scratch, arms, distinct, agent.samples)
    _regret_and_variance(work, scratch, arms, best)
    return least_ratio(work.regret[: arms.K], work.variance[: arms.K])


@kernel
def _draw_models(scratch, source, stream, counter):
    """Draw the normals of all models."""
    blocks, n, half = scratch.models.shape[0], scratch.models.shape[1] - 1, TILE // 2
    for block in range(blocks):
        for j in range(n):
            row, lane = scratch.models[block, j + 1], (block * n + j) * half
            x, y = row[:half], row[half:]
            for s in range(half):
                x[s], y[s] = normal_pair(source, stream, _U(lane + s), _U(counter))


@kernel
def _find_best_arms(belief, scratch, arms):
    """Set the best score of each model and the first arm that has it, or -1.

    A tile of arms is taken through all models before the next.
    """
    best, arm = scratch.best, scratch.arm
    for block in range(best.shape[0]):
        for s in range(TILE):
            best[block, s] = -np.inf
            arm[block, s] = -1
    for tile in range(arms.tiles.shape[0]):
        _load_rows(belief, scratch, arms, tile)
        for block in range(best.shape[0]):
            for first in range(0, min(TILE, arms.K - tile * TILE), MODELS):
                rows = scratch.rows[first : first + MODELS]
                score_tile(scratch.models[block], scratch.zeros, rows, scratch.scores)
                _take_in(scratch.scores, tile * TILE + first, best[block], arm[block])


@inlined
def _load_rows(belief, scratch, arms, tile):
    """Set rows to the arms of a tile in the coordinates of the normals; cost O(TILE r^2).

    Equal arms have equal rows, and so equal scores, to the bit.
    """
    b, rows, column = arms.tiles[tile], scratch.rows, scratch.scores[0]
    score_by_mean(belief, b, arms.offsets[tile], column)
    for i in range(TILE):
        rows[i, 0] = column[i]
    for j in range(b.shape[0]):
        score_by_root_row(belief, j, b, scratch.zeros, column)
        for i in range(TILE):
            rows[i, j + 1] = column[i]


@inlined
def _take_in(scores, first, best, arm):
    """Take the scores of MODELS arms into the best of each model; an equal one changes nothing."""
    for s in range(TILE):
        largest, place = best[s], arm[s]
        for i in range(MODELS):
            better = scores[i, s] > largest
            largest = scores[i, s] if better else largest
            place = first + i if better else place
        best[s], arm[s] = largest, place


@kernel
def _sum_by_best_arm(work, scratch, samples):
    """Sum the models of each best arm. Return how many distinct ones there are, or 0.

    0 stands for a model without a best arm: none of its scores is a number.
    """
    distinct, lost = 0, False
    for i in range(samples):
        block, s = divmod(i, TILE)
        arm = scratch.arm[block, s]
        if arm < 0:
            lost = True
            break
        slot = work.slot[arm]
        if slot < 0:
            slot = distinct
            work.slot[arm] = slot
            scratch.winner[slot], scratch.wins[slot] = arm, 0
            for j in range(scratch.total.shape[1]):
                scratch.total[slot, j] = 0.0
            distinct += 1
        scratch.wins[slot] += 1
        for j in range(scratch.total.shape[1]):
            scratch.total[slot, j] += scratch.models[block, j + 1, s]
    for slot in range(distinct):
        work.slot[scratch.winner[slot]] = -1
    return 0 if lost else distinct


@kernel
def _means_and_spread(belief, scratch, arms, distinct, samples):
    """Set m and L. Return the mean of the best scores, sum p(a*) (o + b_{a*}'m_{a*}).

    Where one arm is the best of all models, m_{a*} is m to the bit, and what is returned is its
    expected value as `_regret_and_variance` computes it: D is 0 there, and L.
    """
    normals, mean, spread, r = scratch.normals, scratch.mean, scratch.spread, len(scratch.mean)
    for j in range(r):
        normals[j] = 0.0
        for i in range(r):
            spread[j, i] = 0.0
    for slot in range(distinct):
        for j in range(r):
            normals[j] += scratch.total[slot, j]
    for j in range(r):
        normals[j] /= samples
    sample(belief, normals, mean)
    best, apart, row = 0.0, scratch.apart, scratch.row
    for slot in range(distinct):
        total, count = scratch.total[slot], scratch.wins[slot]
        for j in range(r):
            apart[j] = 0.0
        for j in range(r):
            add_root_row(belief, j, total[j] / count - normals[j], apart)
        value, share = load_arm(arms, scratch.winner[slot], row), count / samples
        for j in range(r):
            value = fma(mean[j] + apart[j], row[j], value)
            axpy(share * apart[j], apart[: j + 1], spread[j, : j + 1])
        best = fma(share, value, best)
    return best


@kernel
def _regret_and_variance(work, scratch, arms, best):
    """Set D and v of all arms; `best` is the mean of the best scores. Rounding leaves no D < 0."""
    scores, row = scratch.scores[0], scratch.scores[1]
    for tile in range(arms.tiles.shape[0]):
        columns = slice(tile * TILE, tile * TILE + TILE)
        regret, variance = work.regret[columns], work.variance[columns]
        score_tile(arms.tiles[tile], arms.offsets[tile], scratch.mean, scores)
        for i in range(TILE):
            regret[i] = max(0.0, best - scores[i])
        variance_tile(scratch.spread, arms.tiles[tile], row, variance)
