"""Arms known in advance, and the set that offers all of them: the paper's setting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.actions.families import RandomArms, few_arms
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastes.actions.action_set import Arrays
    from fastes.checks.arrays import Floats


class KnownArms(ActionSet):
    """Given arms, or random ones, which are drawn when first needed."""

    _given: Floats | RandomArms

    def _keep(self, name: str, given: Any, form: str) -> int:
        """Check and keep the arms; `form` describes the shape in messages. Return their number."""
        rows = given
        if not isinstance(given, RandomArms):
            from fastes.checks import arrays

            rows = arrays.array(name, given)
            if rows.ndim != 2 or 0 in rows.shape:
                raise ValueError(f"{name} must have two dimensions, {form}, got shape {rows.shape}")
            rows = arrays.frozen(rows)
        object.__setattr__(self, "_given", rows)
        return self.counted_arms

    @cached_property
    def known_arms(self) -> Floats:
        """All of them, one a row."""
        if isinstance(self._given, RandomArms):
            from fastes.checks import arrays

            return arrays.frozen(self._given.draw())
        return self._given

    @cached_property
    def drawn(self) -> RandomArms | None:
        """How they were drawn, if they are random."""
        return self._given if isinstance(self._given, RandomArms) else None

    @property
    def counted_arms(self) -> int:
        """Number of arms."""
        return self._given.shape[0]

    @property
    def d(self) -> int:
        """The length of an arm."""
        return self._given.shape[1]

    @property
    def longest(self) -> float:
        """The length of the longest arm."""
        import numpy as np

        return float(np.linalg.norm(self.known_arms, axis=1).max())


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Fixed(KnownArms):
    """K arms, all on offer at every step of every run. `LinearBandit` makes it from an array.

    Parameters
    ----------
    actions : (K, d) array_like or RandomArms
        The arms, one a row; or random ones.

    Examples
    --------
    >>> import fastes
    >>> fastes.LinearBandit([[1.0, 0.0], [0.6, 0.8]]).action_set
    Fixed(K=2, d=2)
    """

    kind: ClassVar[str] = "fixed"
    fixed: ClassVar[bool] = True
    arms_repeat: ClassVar[bool] = True
    chosen_by: ClassVar[str] = "number"
    live: ClassVar[bool] = True

    def __init__(self, actions: ArrayLike | RandomArms) -> None:
        form = "K arms by d features, at least 1 by 1, or be an action set of fastes.actions"
        numbers.integer("the number of arms K", self._keep("actions", actions, form), 1, MAX_SIZE)

    def __repr__(self) -> str:
        return f"Fixed({self})"

    def __str__(self) -> str:
        return f"K={self.K}, d={self.d}"

    @property
    def K(self) -> int:
        """Number of arms."""
        return self.counted_arms

    @property
    def text(self) -> str:
        """A short description."""
        return "fixed"

    @property
    def origin(self) -> str:
        """A short description of where the arms come from."""
        return "given" if self.drawn is None else self.drawn.text

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arms."""
        import numpy as np

        return {"actions": np.asarray(self.known_arms)}

    def saved(self, drawn_again: bool = False) -> dict[str, NDArray[Any]]:
        """Return the arms, or how to draw them."""
        return self.drawn.arrays() if drawn_again and self.drawn is not None else self.arrays()

    @classmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the set of these arms."""
        return cls(saved["actions"] if "actions" in saved else RandomArms.from_arrays(saved))

    def small(self) -> Fixed:
        """Return few fixed arms."""
        return Fixed(few_arms())

    def offer_bytes(self, rank: int, full: bool) -> int:
        """Return 0: the arms belong to the problem."""
        return 0

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the arms of the problem."""
        from fastes.kernels.actions.offer import FixedActions

        return FixedActions(canonical.arms)

    def environment(self, actions: Any, run: Any) -> Any:
        """Return the rewards of the arms."""
        return run.environment(actions.arms, lambda: self.known_arms)
