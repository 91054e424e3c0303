"""The best arm without scoring all arms, and a certificate that it is the best.

Bounds from a snapshot of the posterior (snapshot.py) rule out most arms unseen, and most of the
others by a few numbers each. Arms that are left are scored as a full scan scores them, to the
bit: the choice, ties included, is the one of a full scan. Where the bounds rule out too little,
a full scan it is.
"""

from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms, empty_arms, load_arm
from ..agents.interface import (
    has_linear_scores,
    optimism,
    optimism_level,
    score,
    variance_drift,
)
from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.vectors import dot
from ..jit.decorators import generic, inlined, kernel
from ..states.layout import allocated, zeros
from ..streams.draws import integer
from ..streams.layout import TIES
from .codes import Codes
from .scan import Workspace, break_tie, choose, one_of, scan, workspace
from .screening import margin32
from .snapshot import (
    DRIFT,
    LISTED,
    MISFIT,
    OPTIMISM,
    Snapshot,
    margin,
    measure,
    snapshot,
    take,
    upper_bound,
)
from .snapshot_schedule import (
    accept_snapshot,
    add_step_cost,
    expire,
    is_due,
    may_search,
    new_schedule,
    note_scan,
    note_search,
    search_cost,
    search_limit,
    snapshot_cost,
    start_snapshot,
    stream_cost,
)
from .tile_scores import largest_of

_WINNERS = 16


class Certified(NamedTuple):
    """What a certified search keeps and writes to; one for each run."""

    scan: Workspace
    snapshot: Snapshot
    finalists: Arms  # one tile
    arm: np.ndarray  # (TILE,) int64: the arms of the finalists
    value: np.ndarray  # (TILE,): the most that each of them can score
    tied: np.ndarray  # (TILE,) int64: the arms with the best score
    row: np.ndarray  # (r,): workspace
    z32: np.ndarray  # (r,) float32: workspace
    recent_winners: np.ndarray  # (_WINNERS,) int64: arms that were the best lately
    best: np.ndarray  # (1,): the best score of the last step
    schedule: np.ndarray  # of costs (snapshot_schedule.py)
    counters: np.ndarray  # (4,) int64: arms bounded, arms scored, full scans, snapshots


@allocated
def certified(arms: Arms) -> Certified:
    """Return what a certified search of these arms needs, with no snapshot taken yet."""
    r = arms.tiles.shape[1]
    return Certified(
        scan=workspace.layout(arms),
        snapshot=snapshot.layout(arms),
        finalists=empty_arms.layout(TILE, r),
        arm=zeros(TILE, np.int64),
        value=zeros(TILE),
        tied=zeros(TILE, np.int64),
        row=zeros(r),
        z32=zeros(r, np.float32),
        recent_winners=zeros(_WINNERS, np.int64),
        best=zeros(1),
        schedule=new_schedule.layout(),
        counters=zeros(4, np.int64),
    )


@generic
def snapshot_due(work):
    """Return whether a new snapshot is due, or other preparation of a search; False for a scan."""
    return False


@snapshot_due.body(Certified)
def _snapshot_due(work):
    return is_due(work.schedule)


@generic
def retake_snapshot(work, agent, arms):
    """Take the snapshot that is due, or prepare the search. Called from Python."""


@retake_snapshot.body(Certified)
def _retake_snapshot(work: Certified, agent: Any, arms: Arms) -> None:
    # If it fails midway, steps are full scans.
    breadth, limit = start_snapshot(work.schedule)
    work.snapshot.scalars[DRIFT] = variance_drift(agent)
    work.counters[3] += 1
    best = float(work.best[0])
    # No more are listed than a search may bound before it is given up.
    most = int(limit / len(work.snapshot.leading))
    level = float(optimism_level(agent))
    if take(work.snapshot, agent.belief, arms, agent.z, best, level, breadth, most):
        accept_snapshot(work.schedule)


@inlined
def _scan_cost(agent, arms):
    """Return the cost of a full scan."""
    r = arms.tiles.shape[1]
    if not has_linear_scores(agent):
        return np.float64(arms.K * r * r)
    return _screen_cost(arms.codes, arms.K, r)


@generic
def _screen_cost(codes, K, r):
    """Return the cost of screening all arms: in single precision, or a quarter of it in 8 bits."""
    return stream_cost(K * r)


@_screen_cost.body(Codes)
def _screen_cost_in_bytes(codes, K, r):
    return stream_cost(K * (r + 4) // 4)


@inlined
def _score_cost(agent, r):
    """Return the cost of scoring one arm, wherever in memory."""
    return 40 + 4 * r if has_linear_scores(agent) else r * r


@inlined
def _width_margin(agent, arms, work):
    """Return how much an agent's optimism about an arm may exceed the one at the snapshot.

    b'S b only falls, but for rounding: sqrt(x + y) <= sqrt(x) + sqrt(y).
    """
    r = arms.tiles.shape[1]
    scalars = work.snapshot.scalars
    rise = variance_drift(agent) - scalars[DRIFT] + scalars[MISFIT] + 2.0**-50 * r * r
    return optimism(agent) * arms.largest[1] * np.sqrt(rise)


@inlined
def _value32(arms, arm, z32):
    """Return o + b'z of an arm, computed in single precision."""
    return np.float64(arms.offsets32[arm // TILE, arm % TILE] + dot(arms.rows32[arm], z32))


@kernel
def _score_finalists(agent, arms, work, n, floor, best, ties):
    """Score those of n finalists that may reach `floor`.

    Return the best score so far and how many arms have it. They are in work.tied, as far as
    there is room.
    """
    finalists, scores = work.finalists, work.scan.scores[0]
    kept = 0
    for i in range(n):
        if work.value[i] >= floor:
            arm = work.arm[i]
            work.arm[kept] = arm
            finalists.offsets[0, kept] = load_arm(arms, arm, work.row)
            for j in range(work.row.shape[0]):
                finalists.tiles[0, j, kept] = work.row[j]
            kept += 1
    for i in range(kept, TILE):
        finalists.offsets[0, i] = -np.inf
    score(agent, finalists, 0, work.scan)
    for i in range(kept):
        if scores[i] > best:
            best, ties = scores[i], 0
        if scores[i] == best:
            if ties < TILE:
                work.tied[ties] = work.arm[i]
            ties += 1
    return best, ties


@kernel
def _search(agent, arms, work, limit):
    """Return (best score, arms with it, cost); no arms where there is no certificate.

    The arms are in work.tied, in any order. It is given up where it has cost more than `limit`.
    """
    known, scores, r = work.snapshot, work.scan.screened, arms.tiles.shape[1]
    listed, k = int(known.scalars[LISTED]), known.leading.shape[0]
    tiles = -(-listed // TILE)
    each = _score_cost(agent, r)
    rho, allowed = measure(known, agent.z), known.scalars[OPTIMISM]
    slack, slack32 = margin(known, arms, agent.z, rho, allowed), margin32(arms, agent.z)
    if not has_linear_scores(agent):
        slack += _width_margin(agent, arms, work)
    if not (slack < 1e20 and slack32 < 1e20):
        return -np.inf, np.int64(0), 0.0
    best, ties, floor, n = -np.inf, np.int64(0), -np.inf, np.int64(0)
    bounded, scored = 0, 0
    if has_linear_scores(agent):
        for j in range(r):
            work.z32[j] = agent.z[j]
        for i in range(_WINNERS):
            floor = max(floor, _value32(arms, work.recent_winners[i], work.z32) - slack32)
        scored = _WINNERS
    tile, certain, crowded = 0, False, False
    while not crowded:
        certain = upper_bound(known, tile, rho) + slack < floor
        given_up = tile == tiles or stream_cost(bounded * k) + scored * each > limit
        if n > 0 and (certain or given_up or not has_linear_scores(agent)):
            best, ties = _score_finalists(agent, arms, work, n, floor, best, ties)
            floor, n = max(floor, best), np.int64(0)
            certain = upper_bound(known, tile, rho) + slack < floor
        if certain or given_up:
            break
        score_tile(known.leading_coordinates[tile], known.base[tile], known.leading, scores)
        bounded += TILE
        if np.float64(largest_of(scores)) + slack >= floor:
            for i in range(min(TILE, listed - tile * TILE)):
                bound = np.float64(scores[i]) + slack
                if bound >= floor:
                    arm = np.int64(known.arm[tile * TILE + i])
                    scored += 1
                    if has_linear_scores(agent):
                        value = _value32(arms, arm, work.z32)
                        bound = value + slack32
                        floor = max(floor, value - slack32)
                    crowded = n == TILE
                    if crowded:
                        break
                    if bound >= floor:
                        work.arm[n] = arm
                        work.value[n] = bound
                        n += 1
        tile += 1
    work.counters[0] += bounded
    work.counters[1] += scored
    found = ties if certain and not crowded and ties <= TILE else np.int64(0)
    return best, found, search_cost(r, bounded, k, scored, each)


@inlined
def _remember_winner(recent_winners, arm, t):
    """Add an arm to the recent winners."""
    for i in range(recent_winners.shape[0]):
        if recent_winners[i] == arm:
            return
    recent_winners[t % recent_winners.shape[0]] = arm


@choose.body(Certified)
def _choose(work, agent, arms, source, t):
    best, ties, cost, arm = -np.inf, np.int64(0), 0.0, np.int64(-1)
    scan_cost, searching = _scan_cost(agent, arms), may_search(work.schedule)
    limit = search_limit(work.schedule, scan_cost)
    if searching and optimism(agent) > work.snapshot.scalars[OPTIMISM]:
        expire(work.schedule)
    elif searching:
        best, ties, cost = _search(agent, arms, work, limit)
        note_search(work.schedule, ties > 0)
    if ties > 0:
        rank = integer(source, TIES, t, ties) if ties > 1 else 0
        arm = one_of(work.tied[:ties], rank)
    else:
        best, ties, arm = scan(agent, arms, work.scan)
        arm = break_tie(agent, arms, source, t, best, ties, arm, work.scan)
        cost += scan_cost
        work.counters[2] += 1
        if not searching:
            note_scan(work.schedule)
    if arm >= 0:
        _remember_winner(work.recent_winners, arm, t)
        work.best[0] = best
        r = arms.tiles.shape[1]
        add_step_cost(
            work.schedule, t, r, cost, snapshot_cost(arms.K, r, work.snapshot.scalars[LISTED])
        )
    return arm
