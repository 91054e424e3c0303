"""When to search, when to scan, and when a new snapshot is worth its price.

A snapshot grows old as the posterior moves on, and searches by it cost more. Rent or buy: a new
one is due when the steps since the last have cost as much as it costs. Where new snapshots turn
out not to help, they are taken ever less often, down to once as the number of steps doubles; and
where searches fail, they are tried ever less often. All that is decided here is how long a step
takes: no choice depends on it.

Costs are in multiply-adds of a scan in single precision, as measured.
"""

import numpy as np

from .jit import entry, inlined

_CAUTION = 3.0  # a snapshot that does not help makes the next so many times as dear
_LONGEST_PAUSE = 64.0
_BROADEST = 4.0
_CACHED = 400_000  # numbers of single precision that a core's own cache holds

# What a ledger holds.
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


def new_ledger() -> np.ndarray:
    """Return the ledger of a run that begins: no search before a first snapshot."""
    ledger = np.zeros(10)
    ledger[_PATIENCE] = _CAUTION
    ledger[_BREADTH] = 1.3
    ledger[[_BEFORE, _PAUSE, _TAKEN]] = np.inf
    return ledger


@inlined
def stream_cost(n):
    """Return the cost of n multiply-adds with numbers that lie in a row.

    Those beyond what a core's own cache holds take twice the time.
    """
    return np.float64(n + max(0, n - _CACHED))


@inlined
def price(K, r, listed):
    """Return the cost of a snapshot: that of its loops, of sorting, of LAPACK."""
    return (0.5 * K + 1.3 * listed + 20.0 * r) * r * r + 40.0 * K + 350.0 * listed + 3e6


@inlined
def may_search(ledger):
    """Tell whether to search in this step, or to scan."""
    return ledger[_PAUSE] == 0.0


@inlined
def note_search(ledger, found):
    """Note whether a search found a certificate. If not, the next one may fail as well."""
    if found:
        ledger[_NEXT_PAUSE] = 1.0
    else:
        ledger[_PAUSE] = ledger[_NEXT_PAUSE]
        ledger[_NEXT_PAUSE] = min(_LONGEST_PAUSE, 2.0 * ledger[_NEXT_PAUSE])
        ledger[_FAILED] += 1.0


@inlined
def note_scan(ledger):
    """Note a scan in place of a search."""
    ledger[_PAUSE] -= 1.0


@inlined
def pay(ledger, t, r, cost, price):
    """Note the cost of step t, and whether a snapshot has become due at its price."""
    ledger[_RENT] += cost
    ledger[_STEPS] += 1.0
    patience = ledger[_PATIENCE]
    if t >= 2.0 * ledger[_TAKEN]:
        patience = min(1.0, patience)
    # The posterior does not change much in fewer steps than it has dimensions.
    if ledger[_STEPS] >= r and ledger[_RENT] >= patience * price:
        ledger[_DUE] = 1.0
        ledger[_TAKEN] = t


@entry
def is_due(ledger):
    """Tell whether a snapshot is due."""
    return ledger[_DUE] != 0.0


def buy(ledger: np.ndarray) -> float:
    """Note that a snapshot is to be taken, and judge from the last when to take the next.

    No search by it until `trust`: it may come to be half taken. Return how many times as far as
    the model of this step later ones may go before an arm that is not listed can be the best.
    """
    mean = ledger[_RENT] / ledger[_STEPS]
    if mean > 0.7 * ledger[_BEFORE]:
        ledger[_PATIENCE] *= _CAUTION
    elif np.isfinite(ledger[_BEFORE]):
        ledger[_PATIENCE] = max(1.0, ledger[_PATIENCE] / _CAUTION)
    if ledger[_FAILED] > 2:
        ledger[_BREADTH] = min(_BROADEST, 1.2 * ledger[_BREADTH])
    ledger[_BEFORE] = mean
    ledger[[_RENT, _STEPS, _FAILED, _DUE]] = 0.0
    ledger[_PAUSE] = np.inf
    return float(ledger[_BREADTH])


def trust(ledger: np.ndarray) -> None:
    """Search from now on: the snapshot is whole."""
    ledger[_PAUSE] = 0.0
    ledger[_NEXT_PAUSE] = 1.0
