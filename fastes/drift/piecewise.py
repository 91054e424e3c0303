"""Given thetas from given steps on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.drift.drift import Drift
from fastes.drift.steps import checked_steps, step_array, steps_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from fastes.checks.arrays import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Piecewise(Drift):
    """Theta becomes `thetas[i]` at step `steps[i]`, and stays until the next.

    Before the first of these steps it is as without drift: `theta` of `simulate`, or drawn from the
    prior.

    Parameters
    ----------
    steps : array_like of int
        Increasing, from 1 on. The first step is step 0, whose theta is `theta` of `simulate`.
    thetas : (n, d) array_like
        A theta for each step.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=2)
    >>> drift = fastes.drift.Piecewise([1000, 2000], [[-1.0, 0.0], [0.0, 1.0]])
    >>> truth = fastes.Truth(drift=drift)
    >>> result = fastes.simulate(
    ...     bandit, fastes.ThompsonSampling(), T=3000, theta=[1.0, 0.0], truth=truth
    ... )
    >>> result.configuration.truth
    'drift piecewise:1000,2000 (a6b059a08471f8b6)'
    """

    kind: ClassVar[str] = "piecewise"
    uses_prior: ClassVar[bool] = False

    steps: tuple[int, ...]
    thetas: Floats

    def __init__(self, steps: Iterable[int], thetas: ArrayLike) -> None:
        from fastes.checks import arrays

        object.__setattr__(self, "steps", checked_steps(steps))
        object.__setattr__(self, "thetas", arrays.frozen(arrays.array("drift's thetas", thetas)))
        n = len(self.steps)
        if self.thetas.ndim != 2 or len(self.thetas) != n or self.thetas.shape[1] == 0:
            raise ValueError(
                f"drift's thetas must have a row for each of {n} steps, "
                f"got shape {self.thetas.shape}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Piecewise) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Piecewise(steps={list(self.steps)}, thetas=array of shape {self.thetas.shape})"

    @property
    def text(self) -> str:
        """piecewise, the steps, and a hash of the thetas. Options cannot give it."""
        return f"{self.kind}:{','.join(map(str, self.steps))} ({self._hash})"

    @property
    def label(self) -> str:
        """The same, or how many steps and a hash."""
        return steps_label(self.text, self.kind, self.steps, f", {self._hash}")

    @property
    def _hash(self) -> str:
        from fastes.checks.arrays import fingerprint

        return fingerprint(self.thetas)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the steps and the thetas."""
        import numpy as np

        return {"steps": step_array(self.steps), "thetas": np.asarray(self.thetas)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of these steps and thetas."""
        return cls(saved["steps"].tolist(), saved["thetas"])

    def visited(self, mean: Floats) -> tuple[Floats, ...]:
        """Return the thetas."""
        return tuple(self.thetas)

    def check(self, d: int) -> None:
        """Raise ValueError unless its thetas have d coordinates."""
        if self.thetas.shape[1] != d:
            raise ValueError(
                f"drift's thetas must fit a bandit with d={d}, got shape {self.thetas.shape}"
            )

    def kernel(self, place: Any, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift
        from fastes.kernels.states.stack import Shared

        thetas = np.array([place.point(theta) for theta in self.thetas])
        steps = step_array(self.steps)
        return drift.Piecewise(Shared(thetas), Shared(steps), np.zeros(1, np.int64))

    def longest(self, place: Any, first: Floats) -> float:
        """Return the largest norm of a theta."""
        return max(place.length(first), *map(place.length, self.thetas))
