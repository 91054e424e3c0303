"""What all action sets share: their sizes, and how they are written to files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Parts = Mapping[str, NDArray[Any]]


class ActionSet(ABC):
    """Arms that are not the same K at every step of every run.

    A set is given to `LinearBandit` in the place of the array of arms.
    """

    kind: ClassVar[str]
    """Its name in files."""

    numbered: ClassVar[bool] = False
    """Whether an arm keeps its number in all runs, so that plays can be counted."""

    @property
    @abstractmethod
    def arms_on_offer(self) -> int | None:
        """K, the number of arms on offer at a step; None where they are not counted."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """d, the length of an arm."""

    @property
    @abstractmethod
    def longest(self) -> float:
        """A length that no arm exceeds, but for one of many millions."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is on offer, in a few words, for tables and titles."""

    @abstractmethod
    def parts(self) -> dict[str, NDArray[Any]]:
        """Return what `from_parts` makes the same set of, as arrays."""

    @classmethod
    @abstractmethod
    def from_parts(cls, parts: Parts) -> ActionSet:
        """Return the set whose `parts` these are, or raise KeyError, TypeError or ValueError."""

    @property
    def counted_arms(self) -> int:
        """How many arms have plays that are counted."""
        return 0


def checked_sizes(K: Any, d: Any) -> tuple[int, int]:
    """Return sizes of a set that is drawn, or raise ValueError."""
    K = numbers.integer("K", K, 1, MAX_SIZE)
    d = numbers.integer("d", d, 1, MAX_SIZE)
    if K * ((d + 1) // 2) > MAX_SIZE:  # lanes of the random generator
        raise ValueError(f"K d must be below 2^33 for arms that are drawn again, got {K} and {d}")
    return K, d
