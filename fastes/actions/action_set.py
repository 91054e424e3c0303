"""What all action sets answer: what is on offer, what it takes, and how it is played on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray

    from fastes.actions.families import RandomArms
    from fastes.checks.arrays import Floats

    Parts = Mapping[str, NDArray[Any]]


class ActionSet(ABC):
    """What is on offer at each step of each run.

    A set is given to `LinearBandit` in the place of the array of arms. What it takes as `canonical`
    is its problem (fastes/problem/whitening.py), as `run` a run (fastes/simulation/stages.py).
    """

    kind: ClassVar[str]
    """Its name in files."""

    fixed: ClassVar[bool] = False
    """Whether the same arms are on offer at every step of every run."""

    arms_repeat: ClassVar[bool] = False
    """Whether the arms of a run are the same at every step."""

    chosen_by: ClassVar[str] = "row"
    """How an arm is chosen and observed: by its "number"; as a "row" of those on offer, by its
    place among them, and observed by itself; or as a "vector" that `act` returns."""

    simulated: ClassVar[bool] = True
    """Whether a simulation knows what is on offer."""

    live: ClassVar[bool] = False
    """Whether live agents play on it."""

    if TYPE_CHECKING:

        @property
        def K(self) -> int | None:
            """Number of arms on offer at a step; None where they are not counted."""

        @property
        def d(self) -> int:
            """The length of an arm."""

    # What it is.

    @property
    @abstractmethod
    def words(self) -> str:
        """What is on offer, in a few words, for tables and titles."""

    @property
    def origin(self) -> str:
        """Which arms these are, in a few words."""
        return self.words

    @property
    @abstractmethod
    def longest(self) -> float:
        """A length that no arm exceeds, but for one of many millions."""

    @property
    def known_arms(self) -> Floats | None:
        """The arms that have numbers which last, one a row, by which plays are counted."""
        return None

    @property
    def counted_arms(self) -> int:
        """How many these are."""
        return 0

    @property
    def keys(self) -> int | None:
        """How many arms come again in a run, known by keys below; None where none does."""
        return self.K if self.arms_repeat else self.counted_arms or None

    @property
    def drawn(self) -> RandomArms | None:
        """What the known arms were drawn as, if they were."""
        return None

    @property
    def needs_coordinates(self) -> bool:
        """Whether rewards are computed from theta in canonical coordinates, which must exist."""
        return not self.arms_repeat and self.counted_arms == 0

    @abstractmethod
    def parts(self) -> dict[str, NDArray[Any]]:
        """Return what `from_parts` makes the same set of, as arrays."""

    @classmethod
    @abstractmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Return the set whose `parts` these are, or raise KeyError, TypeError or ValueError."""

    def saved(self, drawn_again: bool = False) -> dict[str, NDArray[Any]]:
        """Return what `action_set_from_parts` makes the same set of, as arrays.

        Fixed arms that were drawn may be left out, to be `drawn_again`.
        """
        import numpy as np

        return {"set_kind": np.array(self.kind), **self.parts()}

    # What it refuses.

    def check_values(self, largest: float) -> None:  # noqa: B027, which most have no use for
        """Raise ValueError where the largest value of an arm, in units of the noise, is no good."""

    def check_plays(self, label: str, scores: str) -> None:  # noqa: B027
        """Raise ValueError where an agent that chooses by such scores does not play on it."""

    def fault(self, t: int) -> str:
        """Return what is wrong with the arms of step t, if no arm could be chosen there."""
        return ""

    # What it takes.

    def offer_bytes(self, rank: int, full: bool) -> int:
        """Return the memory of what is on offer in a run, beside the problem's own.

        `full` is whether arms are whitened by a matrix.
        """
        from fastes.kernels.actions.arms import empty_arms

        return empty_arms.nbytes(self.K or 1, rank) + 8 * self._numbers(rank, full)

    def _numbers(self, rank: int, full: bool) -> int:
        """Return how many numbers are kept beside these arms: of the whitening, and of an arm."""
        return 5 * self.d + rank + 2 + (self.d * rank if full else 0)

    def search_bytes(self, scores: str, rank: int) -> int | None:
        """Return the memory of `search`, or None where it has none of its own."""
        return None

    # How it is played on.

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the kernel's action set for a run: a named tuple with `arms`."""
        raise NotImplementedError

    def environment(self, actions: Any, run: Any) -> Any:
        """Return what pays in a run: by default theta is held against the arms on offer."""
        from fastes.kernels.loop.environment import offer_environment

        return offer_environment(actions.arms, run.z(), run.law(), run.late())

    def search(self, actions: Any, scores: str) -> Any:
        """Return a search of its own for the best arm; None where the agent's is as good."""
        return None

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the rows on offer at the steps from t on, where arms are chosen by row.

        `recorded` (steps, K) are the numbers that they are recorded by.
        """
        raise NotImplementedError

    @property
    def vectors(self) -> str:
        """What `act` of an agent in Python must return, where arms are chosen as vectors."""
        return "a vector of the set"

    def placed(self, vector: Floats) -> Floats | None:
        """Return a vector in the kernel's unit, or None where it is not in the set."""
        raise NotImplementedError

    def played(self, actions: Any) -> Floats:
        """Return the vector that a kernel chose."""
        raise NotImplementedError
