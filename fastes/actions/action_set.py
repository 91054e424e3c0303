"""The interface of action sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray

    from fastes.actions.families import RandomArms
    from fastes.checks.arrays import Floats

    Arrays = Mapping[str, NDArray[Any]]


class ActionSet(ABC):
    """The arms that are on offer at each step of each run.

    `LinearBandit` takes a set instead of an array of arms. In its methods `canonical` is a
    `Canonical` (fastes/problem/whitening.py) and `run` a `Run` (fastes/simulation/run.py).
    """

    kind: ClassVar[str]
    """Its name in files."""

    fixed: ClassVar[bool] = False
    """Whether the same arms are on offer at every step of every run."""

    arms_repeat: ClassVar[bool] = False
    """Whether the arms of a run are the same at every step."""

    chosen_by: ClassVar[str] = "row"
    """How an agent names the arm it plays: by its "number"; by its index among the "row"s on offer,
    and then it observes the row; or as a "vector" that `act` returns."""

    simulated: ClassVar[bool] = True
    """Whether it can be simulated."""

    live: ClassVar[bool] = False
    """Whether live agents can play on it."""

    if TYPE_CHECKING:

        @property
        def K(self) -> int | None:
            """Number of arms on offer at a step; None if it is infinite or unknown."""

        @property
        def d(self) -> int:
            """The length of an arm."""

    # What it is.

    @property
    @abstractmethod
    def text(self) -> str:
        """A short description for tables and titles."""

    @property
    def origin(self) -> str:
        """A short description of where the arms come from."""
        return self.text

    @property
    @abstractmethod
    def longest(self) -> float:
        """Upper bound on the norm of an arm, which at most one of many millions exceeds."""

    @property
    def known_arms(self) -> Floats | None:
        """The arms that keep their number throughout, one a row; plays of these are counted."""
        return None

    @property
    def counted_arms(self) -> int:
        """Number of known arms."""
        return 0

    @property
    def keys(self) -> int | None:
        """Number of arms that can recur in a run, with keys below it; None if none can."""
        return self.K if self.arms_repeat else self.counted_arms or None

    @property
    def drawn(self) -> RandomArms | None:
        """How the known arms were drawn, if they are random."""
        return None

    @property
    def needs_coordinates(self) -> bool:
        """Whether rewards are computed from theta in canonical coordinates (which must exist)."""
        return not self.arms_repeat and self.counted_arms == 0

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_arrays` makes an equal set."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the set of these `arrays`, or raise KeyError, TypeError or ValueError."""

    def saved(self, drawn_again: bool = False) -> dict[str, NDArray[Any]]:
        """Return arrays from which `action_set_from_arrays` makes an equal set.

        With `drawn_again`, random fixed arms are left out, to be drawn again.
        """
        import numpy as np

        return {"set_kind": np.array(self.kind), **self.arrays()}

    @abstractmethod
    def small(self) -> ActionSet:
        """Return a set of the same kind of 8 arms or so in R^2: the same code serves both."""

    # Checks.

    def check_values(self, largest: float) -> None:  # noqa: B027, optional
        """Raise ValueError if the largest value of an arm, in units of the noise, is unsuitable."""

    def check_plays(self, label: str, scores: str) -> None:  # noqa: B027
        """Raise ValueError if an agent with these scores cannot play on it."""

    def fault(self, t: int) -> str:
        """Return what is wrong with the arms of step t, where no arm could be chosen; else ""."""
        return ""

    # Memory.

    def offer_bytes(self, rank: int, full: bool) -> int:
        """Return the bytes of the arms on offer in a run, beside those of the problem.

        `full`: whether arms are whitened by a matrix.
        """
        from fastes.kernels.actions.arms import empty_arms

        return empty_arms.nbytes(self.K or 1, rank) + 8 * self._numbers(rank, full)

    def _numbers(self, rank: int, full: bool) -> int:
        """Return how many numbers are kept beside these arms, for the whitening and for one arm."""
        return 5 * self.d + rank + 2 + (self.d * rank if full else 0)

    def search_bytes(self, scores: str, rank: int) -> int | None:
        """Return the bytes of `search`, or None if it has none of its own."""
        return None

    # Playing.

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the kernel's action set for a run: a named tuple with `arms`."""
        raise NotImplementedError

    def environment(self, actions: Any, run: Any) -> Any:
        """Return the rewards of a run; by default computed from theta and the arms on offer."""
        return run.offer_environment(actions.arms)

    def search(self, actions: Any, scores: str) -> Any:
        """Return a search for the best arm that is special to this set; None for the agent's."""
        return None

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the rows on offer at the steps from t on, for sets chosen by row.

        `recorded` (steps, K) has the arm numbers under which they are recorded.
        """
        raise NotImplementedError

    @property
    def vectors(self) -> str:
        """What `act` of a Python agent must return, for sets chosen by vector."""
        return "a vector of the set"

    def placed(self, vector: Floats) -> Floats | None:
        """Return a vector in the kernel's unit, or None if it is not in the set."""
        raise NotImplementedError

    def played(self, actions: Any) -> Floats:
        """Return the vector that a kernel chose."""
        raise NotImplementedError
