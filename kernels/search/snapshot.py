"""Snapshots: bounds on all later scores, from the posterior at one time.

At that moment, with mean mu and precision P = R'R, take W with W'R = I, and for each arm
m = o + b'mu and c = W b. For any model z, with zeta = R (z - mu),

    o + b'z = m + c'zeta <= m + c_1 zeta_1 + ... + c_k zeta_k + |c_rest| |zeta_rest|
                         <= m + |c| |zeta|.

The last bound needs two numbers of an arm, and its maximum over many arms is one number for
each |zeta|: an envelope. The one before needs k + 1 numbers: a head.
docs/explanation/certified-argmax.md has the proof, and why the bounds hold in floating point.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, tile_count
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.vectors import dot
from ..beliefs.interface import Belief, mean_of
from ..jit.decorators import entry, inlined, kernel
from ..states.layout import allocated, zeros
from .orientation import norms, orient

GRID = 16
"""Points of an envelope."""

_SAMPLED = 16  # tiles that are looked at before all are
_CLEARLY = 1.2  # times too many arms in question among those, and the others are not looked at
_USUAL = 0.5  # of all arms that a search may bound: if a usual one bounds more, many would fail
_LARGEST_OPTIMISM = 1e20
_LOWEST = -1e300  # in place of -inf, which times zero is not a number
_UNIT = 2.0**-53
_UNIT32 = 2.0**-24
_TINY32 = 2.0**-148
_TINY_ROOT32 = 2.0**-73

# What `Snapshot.scalars` holds.
LISTED = 0  # number of arms listed
SLACK = 1  # a bound on |I - W'R|, and on what rounding does to c and zeta beyond it
SPREAD = 2  # |W|: no |c| is larger than |W| |b|
STEP = 3  # distance of the envelope's points
NORM = 4  # |mu|
DISTANCE = 5  # |z - mu| of the last `measure`
MISFIT = 6  # a bound on |S - W'W|
DRIFT = 7  # `variance_drift` at that moment
OPTIMISM = 8  # standard deviations that the bounds allow for


class Snapshot(NamedTuple):
    """The bounds of a snapshot. Arms that may become the best are listed, best bound first."""

    scalars: np.ndarray  # (9,)
    mu: np.ndarray  # (r,)
    W: np.ndarray  # (r, r): its rows are orthogonal, the longest first
    R: np.ndarray  # (r, r)
    arm: np.ndarray  # (tiles * TILE,) uint32: the arms listed
    base: np.ndarray  # (tiles, TILE) float32: m + optimism |c|
    leading_coordinates: np.ndarray  # (tiles, k + 1, TILE) float32: c_1, ..., c_k, |c_rest|
    envelope: np.ndarray  # (tiles + 1, GRID): over this and all later tiles, and all not listed
    zeta: np.ndarray  # (2, r): workspace, z - mu and zeta
    leading: np.ndarray  # (k + 1,) float32: zeta_1, ..., zeta_k, |zeta_rest|


def leading_length(r: int) -> int:
    """Return k: longer heads leave fewer arms to score in full, and cost more themselves."""
    return min(r, 1 + r // 2)


@allocated
def snapshot(arms: Arms) -> Snapshot:
    """Return space for a snapshot of these arms, not taken yet."""
    tiles, r, _ = arms.tiles.shape
    k = leading_length(r)
    return Snapshot(
        scalars=zeros(9),
        mu=zeros(r),
        W=zeros((r, r)),
        R=zeros((r, r)),
        arm=zeros(tiles * TILE, np.uint32),
        base=zeros((tiles, TILE), np.float32),
        leading_coordinates=zeros((tiles, k + 1, TILE), np.float32),
        envelope=zeros((tiles + 1, GRID)),
        zeta=zeros((2, r)),
        leading=zeros(k + 1, np.float32),
    )


def taking_bytes(K: int, r: int) -> int:
    """Return the most memory that `take` needs beside the snapshot itself."""
    return 48 * tile_count(K) * TILE + 8 * (600 + 4 * r) * r + 16384


@kernel
def measure(snapshot, z):
    """Set `zeta` and `leading` for a model z, and return |zeta|; cost O(r^2)."""
    delta, zeta = snapshot.zeta[0], snapshot.zeta[1]
    r, k = z.shape[0], snapshot.leading.shape[0] - 1
    for j in range(r):
        delta[j] = z[j] - snapshot.mu[j]
    squares = rest = 0.0
    for j in range(r):
        zeta[j] = dot(snapshot.R[j], delta)
        squares = fma(zeta[j], zeta[j], squares)
        if j < k:
            snapshot.leading[j] = zeta[j]
        else:
            rest = fma(zeta[j], zeta[j], rest)
    snapshot.leading[k] = np.sqrt(rest)
    snapshot.scalars[DISTANCE] = np.sqrt(dot(delta, delta))
    return np.sqrt(squares)


@inlined
def upper_bound(snapshot, tile, rho):
    """Return a bound on the scores of all arms in this tile, in later ones and not listed.

    As a function of rho = |zeta| it is convex: a chord lies above it.
    """
    x = rho / snapshot.scalars[STEP]
    if not x < GRID - 1:
        return np.inf
    i = int(x)
    low, high = snapshot.envelope[tile, i], snapshot.envelope[tile, i + 1]
    return fma(x - i, high - low, low)


@inlined
def margin(snapshot, arms, z, rho, optimism):
    """Return what rounding may add to an exact score over its bounds.

    In single precision, m has an error of r + 2 roundings, c of r + 3 and its norm of r / 2 + 2
    more, and a bound by heads takes k + 3: together 2 r + 9 at most of any term. Numbers too
    small for single precision add a little each, times the other factor, and more to a norm,
    whose squares are smaller still. And W'R is not I to the last bit.
    """
    norm, scalars, r = np.sqrt(dot(z, z)), snapshot.scalars, z.shape[0]
    largest, reach, far = arms.largest[1], rho + optimism, norm + scalars[NORM]
    size = arms.largest[0] + largest * far + largest * scalars[SPREAD] * reach
    tiny = (1.0 + scalars[SPREAD]) * (1.0 + largest) * (1.0 + reach) * (1.0 + far)
    rounding = 1.1 * _UNIT32 * (2 * r + 10) * size
    rounding += _TINY32 * (r + 8) ** 2 * tiny + _TINY_ROOT32 * np.sqrt(r + 1.0) * reach
    return rounding + largest * scalars[SLACK] * scalars[DISTANCE]


@entry
def _bound_all(arms, mu, X, means, widths, stride):
    """Set means = o + b'mu and widths = |X b| of the arms of every `stride`-th tile.

    All in single precision. X is lower triangular, which halves the work. Cost O(K r^2 / stride).
    """
    zero, row = np.float32(0.0), widths[widths.shape[0] - 1]
    for tile in range(0, arms.tiles.shape[0], stride):
        b, squares = arms.tiles32[tile], widths[tile]
        score_tile(b, arms.offsets32[tile], mu, means[tile])
        for i in range(TILE):
            squares[i] = zero
        for j in range(X.shape[0]):
            for i in range(TILE):
                row[i] = zero
            score_tile(b, row, X[j, : j + 1], row)
            for i in range(TILE):
                squares[i] = fma(row[i], row[i], squares[i])
        for i in range(TILE):
            squares[i] = np.sqrt(squares[i])


@entry
def _fill(snapshot, arms, W, b, row):
    """Set the heads of the arms listed; cost O(listed r^2), in single precision."""
    k, n = snapshot.leading.shape[0] - 1, int(snapshot.scalars[LISTED])
    zero = np.float32(0.0)
    for tile in range(-(-n // TILE)):
        leading_coordinates = snapshot.leading_coordinates[tile]
        for i in range(TILE):
            column = tile * TILE + i
            leading_coordinates[k, i] = zero
            for j in range(W.shape[0]):
                b[j, i] = arms.rows32[snapshot.arm[column], j] if column < n else zero
        for j in range(W.shape[0]):
            out = leading_coordinates[j] if j < k else row
            for i in range(TILE):
                out[i] = zero
            score_tile(b, out, W[j], out)
            if j >= k:
                for i in range(TILE):
                    leading_coordinates[k, i] = fma(row[i], row[i], leading_coordinates[k, i])
        for i in range(TILE):
            leading_coordinates[k, i] = np.sqrt(leading_coordinates[k, i])


def take(
    snapshot: Snapshot,
    belief: Belief,
    arms: Arms,
    z: np.ndarray,
    best: float,
    optimism: float,
    breadth: float,
    most: int,
) -> bool:
    """Take a snapshot of a belief, at a moment when model z has the best score `best`.

    Arms are listed, `most` of them or fewer, if a model `breadth` times as far from mu as z might
    make them the best. Return False where the belief is lost to rounding, or the optimism is too
    large for single precision: such a snapshot bounds nothing. Also where a model like z leaves too
    many arms in question: a sample of arms shows it, or all, before the dearer half of the work.
    Changes the snapshot only; cost O(K r^2). Whatever the bits of a snapshot, the bounds hold and
    the choice is the same.
    """
    scalars = snapshot.scalars
    X = _turn(snapshot, belief)
    if X is None or not optimism < _LARGEST_OPTIMISM:
        return False
    scalars[OPTIMISM] = optimism
    # Not by @, whose threads may wait for each other.
    rho = float(np.linalg.norm(np.einsum("ij,j", snapshot.R, z - snapshot.mu)))
    scalars[STEP] = 0.25 * max(1.0, rho)
    tiles = len(arms.tiles)
    means, widths = np.empty((tiles, TILE), np.float32), np.empty((tiles + 1, TILE), np.float32)
    centre, root = snapshot.mu.astype(np.float32), X.astype(np.float32)
    # With something to spare for rounding: the best arm itself is to be listed.
    floor = best - 1e-5 * (abs(best) + arms.largest[0] + arms.largest[1] * scalars[NORM])
    far, usual = np.float32(rho + optimism), _USUAL * most
    stride = max(1, (tiles - 1) // _SAMPLED)
    if stride > 1:
        # The last tile may hold fewer arms: it is not looked at here.
        _bound_all(arms, centre, root, means, widths, stride)
        seen = means[: tiles - 1 : stride] + far * widths[: tiles - 1 : stride]
        if np.count_nonzero(~(seen < floor)) * arms.K > _CLEARLY * usual * seen.size:
            return False
    _bound_all(arms, centre, root, means, widths, 1)
    m, w = means.ravel()[: arms.K], widths.ravel()[: arms.K]

    bound = m + np.float32(breadth * max(1.0, rho) + optimism) * w
    listed = np.flatnonzero(~(bound < floor))  # what is not a number, too
    typical = m[listed] + far * w[listed]
    if np.count_nonzero(~(typical < floor)) > usual:
        return False
    if len(listed) > most:
        first = np.argpartition(-typical, most)[:most]
        listed, typical = listed[first], typical[first]
    listed = listed[np.argsort(-typical)]
    n = len(listed)
    scalars[LISTED] = n
    snapshot.arm[:n] = listed
    base = snapshot.base[: tile_count(n)].ravel()
    base[:n] = m[listed] + np.float32(optimism) * w[listed]
    base[n:] = -np.inf
    tile, row = np.empty((len(z), TILE), np.float32), np.empty(TILE, np.float32)
    _fill(snapshot, arms, snapshot.W.astype(np.float32), tile, row)
    _set_envelope(snapshot, m, w, listed, optimism)
    return True


def _turn(snapshot: Snapshot, belief: Belief) -> np.ndarray | None:
    """Set mu, W and R, and what is known of them; cost O(r^3).

    Return X, lower triangular with X'X = S, or None where the belief is lost to rounding.
    """
    scalars, W, R, r = snapshot.scalars, snapshot.W, snapshot.R, len(snapshot.mu)
    X, rows = np.empty((r, r)), np.empty((2, r))
    orient(belief, W, R, X, rows)
    snapshot.mu[:] = mean_of(belief)
    spread, length, defect, misfit = norms(belief, W, R, rows)
    if not np.isfinite(spread + length + defect + misfit):
        return None
    scalars[SPREAD] = spread
    scalars[SLACK] = defect + 8 * _UNIT * (r + 4) * spread * length
    scalars[MISFIT] = misfit + 8 * _UNIT * (r + 4) * (1 + spread**2)
    scalars[NORM] = np.linalg.norm(snapshot.mu)
    return X


def _set_envelope(
    snapshot: Snapshot, m: np.ndarray, w: np.ndarray, listed: np.ndarray, optimism: float
) -> None:
    """Set the envelope over the arms listed, in their order, and those that are not."""
    tiles = tile_count(len(listed))
    ordered = np.full((2, tiles * TILE), 0.0, np.float32)
    ordered[0, len(listed) :] = -np.inf
    ordered[:, : len(listed)] = m[listed], w[listed]
    rest = np.ones(len(m), bool)
    rest[listed] = False
    others = m[rest], w[rest]
    for point in range(GRID):
        x = np.float32(point * snapshot.scalars[STEP] + optimism)
        highest = (ordered[0] + x * ordered[1]).reshape(tiles, TILE).max(axis=1, initial=-np.inf)
        last = np.max(others[0] + x * others[1], initial=-np.inf)
        envelope = snapshot.envelope[: tiles + 1, point]
        envelope[:] = np.append(highest, last)
        envelope[:] = np.maximum.accumulate(envelope[::-1])[::-1]
        np.maximum(envelope, _LOWEST, out=envelope)
