"""A tree of boxes over the arms, for few dimensions (box_search.py).

An arm is a point p = (b, o) in n = r + 1 dimensions. Points near each other lie in one leaf, leaves
in boxes, boxes in larger ones. A box lies along its points: it has a centre c, orthogonal
directions q_i, and how far the points go in each, from least_i to most_i.

The tree is a fact of the arms: it knows no posterior, is built once and serves all runs.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, tile_count
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE
from ..jit.decorators import entry
from ..states.layout import allocated, zeros

FANOUT = 8
"""Children of a box; the smallest boxes hold the arms of one leaf, which is a tile."""

DEFECT = 2.0**-46
"""How far directions may be from orthogonal: else a box has those of the axes."""


class BoxTree(NamedTuple):
    """Boxes of all levels, the largest first, and leaves.

    The children of box i of a level are row i of the next; those of the last level are leaves.
    """

    ready: np.ndarray  # (1,) int64: whether it is built
    boxes: np.ndarray  # (rows, n + n n + 2 n, FANOUT): centres, directions, least, most
    first: np.ndarray  # (levels,): the first row of each level
    leaves: np.ndarray  # (leaves, r, TILE): b
    offsets: np.ndarray  # (leaves, TILE): o, -inf where there is no arm
    arm: np.ndarray  # (leaves, TILE) uint32
    radius: np.ndarray  # (1,): the largest |p|


def _rows_of_levels(K: int) -> list[int]:
    """Return how many rows each level has, the largest boxes first."""
    rows = [-(-tile_count(K) // FANOUT)]
    while rows[0] > 1:
        rows.insert(0, -(-rows[0] // FANOUT))
    return rows


@allocated
def empty_tree(arms: Arms) -> BoxTree:
    """Return room for the tree of some arms."""
    leaves, r, _ = arms.tiles.shape
    rows, n = _rows_of_levels(arms.K), r + 1
    return BoxTree(
        ready=zeros(1, np.int64),
        boxes=zeros((sum(rows), n + n * n + 2 * n, FANOUT)),
        first=np.cumsum([0, *rows[:-1]]),
        leaves=zeros((leaves, r, TILE)),
        offsets=zeros((leaves, TILE)),
        arm=zeros((leaves, TILE), np.uint32),
        radius=zeros(1),
    )


def building_bytes(K: int, r: int) -> int:
    """Return the most memory that `build` needs beside the tree itself."""
    n = r + 1
    boxes = FANOUT * sum(_rows_of_levels(K)) * (n + n * n + 2 * n)
    return 8 * boxes + K * (16 * n + 64) + 2**22


def build(tree: BoxTree, arms: Arms) -> None:
    """Build the tree of some arms, unless it is there already; cost O(K log K).

    For one thread at a time: a tree half built is not to be built again.
    """
    if not tree.ready[0]:
        _build(tree, arms)
        tree.ready[0] = 1


def _build(tree: BoxTree, arms: Arms) -> None:
    (leaves, r, _), K = tree.leaves.shape, arms.K
    points = np.empty((K, r + 1))
    for j in range(r):
        points[:, j] = arms.tiles[:, j].ravel()[:K]
    points[:, r] = arms.offsets.ravel()[:K]
    order = _near_each_other(points)
    points = points[order]
    tree.arm.reshape(-1)[:K] = order
    tree.offsets[:] = -np.inf
    tree.offsets.reshape(-1)[:K] = points[:, r]
    for j in range(r):
        column = np.zeros(leaves * TILE)
        column[:K] = points[:, j]
        tree.leaves[:, j] = column.reshape(leaves, TILE)
    tree.radius[0] = np.sqrt(np.einsum("ij,ij->i", points, points).max())
    size = TILE
    for level in range(len(tree.first) - 1, -1, -1):
        _set_boxes(tree, level, points, size)
        size *= FANOUT


def _set_boxes(tree: BoxTree, level: int, points: np.ndarray, size: int) -> None:
    """Set the boxes of a level, of `size` points each."""
    K, n = points.shape
    count = -(-K // size)
    centre, spread = np.empty((count, n)), np.empty((count, n, n))
    _moments(points, size, centre, spread)
    directions = np.linalg.eigh(spread).eigenvectors  # in columns: the longest last
    defect = np.linalg.norm(np.eye(n) - directions @ directions.transpose(0, 2, 1), axis=(1, 2))
    directions[~(defect < DEFECT)] = np.eye(n)
    rows = tree.boxes[tree.first[level] :][: -(-count // FANOUT)]
    rows[:, n - 1] = -np.inf  # where there is no box
    _fit(points, size, centre, np.ascontiguousarray(directions), rows)


def _near_each_other(points: np.ndarray) -> np.ndarray:
    """Return an order of points in which neighbours are near: along a Z-curve through their ranks.

    Ranks in place of values: one point far away does not push all others together.
    """
    varied = [values for values in points.T if values.min() < values.max()]
    bits = np.uint64(min(16, 63 // max(1, len(varied))))
    numbers = np.arange(2 ** int(bits), dtype=np.uint64)
    spread = np.zeros(len(numbers), np.uint64)
    for bit in range(int(bits)):
        one = numbers >> np.uint64(bit) & np.uint64(1)
        spread |= one << np.uint64(bit * len(varied))
    code = np.zeros(len(points), np.uint64)
    for i, values in enumerate(varied):
        order = np.argsort(values)
        ranks = np.cumsum(np.diff(values[order], prepend=values[order[0]]) > 0)
        scaled = np.empty(len(values), np.int64)
        scaled[order] = ranks * (len(numbers) - 1) // ranks[-1]
        code |= spread[scaled] << np.uint64(i)
    return np.argsort(code, kind="stable")


@entry
def _moments(points, size, centre, spread):
    """Set the mean of every `size` points, and the sum of squares and products about it."""
    K, n = points.shape
    for box in range(centre.shape[0]):
        start, stop = box * size, min(K, (box + 1) * size)
        for j in range(n):
            total = 0.0
            for i in range(start, stop):
                total += points[i, j]
            centre[box, j] = total / (stop - start)
        for j in range(n):
            for k in range(j + 1):
                total = 0.0
                for i in range(start, stop):
                    total = fma(points[i, j] - centre[box, j], points[i, k] - centre[box, k], total)
                spread[box, j, k] = spread[box, k, j] = total


@entry
def _fit(points, size, centre, directions, rows):
    """Set boxes, in rows of FANOUT: their centres, directions, and how far the points go."""
    K, n = points.shape
    for box in range(centre.shape[0]):
        out, i = rows[box // FANOUT], box % FANOUT
        start, stop = box * size, min(K, (box + 1) * size)
        for j in range(n):
            out[j, i] = centre[box, j]
        for k in range(n):
            for j in range(n):
                out[n + n * k + j, i] = directions[box, j, k]
            least, most = np.inf, -np.inf
            for point in range(start, stop):
                along = 0.0
                for j in range(n):
                    along = fma(directions[box, j, k], points[point, j] - centre[box, j], along)
                least, most = min(least, along), max(most, along)
            out[n + n * n + k, i] = least
            out[2 * n + n * n + k, i] = most
