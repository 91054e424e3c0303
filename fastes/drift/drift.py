"""The interface of drifts: how the true theta changes from step to step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastes.checks.arrays import Floats


class Drift(ABC):
    """How theta changes. Steps are counted from 0; theta of step 0 is that of a world at rest.

    In its methods `place` is a `Place` (fastes/problem/moving.py) and `first` theta of step 0.
    """

    kind: ClassVar[str]
    """Its name in options, studies and files."""

    uses_prior: ClassVar[bool] = True
    """Whether the truth's prior matters where theta of step 0 is given."""

    least_d: ClassVar[int] = 1
    """The smallest dimension of theta."""

    @property
    @abstractmethod
    def text(self) -> str:
        """It as options and studies write it, if they can: unique to it."""

    @property
    def label(self) -> str:
        """It in labels and tables: unique to it."""
        return self.text

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_arrays` makes the same drift."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of these arrays, or raise KeyError, TypeError or ValueError."""

    @abstractmethod
    def kernel(self, place: Any, first: Floats) -> Any:
        """Return the kernel's drift, given theta of step 0."""

    @abstractmethod
    def longest(self, place: Any, first: Floats) -> float:
        """Return a norm that theta does not exceed, but for one run in many millions."""

    def visited(self, mean: Floats) -> tuple[Floats, ...]:
        """Return thetas that must be possible, beside those of the prior of this mean."""
        return ()

    def check(self, d: int) -> None:
        """Raise ValueError unless it fits d dimensions."""
        if d < self.least_d:
            raise ValueError(f"drift {self.text} needs d of at least {self.least_d}, got d={d}")
