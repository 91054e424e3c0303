"""How the true theta may change from step to step; public as `fastes.drift`."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.checks import numbers
from fastes.checks.lists import progression

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from fastes.checks.arrays import Floats
    from fastes.problem.moving import Place

__all__ = ["Abrupt", "AutoRegressive", "Piecewise", "Rotating"]

_MOST_SHOWN = 8  # steps in a label


class Drift(ABC):
    """How theta changes. Steps are counted from 0; theta of step 0 is that of a world at rest."""

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
    def words(self) -> str:
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
    def kernel(self, place: Place, first: Floats) -> Any:
        """Return the kernel's drift, given theta of step 0."""

    @abstractmethod
    def longest(self, place: Place, first: Floats) -> float:
        """Return a norm that theta does not exceed, but for one run in many millions."""

    def visited(self, mean: Floats) -> tuple[Floats, ...]:
        """Return thetas that must be possible, beside those of the prior of this mean."""
        return ()

    def check(self, d: int) -> None:
        """Raise ValueError unless it fits d dimensions."""
        if d < self.least_d:
            raise ValueError(f"drift {self.text} needs d of at least {self.least_d}, got d={d}")


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
    array([[-0.05,  2.16],
           [-0.05,  2.16],
           [ 0.  ,  0.  ],
           [ 0.  ,  0.  ],
           [ 0.  ,  0.  ]])
    """

    kind: ClassVar[str] = "abrupt"

    steps: tuple[int, ...]

    def __init__(self, steps: Iterable[int]) -> None:
        object.__setattr__(self, "steps", _steps(steps))

    @property
    def text(self) -> str:
        """abrupt and the steps."""
        return f"{self.kind}:{','.join(map(str, self.steps))}"

    @property
    def words(self) -> str:
        """The same, or how many steps and a hash."""
        return _words(self, self.steps)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the steps."""
        return {"steps": _step_array(self.steps)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of these steps."""
        return cls(saved["steps"].tolist())

    def kernel(self, place: Place, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift
        from fastes.kernels.states.stack import Shared

        steps = Shared(_step_array(self.steps))
        return drift.Abrupt(place.prior, steps, np.zeros(1, np.int64), np.zeros(place.normals))

    def longest(self, place: Place, first: Floats) -> float:
        """Return the norm of theta of step 0 or of a rare draw."""
        return max(place.length(first), place.reach)


@dataclass(frozen=True)
class AutoRegressive(Drift):
    """Theta moves at every step and returns to the mean m of the truth's prior.

    theta' - m = rho (theta - m) + sqrt(1 - rho^2) n, with n from N(0, the prior's covariance). If
    theta of step 0 is drawn from the prior, so is theta of every step; the correlation of two of
    them, n steps apart, is rho^n.

    Parameters
    ----------
    rho : float
        From -1 to 1. With 1 theta stays as it is; with 0 it is drawn anew at every step.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> truth = fastes.Truth(drift=fastes.drift.AutoRegressive(0.999))
    >>> truth.path(bandit, T=3, seed=1).round(2)
    array([[-0.05,  2.16],
           [ 0.  ,  0.  ],
           [ 0.  ,  0.  ]])
    """

    kind: ClassVar[str] = "ar"

    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", numbers.between("rho", self.rho, -1.0, 1.0))

    @property
    def text(self) -> str:
        """ar and rho."""
        return f"{self.kind}:{self.rho!r}"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return rho."""
        import numpy as np

        return {"rho": np.array(self.rho)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of this rho."""
        return cls(float(saved["rho"]))

    def kernel(self, place: Place, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift

        scale = math.sqrt((1.0 - self.rho) * (1.0 + self.rho))
        scratch = np.zeros(place.normals), np.zeros(len(place.prior.value.mean))
        return drift.AutoRegressive(place.prior, self.rho, scale, *scratch)

    def longest(self, place: Place, first: Floats) -> float:
        """Return the norm of theta of step 0 and of a rare draw, together."""
        return place.length(first) + place.reach


@dataclass(frozen=True)
class Rotating(Drift):
    """Theta turns about the prior's mean, in the plane of its first two coordinates.

    theta_t - m = R(t angle) (theta_0 - m), where R(x) turns coordinate 1 towards coordinate 2 by
    the angle x; all others stay. With prior mean 0 and d = 2 theta moves on a circle about 0.

    Parameters
    ----------
    angle : float
        Of a step, in radians.

    Examples
    --------
    >>> import fastes, numpy as np
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> truth = fastes.Truth(drift=fastes.drift.Rotating(np.pi / 4))
    >>> truth.path(bandit, T=3, theta=[1.0, 0.0]).round(2)
    array([[1.  , 0.  ],
           [0.71, 0.71],
           [0.  , 1.  ]])
    """

    kind: ClassVar[str] = "rotating"
    least_d: ClassVar[int] = 2

    angle: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", numbers.between("angle", self.angle, -math.pi, math.pi))

    @property
    def text(self) -> str:
        """rotating and the angle."""
        return f"{self.kind}:{self.angle!r}"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the angle."""
        import numpy as np

        return {"angle": np.array(self.angle)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of this angle."""
        return cls(float(saved["angle"]))

    def kernel(self, place: Place, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift

        along, across = np.zeros_like(first), np.zeros_like(first)
        along[:2] = first[:2] - place.mean[:2]
        across[:2] = -along[1], along[0]
        centre = first.copy()
        centre[:2] = place.mean[:2]
        turned = place.direction(along), place.direction(across)
        return drift.Rotating(place.point(centre), *turned, self.angle)

    def visited(self, mean: Floats) -> tuple[Floats, ...]:
        """Return two thetas in its plane."""
        import numpy as np

        axes = np.eye(2, len(mean))
        return tuple(mean + axes)

    def longest(self, place: Place, first: Floats) -> float:
        """Return the mean's norm and the distance of theta from it, together."""
        return place.length(place.mean) + place.length(first - place.mean)


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
    ''
    """

    kind: ClassVar[str] = "piecewise"
    uses_prior: ClassVar[bool] = False

    steps: tuple[int, ...]
    thetas: Floats

    def __init__(self, steps: Iterable[int], thetas: ArrayLike) -> None:
        from fastes.checks import arrays

        object.__setattr__(self, "steps", _steps(steps))
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
        return f"{Abrupt.text.fget(self)} ({self._hash})"  # type: ignore[attr-defined]

    @property
    def words(self) -> str:
        """The same, or how many steps and a hash."""
        return _words(self, self.steps, f", {self._hash}")

    @property
    def _hash(self) -> str:
        from fastes.checks.arrays import fingerprint

        return fingerprint(self.thetas)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the steps and the thetas."""
        import numpy as np

        return {"steps": _step_array(self.steps), "thetas": np.asarray(self.thetas)}

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

    def kernel(self, place: Place, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift
        from fastes.kernels.states.stack import Shared

        thetas = np.array([place.point(theta) for theta in self.thetas])
        steps = _step_array(self.steps)
        return drift.Piecewise(Shared(thetas), Shared(steps), np.zeros(1, np.int64))

    def longest(self, place: Place, first: Floats) -> float:
        """Return the largest norm of a theta."""
        return max(place.length(first), *map(place.length, self.thetas))


DRIFTS: dict[str, type[Drift]] = {
    each.kind: each for each in (Abrupt, AutoRegressive, Rotating, Piecewise)
}
"""The drifts, by their names in files."""

OPTION = "abrupt:150,300, ar:0.999 or rotating:0.001"
"""How options and studies write drifts."""


def drift_of_text(name: str, text: str) -> Drift:
    """Return the drift that an option or a study writes, or raise ValueError.

    >>> drift_of_text("drift", "abrupt:100,200,...,500").text
    'abrupt:100,200,300,400,500'
    """
    kind, _, value = text.strip().partition(":")
    if kind == Abrupt.kind and value:
        return Abrupt(progression(f"the steps of {name}", value))
    if kind in (AutoRegressive.kind, Rotating.kind):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return AutoRegressive(number) if kind == AutoRegressive.kind else Rotating(number)
    raise ValueError(f"{name} must be {OPTION}, got {text!r}")


def option_text(name: str, value: Any) -> str | None:
    """Return a drift as options and studies write it, None for none, or raise ValueError."""
    if isinstance(value, Piecewise):
        raise ValueError(f"{name} must be {OPTION}, got {value}: its thetas are no text")
    if isinstance(value, Drift):
        return value.text
    if not isinstance(value, str):
        raise ValueError(f"{name} must be {OPTION}, got {numbers.shown(value)}")
    return None if value.strip() == "none" else drift_of_text(name, value).text


def _steps(given: Any) -> tuple[int, ...]:
    """Return increasing steps, or raise."""
    try:
        listed = [] if isinstance(given, str) else list(given)
    except TypeError:
        listed = []
    if not listed:
        raise ValueError(
            f"drift's steps must be a list of steps such as [150, 300], got {numbers.shown(given)}"
        )
    steps = tuple(numbers.integer("a step of drift", t, 1, numbers.MAX_STEPS) for t in listed)
    for before, after in itertools.pairwise(steps):
        if after <= before:
            raise ValueError(f"drift's steps must increase, got {after} after {before}")
    return steps


def _words(drift: Drift, steps: tuple[int, ...], more: str = "") -> str:
    from fastes.checks.arrays import fingerprint

    if len(steps) <= _MOST_SHOWN:
        return drift.text
    return f"{drift.kind} at {len(steps):,} steps ({fingerprint(_step_array(steps))}{more})"


def _step_array(steps: tuple[int, ...]) -> NDArray[Any]:
    import numpy as np

    return np.array(steps, np.int64)
