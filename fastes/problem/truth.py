"""A world that differs from what an agent believes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from fastes.checks import numbers
from fastes.drift import DRIFTS
from fastes.drift.drift import Drift
from fastes.problem.truth_values import (
    equal_covariances,
    shown_value,
    truth_covariance,
    truth_mean,
    truth_root,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from fastes.checks.arrays import Floats
    from fastes.problem.bandit import Bandit

LAWS = ("normal", "uniform", "signs", "laplace")
"""The laws of the noise, as kernels number them (kernels/rewards/gaussian.py)."""

_VALUES = ("prior_mean", "prior_cov", "noise")


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """How the world differs from what the agents of a simulation believe.

    The bandit's prior and noise are the agents' belief. With a truth, theta is drawn from the
    truth's N(prior_mean, prior_cov), and reward noise has the truth's standard deviation and law.
    Regret is against the true means. A truth equal to the belief has no effect.

    Parameters
    ----------
    prior_mean : float or (d,) array_like, optional
        Mean of theta; by default the bandit's.
    prior_cov : float, (d,) or (d, d) array_like, optional
        Covariance of theta; by default the bandit's.
    noise : float, optional
        Standard deviation of a reward, which may be 0; by default the bandit's.
    noise_law : {"normal", "uniform", "signs", "laplace"}
        The law of the noise, of mean 0 and that standard deviation s: N(0, s^2); uniform on
        [-sqrt(3) s, sqrt(3) s]; -s or s, each as likely; or of density
        exp(-sqrt(2) abs(x) / s) / (sqrt(2) s).
    drift : drift, optional
        How theta changes from step to step, such as ``fastes.drift.AutoRegressive(0.999)``. Regret
        is then against the best arm of each step. By default theta stays.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=20, d=4)
    >>> truth = fastes.Truth(noise=3.0, noise_law="laplace")
    >>> truth
    Truth(noise=3.0, noise_law='laplace')
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=500, runs=50, truth=truth)
    Result(TS: regret 119.8 +- 12 at T=500, 50 runs)
    """

    prior_mean: float | Floats | None
    prior_cov: float | Floats | None
    noise: float | None
    noise_law: str
    drift: Drift | None
    _root: float | Floats | None  # of prior_cov

    def __init__(
        self,
        prior_mean: ArrayLike | None = None,
        prior_cov: ArrayLike | None = None,
        noise: float | None = None,
        noise_law: str = "normal",
        drift: Drift | None = None,
    ) -> None:
        if noise_law not in LAWS:
            raise ValueError(f"noise_law must be one of {', '.join(LAWS)}, got {noise_law!r}")
        if not (drift is None or isinstance(drift, Drift)):
            raise TypeError(
                "drift must be one of fastes.drift, such as fastes.drift.Abrupt([150, 300]), "
                f"got {numbers.shown(drift)}"
            )
        values: dict[str, Any] = {
            "prior_mean": None if prior_mean is None else truth_mean(prior_mean),
            "prior_cov": None if prior_cov is None else truth_covariance(prior_cov),
            "noise": None if noise is None else numbers.nonnegative("truth's noise", noise),
            "noise_law": noise_law,
            "drift": drift,
        }
        values["_root"] = None if prior_cov is None else truth_root(values["prior_cov"])
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Truth) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        given = [f"{name}={shown_value(value)}" for name, value in self._given().items()]
        law = [] if self.noise_law == "normal" else [f"noise_law={self.noise_law!r}"]
        moves = [] if self.drift is None else [f"drift={self.drift!r}"]
        return f"Truth({', '.join([*given, *law, *moves])})"

    def _given(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in _VALUES}
        return {name: value for name, value in values.items() if value is not None}

    def is_belief(self, bandit: Bandit) -> bool:
        """Return whether the world is as the bandit's agents believe."""
        noise = self.noise in (None, bandit.rewards.unit) and self.noise_law == "normal"
        return noise and self.drift is None and not self.changes_prior(bandit)

    def changes_prior(self, bandit: Bandit) -> bool:
        """Return whether theta of step 0 is drawn from another prior than the bandit's."""
        import numpy as np

        mean, covariance = self.prior_mean, self.prior_cov
        same_mean = mean is None or bool(np.all(mean == bandit.prior_mean))
        same_spread = covariance is None or equal_covariances(covariance, bandit.prior_cov)
        return not (same_mean and same_spread)

    @property
    def text(self) -> str:
        """What differs from the belief, on one line; unique to this truth."""
        given = [f"{name.replace('_', ' ')} {value_text(v)}" for name, v in self._given().items()]
        law = [] if self.noise_law == "normal" else [f"{self.noise_law} noise"]
        moves = [] if self.drift is None else [f"drift {self.drift.label}"]
        return ", ".join([*given, *law, *moves]) or "belief"

    def check(self, bandit: Bandit) -> None:
        """Raise ValueError unless this truth fits the bandit."""
        import numpy as np

        d = bandit.d
        for name in ("prior_mean", "prior_cov"):
            shape = np.shape(getattr(self, name) if getattr(self, name) is not None else 0.0)
            if shape not in ((), (d,), (d, d)):
                raise ValueError(
                    f"truth's {name} must fit a bandit with d={d}, got an array of shape {shape}"
                )
        bandit.rewards.check_truth(self)
        if self.drift is not None:
            self.drift.check(d)
        moves = self.changes_prior(bandit) or self.drift is not None
        if moves and bandit.action_set.needs_coordinates:
            self._check_support(bandit)

    def _check_support(self, bandit: Bandit) -> None:
        """Raise ValueError where theta may lie outside the support of a singular belief."""
        import numpy as np

        from fastes.problem.coordinates import canonical_theta

        if bandit.rank == bandit.d and np.all(bandit.canonical.factor):
            return
        believed, (mean, root) = bandit.prior_mean, self.prior(bandit)
        columns = root * np.eye(bandit.d) if np.ndim(root) < 2 else np.asarray(root)
        visited = () if self.drift is None else self.drift.visited(mean)
        try:
            for theta in (mean, *(believed + column for column in columns.T), *visited):
                canonical_theta(bandit.canonical, theta, believed)
        except ValueError:
            moves = ", and so must theta that drifts" if visited else ""
            raise ValueError(
                "the support of truth's prior must lie within that of the bandit's, whose "
                f"prior_cov is singular{moves}"
            ) from None

    def prior(self, bandit: Bandit) -> tuple[Floats, float | Floats]:
        """Return the mean of theta, and a root of its covariance."""
        import numpy as np

        mean = bandit.prior_mean if self.prior_mean is None else np.asarray(self.prior_mean)
        root: Any = self._root
        if root is None:
            known = bandit.canonical.factor
            root = truth_root(bandit.prior_cov) if known is None else known
        return np.array(np.broadcast_to(mean, bandit.d), np.float64), root

    def theta(self, bandit: Bandit, seed: int, run: int) -> Floats:
        """Return theta of a run at step 0: m + F n, with the standard normals n of that run.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=20, d=3)
        >>> fastes.Truth(prior_mean=5.0, prior_cov=0.01).theta(bandit, seed=1, run=0).round(2)
        array([4.95, 5.22, 4.97])
        """
        import numpy as np

        from fastes.kernels.actions.arms import transform_rows
        from fastes.kernels.streams.layout import THETA
        from fastes.kernels.streams.normals import fill_normals
        from fastes.kernels.streams.philox import source
        from fastes.problem.whitening import kept_coordinates, rank_of

        theta, root = self.prior(bandit)
        normals = np.empty(rank_of(root, bandit.d))
        fill_normals(source(seed, run), THETA, 0, normals)
        if isinstance(root, float):
            return theta + root * normals
        if root.ndim == 1:
            kept = kept_coordinates(root)
            theta[kept] += root[kept] * normals
            return theta
        gap = np.empty((bandit.d, 1))
        transform_rows(root.copy(), normals[:, None].copy(), 1.0, gap)
        return theta + gap[:, 0]

    def path(
        self,
        bandit: Bandit,
        T: int,
        seed: int = 0,
        run: int = 0,
        theta: ArrayLike | None = None,
    ) -> Floats:
        """Return theta of each of the steps 0, ..., T - 1 of a run, one a row.

        Parameters
        ----------
        bandit : Bandit
            The problem.
        T, seed, run : int
            Number of steps, seed and number of the run.
        theta : (d,) array_like, optional
            Theta of step 0; by default it is drawn from the prior.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=20, d=3)
        >>> truth = fastes.Truth(drift=fastes.drift.AutoRegressive(0.9))
        >>> truth.path(bandit, T=1000).shape
        (1000, 3)
        """
        import numpy as np

        from fastes.checks import arrays, memory
        from fastes.kernels.loop.drift import write_path
        from fastes.kernels.streams.philox import source
        from fastes.problem.moving import moving_theta, place_of

        T = numbers.integer("T", T, 1, numbers.MAX_STEPS)
        memory.require(f"theta of {T:,} steps", 8 * T * bandit.d)
        self.check(bandit)
        first = self.theta(bandit, seed, run) if theta is None else arrays.array("theta", theta)
        if first.shape != (bandit.d,):
            raise ValueError(f"theta must have shape ({bandit.d},), got shape {first.shape}")
        if self.drift is None:
            return np.tile(first, (T, 1))
        moving = moving_theta(bandit, self, place_of(bandit, self, canonical=False), first)
        out = np.empty((T, bandit.d))
        write_path(moving, source(seed, run), out)
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_arrays` makes the same truth, to the bit."""
        import numpy as np

        saved = {name: np.asarray(value) for name, value in self._given().items()}
        root = np.asarray(self._root if self.prior_cov is not None else 0.0)
        if root.ndim == 2:  # depends on LAPACK
            saved["root"] = root
        if self.drift is not None:
            saved["drift_kind"] = np.array(self.drift.kind)
            saved |= {f"drift_{name}": each for name, each in self.drift.arrays().items()}
        return {**saved, "noise_law": np.array(self.noise_law)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the truth of these `arrays`, or raise KeyError, TypeError or ValueError."""
        import numpy as np

        from fastes.files.archive import with_prefix

        given: dict[str, Any] = {name: saved[name][()] for name in _VALUES if name in saved}
        if "drift_kind" in saved:
            kind = DRIFTS[str(saved["drift_kind"])]
            given["drift"] = kind.from_arrays(with_prefix(saved, "drift_"))
        truth = cls(**given, noise_law=str(saved["noise_law"]))
        if "root" in saved:
            root = np.array(saved["root"], np.float64)
            if root.shape != np.asarray(truth._root).shape:
                raise ValueError("the root of truth's prior_cov has the wrong shape")
            object.__setattr__(truth, "_root", root)
        return truth
