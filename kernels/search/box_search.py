"""The best arm in few dimensions: most boxes of a tree (box_tree.py) cannot hold it.

The score of an arm, the point p = (b, o), is p'y with y = (z, 1), and for every point of a box

    p'y = c'y + sum_i (q_i'(p - c)) (q_i'y) <= c'y + sum_i max(least_i q_i'y, most_i q_i'y).

Along a curve of arms, such as a circle, that exceeds the best score in the box by the square of its
length only: few boxes are opened, O(log K) of them on a circle. A box stays unopened if its bound
and a margin for rounding are below the best score so far; the arms of a leaf are scored as a full
scan scores them. What is found is the best score and all arms that have it.

To build the tree takes as long as some hundred scans, and these come first: a short run does
without.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..jit.decorators import kernel
from ..states.layout import allocated, full, zeros
from ..streams.draws import integer
from ..streams.layout import TIES
from .box_tree import FANOUT, BoxTree, build
from .certificate import retake_snapshot, snapshot_due
from .scan import Workspace, break_tie, choose, one_of, scan, workspace

SCANS_BEFORE = 500
"""Full scans before a tree is built."""

# In units of R Y, R the largest |p| and Y = |y|, for n <= 6, with unit roundoff e = 2^-53: c'y, the
# q_i'y, the extents q_i'(p - c) and the sum of the bound are off by less than 111 e together, the
# score's own error included; directions that are orthogonal up to DEFECT = 128 e, by twice that.
# The margin is 1024 e (docs/explanation/screening.md).
_MARGIN = 2.0**-43
_LARGEST = 1e150
_SMALLEST = 1e-290
_LONGEST_PAUSE = 64
_MOST_LEVELS = 12  # FANOUT^12 leaves


class BoxSearch(NamedTuple):
    """What a search by boxes keeps and writes to; one for each run."""

    scan: Workspace
    tree: BoxTree
    bounds: np.ndarray  # (FANOUT,)
    stack: np.ndarray  # (FANOUT * _MOST_LEVELS,): bounds of the boxes to open
    box: np.ndarray  # (FANOUT * _MOST_LEVELS, 2) int64: their levels and rows
    tied: np.ndarray  # (TILE,) int64: the arms with the best score
    pause: np.ndarray  # (2,) int64: scans before the next search, and after that if it fails
    counters: np.ndarray  # (2,) int64: boxes opened, full scans


@allocated
def box_search(arms: Arms, tree: BoxTree) -> BoxSearch:
    """Return what a search of these arms by their tree needs."""
    size = FANOUT * _MOST_LEVELS
    return BoxSearch(
        scan=workspace.layout(arms),
        tree=tree,
        bounds=zeros(FANOUT),
        stack=zeros(size),
        box=zeros((size, 2), np.int64),
        tied=zeros(TILE, np.int64),
        pause=full(2, [0, 1], np.int64),
        counters=zeros(2, np.int64),
    )


@kernel
def _bound_boxes(boxes, z, bounds):
    """Set the bounds of a row of boxes on the scores of points in them, rounding apart."""
    r = z.shape[0]
    n = r + 1
    for i in range(FANOUT):
        bounds[i] = boxes[r, i]
    for j in range(r):
        for i in range(FANOUT):
            bounds[i] = fma(z[j], boxes[j, i], bounds[i])
    for k in range(n):
        direction = boxes[n + n * k : n + n * k + n]
        least, most = boxes[n + n * n + k], boxes[2 * n + n * n + k]
        for i in range(FANOUT):
            along = direction[r, i]
            for j in range(r):
                along = fma(z[j], direction[j, i], along)
            reach = most[i] if along >= 0.0 else least[i]
            bounds[i] = fma(along, reach, bounds[i])


@kernel
def _push(work, top, floor, level, row):
    """Put those boxes of a row that may hold the best arm on the stack, the best of them last.

    Return the new height of the stack.
    """
    bottom = top
    for i in range(FANOUT):
        bound = work.bounds[i]
        if bound >= floor and bound > -np.inf:
            place = top
            while place > bottom and work.stack[place - 1] > bound:
                work.stack[place] = work.stack[place - 1]
                work.box[place, 0] = work.box[place - 1, 0]
                work.box[place, 1] = work.box[place - 1, 1]
                place -= 1
            work.stack[place] = bound
            work.box[place, 0] = level + 1
            work.box[place, 1] = FANOUT * row + i
            top += 1
    return top


@kernel
def search_boxes(work, z, margin, limit):
    """Return (best score, arms with it); no arms where more than `limit` boxes would be opened.

    The arms are in work.tied, in any order.
    """
    tree, scores, levels = work.tree, work.scan.scores[0], work.tree.first.shape[0]
    best, ties, top, opened = -np.inf, np.int64(0), 1, 0
    work.stack[0] = np.inf
    work.box[0, 0] = work.box[0, 1] = 0
    while top > 0:
        top -= 1
        if work.stack[top] < best - margin:
            continue
        if opened == limit:
            return best, np.int64(0)
        opened += 1
        level, row = work.box[top, 0], work.box[top, 1]
        if level < levels:
            _bound_boxes(tree.boxes[tree.first[level] + row], z, work.bounds)
            top = _push(work, top, best - margin, level, row)
            continue
        score_tile(tree.leaves[row], tree.offsets[row], z, scores)
        for i in range(TILE):
            if scores[i] > best:
                best, ties = scores[i], np.int64(0)
            if scores[i] == best and best > -np.inf:
                if ties == TILE:
                    return best, np.int64(0)
                work.tied[ties] = tree.arm[row, i]
                ties += 1
    work.counters[0] += opened
    return best, ties


@kernel
def box_margin(tree, z):
    """Return what rounding may add to a score over the bound of its box, or nan: any amount."""
    square = 1.0
    for j in range(z.shape[0]):
        square = fma(z[j], z[j], square)
    size = tree.radius[0] * np.sqrt(square)
    return _MARGIN * size if _SMALLEST < size < _LARGEST else np.nan


@snapshot_due.body(BoxSearch)
def _tree_due(work):
    return work.tree.ready[0] == 0 and work.counters[1] >= SCANS_BEFORE


@retake_snapshot.body(BoxSearch)
def _build_tree(work, agent, arms):
    build(work.tree, arms)


@choose.body(BoxSearch)
def _choose(work, agent, arms, source, t):
    ties = np.int64(0)
    if work.pause[0] > 0:
        work.pause[0] -= 1
    elif work.tree.ready[0] != 0:
        margin = box_margin(work.tree, agent.z)
        if not np.isnan(margin):
            # So many boxes take a fraction of the time of a scan.
            _, ties = search_boxes(work, agent.z, margin, 16 + arms.tiles.shape[0] // 8)
        if ties > 0:
            work.pause[1] = 1
        else:
            work.pause[0] = work.pause[1]
            work.pause[1] = min(_LONGEST_PAUSE, 2 * work.pause[1])
    if ties > 0:
        rank = integer(source, TIES, t, ties) if ties > 1 else 0
        return one_of(work.tied[:ties], rank)
    work.counters[1] += 1
    best, ties, arm = scan(agent, arms, work.scan)
    return break_tie(agent, arms, source, t, best, ties, arm, work.scan)
