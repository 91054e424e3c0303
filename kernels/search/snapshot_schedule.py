"""The schedule of searches, scans and snapshots, by their costs.

A snapshot grows old as the posterior moves on, and searches by it cost more. Rent or buy: a new
one is due when the steps since the last have cost as much as it costs. Where new snapshots turn
out not to help, they are taken ever less often, down to once as the number of steps doubles; and
where searches fail, they are tried ever less often. All that is decided here is how long a step
takes: no choice depends on it.

Costs are in multiply-adds of a scan in single precision, as measured.
"""

import numpy as np

from ..jit.decorators import entry, inlined
from ..states.layout import allocated, full

_CAUTION = 3.0  # a snapshot that does not help makes the next one that many times as dear
_FIRST_PATIENCE = 5.0  # so that a short run pays little for what it cannot use
_LONGEST_PAUSE = 64.0
_LONGEST_SEARCH = 0.7  # of a full scan's cost
_BROADEST = 4.0
_CACHED = 400_000  # numbers of single precision that a core's own cache holds

# What a schedule holds.
_RENT = 0  # cost of all steps since the snapshot
_STEPS = 1  # number of them
_PATIENCE = 2  # how many times the price of a snapshot the rent must reach
_BEFORE = 3  # mean cost of a step under the snapshot before this one
_BREADTH = 4  # how far models may go before an arm that is not listed can be the best
_PAUSE = 5  # full scans to do before the next search
_NEXT_PAUSE = 6  # and after that, if it fails
_FAILED = 7  # searches since the snapshot that found no certificate
_DUE = 8  # whether a snapshot is due
_TAKEN = 9  # step at which the last snapshot became due, or inf
_WORTH = 10  # full scans: a search that has cost more is given up
_SCAN = 11  # cost of a full scan


@allocated
def new_schedule() -> np.ndarray:
    """Return the schedule of a run that begins: no search before a first snapshot."""
    schedule = np.zeros(12)
    schedule[_WORTH] = _LONGEST_SEARCH
    schedule[_PATIENCE] = _FIRST_PATIENCE
    schedule[_BREADTH] = 1.3
    schedule[[_BEFORE, _PAUSE, _TAKEN]] = np.inf
    return full(12, schedule)


@inlined
def stream_cost(n):
    """Return the cost of n multiply-adds with numbers that lie in a row.

    Those beyond what a core's own cache holds take twice the time.
    """
    return np.float64(n + max(0, n - _CACHED))


@inlined
def snapshot_cost(K, r, listed):
    """Return the cost of a snapshot: that of its loops, of rotations, of sorting and gathering."""
    return (0.8 * K + 3.0 * listed + 25.0 * r) * r * r + 400.0 * K + 3000.0 * listed + 4e6


@inlined
def search_cost(r, bounded, k, scored, each):
    """Return the cost of a search: r^2 for zeta, `bounded` arms by k numbers, `scored` ones."""
    return 4.0 * r * r + 500.0 + stream_cost(bounded * k) + scored * each


@inlined
def may_search(schedule):
    """Return whether to search in this step, or to scan."""
    return schedule[_PAUSE] == 0.0


@inlined
def search_limit(schedule, scan_cost):
    """Return the cost at which a search is given up, and note that of a full scan."""
    schedule[_SCAN] = scan_cost
    return schedule[_WORTH] * scan_cost


@inlined
def note_search(schedule, found):
    """Note whether a search found a certificate. The next ones may fare alike."""
    if found:
        schedule[_NEXT_PAUSE] = max(1.0, 0.5 * schedule[_NEXT_PAUSE])
    else:
        schedule[_PAUSE] = schedule[_NEXT_PAUSE]
        schedule[_NEXT_PAUSE] = min(_LONGEST_PAUSE, 2.0 * schedule[_NEXT_PAUSE])
        schedule[_FAILED] += 1.0


@inlined
def note_scan(schedule):
    """Note a scan in place of a search."""
    schedule[_PAUSE] -= 1.0


@inlined
def add_step_cost(schedule, t, r, cost, snapshot_cost):
    """Note the cost of step t, and whether a snapshot has become due at its price."""
    schedule[_RENT] += cost
    schedule[_STEPS] += 1.0
    patience = schedule[_PATIENCE]
    if t >= 2.0 * schedule[_TAKEN]:
        patience = min(1.0, patience)
    # The posterior does not change much in fewer steps than it has dimensions.
    if schedule[_STEPS] >= r and schedule[_RENT] >= patience * snapshot_cost:
        schedule[_DUE] = 1.0
        schedule[_TAKEN] = t


@inlined
def expire(schedule):
    """Note that the bounds of the snapshot hold no longer: a new one is due."""
    schedule[_DUE] = 1.0


@entry
def is_due(schedule):
    """Return whether a snapshot is due."""
    return schedule[_DUE] != 0.0


def start_snapshot(schedule: np.ndarray) -> tuple[float, float]:
    """Note that a snapshot is to be taken, and judge from the last when to take the next.

    No search by it until `accept_snapshot`: it may come to be half taken. Return how many times as
    far as the model of this step later ones may go before an unlisted arm can be the best; and
    what a search may cost.
    """
    mean = schedule[_RENT] / schedule[_STEPS]
    if mean > 0.7 * schedule[_BEFORE]:
        schedule[_PATIENCE] *= _CAUTION
    elif np.isfinite(schedule[_BEFORE]):
        schedule[_PATIENCE] = max(1.0, schedule[_PATIENCE] / _CAUTION)
    if schedule[_FAILED] > 2:
        schedule[_BREADTH] = min(_BROADEST, 1.2 * schedule[_BREADTH])
    schedule[_BEFORE] = mean
    schedule[[_RENT, _STEPS, _FAILED, _DUE]] = 0.0
    schedule[_PAUSE] = np.inf
    return float(schedule[_BREADTH]), float(schedule[_WORTH] * schedule[_SCAN])


def accept_snapshot(schedule: np.ndarray) -> None:
    """Search from now on: the snapshot is whole."""
    schedule[_PAUSE] = 0.0
    schedule[_NEXT_PAUSE] = 1.0
