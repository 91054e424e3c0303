"""The arms that were on offer in each row of a log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.actions import Fixed, Given, Offered
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.memory import require

Integers = NDArray[np.int64]

_MOST_NUMBERS = 1 << 22  # of features of a block, to bound memory
_MOST_ARMS = 5_000  # without features: there is a dimension for each


class RowError(ValueError):
    """Something is wrong in a row of a log: `text`, and the row, counted from 0."""

    def __init__(self, text: str, row: int) -> None:
        super().__init__(f"{text} in row {row}")
        self.text, self.row = text, row


class Block(NamedTuple):
    """Consecutive rows of a log, with equally many arms on offer.

    Attributes
    ----------
    first, last : int
        The rows first, ..., last - 1.
    size : int
        Number of arms on offer in each.
    rows : (last - first, size, d) array, optional
        Their features, if arms are not fixed.
    numbers : (last - first, size) array, optional
        Which of the fixed arms they are, if not all are on offer.
    """

    first: int
    last: int
    size: int
    rows: Floats | None = None
    numbers: Integers | None = None


@dataclass(frozen=True, eq=False)
class Offers:
    """All fixed arms are on offer in every row; the base of the other kinds."""

    actions: Any  # the action set
    n: int

    def sizes(self) -> Integers:
        """Return the number of arms on offer in each row."""
        return np.full(self.n, self.actions.K)

    def places(self, arm: Integers) -> Integers:
        """Return the place of each arm played among those on offer; -1 if it is not on offer."""
        return np.where((arm >= 0) & (arm < self.sizes()), arm, -1)

    def allowed(self, row: int) -> str:
        """Return the arms of a row that may have been played, for messages."""
        return f"an integer from 0 to {self.sizes()[row] - 1}"

    def played(self, places: Integers, rows: Integers) -> Floats:
        """Return the features of the arms played in some rows."""
        return self.actions.known_arms[places[rows]]

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Yield the rows first, ..., last - 1, in blocks."""
        yield Block(first, last, self.actions.K)


@dataclass(frozen=True, eq=False)
class SomeOffers(Offers):
    """Other ones of the fixed arms are on offer in each row: numbers[starts[i] : starts[i + 1]]."""

    starts: Integers
    numbers: Integers

    def sizes(self) -> Integers:
        """Return the number of arms on offer in each row."""
        return np.diff(self.starts)

    def places(self, arm: Integers) -> Integers:
        """Return the place of each arm played among those on offer; -1 if it is not on offer."""
        sizes = self.sizes()
        row = np.repeat(np.arange(self.n), sizes)
        hit = np.flatnonzero(self.numbers == arm[row])
        found = np.full(self.n, -1)
        found[row[hit]] = hit - self.starts[row[hit]]
        return found

    def allowed(self, row: int) -> str:
        """Return the arms of a row that may have been played, for messages."""
        shown = self.numbers[self.starts[row] : self.starts[row + 1]].tolist()
        return f"one of those available, {numbers.shown(shown)}"

    def played(self, places: Integers, rows: Integers) -> Floats:
        """Return the features of the arms played in some rows."""
        chosen = self.numbers[self.starts[rows] + places[rows]]
        return self.actions.known_arms[chosen]

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Yield the rows first, ..., last - 1, in blocks."""
        for start, stop, size in _stretches(self.sizes(), first, last, 1):
            flat = self.numbers[self.starts[start] : self.starts[stop]]
            yield Block(start, stop, size, numbers=flat.reshape(-1, size))


@dataclass(frozen=True, eq=False)
class GivenOffers(Offers):
    """Row i offers the i-th set of arms of an array, which may be a file."""

    def played(self, places: Integers, rows: Integers) -> Floats:
        """Return the features of the arms played in some rows."""
        chosen = self.actions.array[rows, places[rows]]
        return np.asarray(chosen, np.float64)

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Yield the rows first, ..., last - 1, in blocks."""
        K, d = self.actions.K, self.actions.d
        for start, stop, size in _stretches(self.sizes(), first, last, K * d):
            rows = np.ascontiguousarray(self.actions.array[start:stop], np.float64)
            yield Block(start, stop, size, rows)


@dataclass(frozen=True, eq=False)
class UnknownOffers(Offers):
    """Only the features of the arm that was played are known, rows[i]."""

    rows: Floats

    def sizes(self) -> Integers:
        """Raise ValueError."""
        raise ValueError(
            "the log has the features of the arms played only: give Log the actions on offer"
        )

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Raise ValueError."""
        self.sizes()
        yield from ()

    def played(self, places: Integers, rows: Integers) -> Floats:
        """Return the features of the arms played in some rows."""
        return self.rows[rows]


@dataclass(frozen=True, eq=False)
class RowOffers(Offers):
    """Row i offers the arms rows[starts[i] : starts[i + 1]]."""

    starts: Integers
    rows: Floats

    def sizes(self) -> Integers:
        """Return the number of arms on offer in each row."""
        return np.diff(self.starts)

    def played(self, places: Integers, rows: Integers) -> Floats:
        """Return the features of the arms played in some rows."""
        return self.rows[self.starts[rows] + places[rows]]

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Yield the rows first, ..., last - 1, in blocks."""
        d = self.rows.shape[1]
        for start, stop, size in _stretches(self.sizes(), first, last, int(self.sizes().max()) * d):
            rows = self.rows[self.starts[start] : self.starts[stop]].reshape(-1, size, d)
            yield Block(start, stop, size, rows)


def _stretches(
    sizes: Integers, first: int, last: int, width: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (start, stop, size) of stretches of equal size, of `width` numbers a row."""
    most = max(1, _MOST_NUMBERS // width)
    changes = first + 1 + np.flatnonzero(np.diff(sizes[first:last]))
    ends = [*changes.tolist(), last]
    start = first
    for end in ends:
        while start < end:
            stop = min(end, start + most)
            yield start, stop, int(sizes[start])
            start = stop


def offers_of(actions: Any, available: Any, n: int) -> Offers:
    """Return the offers of n rows, given the arguments of `Log`, or raise."""
    if isinstance(actions, int) and not isinstance(actions, bool):
        K = numbers.integer("actions, a number of arms,", actions, 1, _MOST_ARMS)
        require(f"{K:,} arms without features", 3 * 8 * K * K)
        actions = np.eye(K)
    offers = _ragged(actions, n) if _is_ragged(actions) else _of_array(actions, n)
    if available is None:
        return offers
    if not offers.actions.fixed:
        raise ValueError("available needs fixed arms, (K, d) features: leave it out")
    return _available(offers.actions, available, n)


def _is_ragged(actions: Any) -> bool:
    """Return whether these are the arms of each row, as a sequence of two-dimensional arrays."""
    return isinstance(actions, (list, tuple)) and len(actions) > 0 and np.ndim(actions[0]) == 2


def _of_array(actions: Any, n: int) -> Offers:
    if np.ndim(actions) != 3:
        return Offers(Fixed(actions), n)
    given = Given(actions)
    if len(given.array) != n:
        raise ValueError(f"actions must have a set for each of {n:,} rows, got {given.text}")
    return GivenOffers(given, n)


def _ragged(actions: Any, n: int) -> Offers:
    if len(actions) != n:
        raise ValueError(f"actions must have a set for each of {n:,} rows, got {len(actions):,}")
    sets = [np.asarray(each) for each in actions]
    d = sets[0].shape[-1]
    for row, each in enumerate(sets):
        if each.ndim != 2 or each.shape[1] != d or len(each) == 0:
            raise ValueError(
                f"actions of row {row} must be one or more rows of {d} numbers, got shape "
                f"{each.shape}"
            )
    rows = arrays.array("actions", np.concatenate(sets))
    return RowOffers(Offered(d), n, _starts([len(each) for each in sets]), rows)


def _available(actions: Fixed, available: Any, n: int) -> Offers:
    K, flags = actions.K, np.asarray(available if isinstance(available, np.ndarray) else 0)
    if flags.dtype.kind == "b":
        if flags.shape != (n, K):
            raise ValueError(f"available must have shape ({n}, {K}), got {flags.shape}")
        sizes, chosen = flags.sum(axis=1), np.nonzero(flags)[1]
        _refuse_empty(sizes)
    else:
        if len(available) != n:
            raise ValueError(f"available must have {n:,} rows, got {len(available):,}")
        sizes = np.array([len(each) for each in available])
        _refuse_empty(sizes)
        chosen = np.concatenate([np.asarray(each) for each in available])
    row = np.repeat(np.arange(n), sizes)
    whole = chosen.dtype.kind in "iu"
    wrong = np.flatnonzero((chosen < 0) | (chosen >= K)) if whole else np.arange(len(chosen))
    if len(wrong):
        text = f"available must have integers from 0 to {K - 1}, got {chosen[wrong[0]]}"
        raise RowError(text, int(row[wrong[0]]))
    ordered = np.sort(row * K + chosen)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        text = f"available must have each arm once, got {twice[0] % K} twice"
        raise RowError(text, int(twice[0] // K))
    return SomeOffers(actions, n, _starts(sizes), chosen.astype(np.int64))


def _refuse_empty(sizes: Any) -> None:
    if not sizes.all():
        raise RowError("available must have at least one arm, got none", int(sizes.argmin()))


def _starts(sizes: Any) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
