"""Theta that is drawn anew at some steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.drift.drift import Drift
from fastes.drift.steps import checked_steps, step_array, steps_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from fastes.checks.arrays import Floats


@dataclass(frozen=True)
class Abrupt(Drift):
    """Theta is drawn anew from the truth's prior at the given steps.

    Parameters
    ----------
    steps : array_like of int
        Increasing, from 1 on: the first step is step 0. The reward of step 150 is the first under
        the new theta of ``Abrupt([150])``. Steps beyond the end have no effect.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> truth = fastes.Truth(drift=fastes.drift.Abrupt([2, 3]))
    >>> truth.path(bandit, T=5, seed=1).round(2)
    array([[-0.48,  2.24],
           [-0.48,  2.24],
           [ 0.45,  2.04],
           [ 1.04,  1.87],
           [ 1.04,  1.87]])
    """

    kind: ClassVar[str] = "abrupt"

    steps: tuple[int, ...]

    def __init__(self, steps: Iterable[int]) -> None:
        object.__setattr__(self, "steps", checked_steps(steps))

    @property
    def text(self) -> str:
        """abrupt and the steps."""
        return f"{self.kind}:{','.join(map(str, self.steps))}"

    @property
    def label(self) -> str:
        """The same, or how many steps and a hash."""
        return steps_label(self.text, self.kind, self.steps)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the steps."""
        return {"steps": step_array(self.steps)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of these steps."""
        return cls(saved["steps"].tolist())

    def kernel(self, place: Any, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift
        from fastes.kernels.states.stack import Shared

        steps = Shared(step_array(self.steps))
        return drift.Abrupt(place.prior, steps, np.zeros(1, np.int64), np.zeros(place.normals))

    def longest(self, place: Any, first: Floats) -> float:
        """Return the norm of theta of step 0 or of a rare draw."""
        return max(place.length(first), place.reach)
