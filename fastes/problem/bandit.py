"""The linear-Gaussian bandit of the paper's section 3.1."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.actions import ActionSet, Redrawn, Subset, action_set_from_parts
from fastes.actions.families import RandomArms, check_family
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.checks.numbers import MAX_SEED, MAX_SIZE
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.guard import made_of
from fastes.files.kinds import require_replaceable
from fastes.problem.belief import checked_covariance, checked_mean
from fastes.problem.rewards import GaussianRewards
from fastes.problem.sizes import FIXED, ProblemSizes, problem_bytes

if TYPE_CHECKING:
    from fastes.problem.whitening import Canonical


@dataclass(frozen=True, eq=False, repr=False)
class LinearBandit:
    """K arms in R^d, a Gaussian prior on theta, and Gaussian noise on every reward.

    Arm a pays ``a'theta + N(0, noise^2)``, with theta ~ N(prior_mean, prior_cov).

    Parameters
    ----------
    actions : (K, d) array_like or action set
        The arms, one a row, the same at every step: the paper's setting. Or a set of
        ``fastes.actions``, where they are not.
    prior_mean : float or (d,) array_like
        mu_0; a number stands for a vector of it.
    prior_cov : float, (d,) or (d, d) array_like
        Sigma_0: isotropic, diagonal or full. It may be singular.
    noise : float
        sigma, the standard deviation of a reward.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit([[1.0, 0.0], [0.6, 0.8]], prior_cov=[1.0, 4.0], noise=0.5)
    >>> bandit
    LinearBandit(K=2, d=2, noise=0.5)
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=20)
    Result(TS: regret 3.011 +- 0.48 at T=100, 20 runs)
    """

    actions: Any  # (K, d) floats, or an ActionSet; typed so that the common case needs no cast
    prior_mean: Floats
    prior_cov: float | Floats
    noise: float

    def __init__(
        self,
        actions: ArrayLike | ActionSet,
        prior_mean: ArrayLike = 0.0,
        prior_cov: ArrayLike = 1.0,
        noise: float = 1.0,
    ) -> None:
        checked = actions if isinstance(actions, ActionSet) else _fixed(actions)
        d = checked.dimension if isinstance(checked, ActionSet) else checked.shape[1]
        require(f"a belief about {d:,} dimensions", 5 * 8 * d)
        values = {
            "actions": checked,
            "prior_mean": arrays.frozen(checked_mean("prior_mean", prior_mean, d)),
            "prior_cov": checked_covariance("prior_cov", prior_cov, d),
            "noise": numbers.positive("noise", noise),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _ = self.canonical  # raises where prior_cov or the noise are not what they should be

    @cached_property
    def random_arms(self) -> RandomArms | None:
        """What the arms were drawn as, if `random` drew them."""
        return None

    @cached_property
    def rewards(self) -> GaussianRewards:
        """The law of rewards."""
        return GaussianRewards(self.noise)

    @property
    def K(self) -> Any:  # an int but for None
        """Number of arms on offer at a step; None where they are not counted, as on a ball."""
        given = self.actions
        return given.arms_on_offer if isinstance(given, ActionSet) else given.shape[0]

    @property
    def d(self) -> int:
        """Dimension of theta."""
        given = self.actions
        return given.dimension if isinstance(given, ActionSet) else given.shape[1]

    @property
    def action_set(self) -> ActionSet | None:
        """What is on offer, where that is not the same at every step of every run."""
        return self.actions if isinstance(self.actions, ActionSet) else None

    @property
    def counted_arms(self) -> int:
        """How many arms have numbers that last, by which plays are counted."""
        given = self.actions
        return given.counted_arms if isinstance(given, ActionSet) else given.shape[0]

    @property
    def arms_repeat(self) -> bool:
        """Whether the arms of a run are the same at every step."""
        return self.action_set is None or isinstance(self.actions, Redrawn)

    def fixed_arms(self, what: str) -> Floats:
        """Return the arms, (K, d), or raise ValueError: what is asked for is about fixed ones."""
        if isinstance(self.actions, ActionSet):
            raise ValueError(
                f"{what} are about a fixed set of arms, got actions {self.actions.words}"
            )
        return self.actions

    @property
    def rank(self) -> int:
        """Dimension of what can be learned, at most d, K and the rank of prior_cov."""
        return self.canonical.rank

    @property
    def sizes(self) -> ProblemSizes:
        """What the memory of its runs depends on."""
        kind = FIXED if self.action_set is None else self.action_set.kind
        full = np.ndim(self.prior_cov) == 2
        return ProblemSizes(kind, self.K, self.d, self.rank, self.counted_arms, full)

    @cached_property
    def canonical(self) -> "Canonical":
        """The whitened problem that the kernels work on."""
        from fastes.problem.coordinates import canonicalise_belief
        from fastes.problem.whitening import canonicalise

        given, belief = self.actions, (self.prior_mean, self.prior_cov, self.noise)
        if isinstance(given, Subset):
            return canonicalise(given.pool, *belief)
        if isinstance(given, ActionSet):
            return canonicalise_belief(given, *belief)
        return canonicalise(given, *belief)

    @cached_property
    def duplicate_counts(self) -> NDArray[np.int64]:
        """How many arms are equal to each, itself included, as far as rewards can tell: (K,)."""
        from fastes.problem.whitening import duplicate_counts

        return duplicate_counts(self.canonical)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole problem, equal for equal problems."""
        given, belief = self.actions, (self.prior_mean, self.prior_cov, self.noise)
        if isinstance(given, ActionSet):
            return arrays.fingerprint(given.kind, *given.parts().values(), *belief)
        return arrays.fingerprint(given, *belief)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are made as originals are: validated, and read-only.
        return _copied, (self.parts(), self.random_arms)

    def __repr__(self) -> str:
        if self.action_set is not None:
            return f"LinearBandit({self.action_set}, noise={self.noise:g})"
        return f"LinearBandit(K={self.K}, d={self.d}, noise={self.noise:g})"

    def _repr_html_(self) -> str:
        described = self.action_set or self.random_arms
        covariance = ("isotropic", "diagonal", "full")[np.ndim(self.prior_cov)]
        facts = {
            "arms K": "not counted" if self.K is None else f"{self.K:,}",
            "dimension d": f"{self.d:,}",
            "rank": f"{self.rank:,}",
            "arms": described.words if described else "given",
            "prior covariance": covariance,
            "noise": f"{self.noise:g}",
        }
        rows = "".join(f"<tr><th>{name}</th><td>{fact}</td></tr>" for name, fact in facts.items())
        return f"<table><caption>LinearBandit</caption>{rows}</table>"

    @classmethod
    def random(
        cls,
        K: int,
        d: int,
        arms: str = "sphere",
        *,
        prior_mean: ArrayLike = 0.0,
        prior_cov: ArrayLike = 1.0,
        noise: float = 1.0,
        seed: int = 0,
    ) -> Self:
        """Return a bandit with random arms.

        Parameters
        ----------
        K, d : int
            Number of arms and their dimension.
        arms : {"sphere", "gaussian", "uniform", "basis"}
            On the unit sphere; N(0, I/d); uniform on [-1/sqrt(d), 1/sqrt(d)]^d; or the unit
            vectors (not random, and K must equal d).
        prior_mean, prior_cov, noise
            As for `LinearBandit`.
        seed : int
            Of the arms. The same seed in `simulate` draws other numbers.

        Examples
        --------
        >>> import fastes
        >>> fastes.LinearBandit.random(K=1000, d=20, arms="gaussian", seed=3)
        LinearBandit(K=1000, d=20, noise=1)
        """
        K = numbers.integer("K", K, 1, MAX_SIZE)
        d = numbers.integer("d", d, 1, MAX_SIZE)
        seed = numbers.integer("seed", seed, 0, MAX_SEED)
        check_family(arms, K, d)
        require(f"a problem with K={K:,} and d={d:,}", problem_bytes(K, d))
        return cls._drawn(RandomArms(arms, K, d, seed), prior_mean, prior_cov, noise)

    @classmethod
    def _drawn(cls, arms: RandomArms, *rest: Any) -> Self:
        bandit = cls(arms.draw(), *rest)
        bandit.__dict__["random_arms"] = arms
        return bandit

    @classmethod
    def gaussian_process(
        cls, kernel_matrix: ArrayLike, mean: ArrayLike = 0.0, noise: float = 1.0
    ) -> Self:
        """Return the bandit whose arms' values are jointly N(mean, kernel_matrix).

        Parameters
        ----------
        kernel_matrix : (K, K) array_like
            Covariance of the arms' values; it may be singular.
        mean : float or (K,) array_like
            Mean of the arms' values.
        noise : float
            Standard deviation of a reward.

        Examples
        --------
        >>> import fastes, numpy as np
        >>> x = np.linspace(0, 1, 50)
        >>> kernel = np.exp(-((x[:, None] - x) ** 2) / 0.02)
        >>> bandit = fastes.LinearBandit.gaussian_process(kernel, noise=0.1)
        >>> bandit.K, bandit.rank
        (50, 33)
        """
        covariance = np.atleast_2d(arrays.array("kernel_matrix", kernel_matrix))
        K = len(covariance)
        if covariance.shape != (K, K) or K == 0:
            raise ValueError(f"kernel_matrix must be square, got shape {covariance.shape}")
        require(f"a Gaussian process with K={K:,}", 5 * 8 * K * K)
        return cls(np.eye(K), checked_mean("mean", mean, K), covariance, noise)

    @classmethod
    def hard_for_ensembles(cls, K: int, M: int, noise: float = 1.0) -> Self:
        """Return the problem of Theorem D, on which M models lose in proportion to T K / M.

        Arm 0 is known to pay nothing. The others are the K - 1 unit vectors, each better than
        arm 0 with probability 1/M: theta ~ N(-c, I), P(N(0, 1) > c) = 1/M. With probability near
        1/e no model starts with a good opinion of a given arm, which is then never played.

        Parameters
        ----------
        K : int
            Number of arms, from 2 to M + 2.
        M : int
            Number of models, at least 2.
        noise : float
            Standard deviation of a reward.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.hard_for_ensembles(K=3, M=40)
        >>> bandit.actions.tolist(), round(float(bandit.prior_mean[0]), 3)
        ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], -1.96)
        """
        from scipy.special import ndtri

        M = numbers.integer("M", M, 2, MAX_SIZE)
        K = numbers.integer("K", K, 2, min(MAX_SIZE, M + 2))
        require(f"a problem with K={K:,} and d={K - 1:,}", problem_bytes(K, K - 1))
        return cls(np.eye(K, K - 1, k=-1), float(ndtri(1.0 / M)), 1.0, noise)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the problem to an npz file, whole or not at all.

        A file that is no problem is not replaced, unless by `force`.
        """
        require_replaceable(path, "problem", force)
        save_arrays(path, "problem", {}, self.parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a problem that `save` wrote."""
        _, arrays = load_arrays(path, "problem")
        with made_of(path, "problem"):
            return cls.from_parts(arrays)

    def parts(self, drawn_again: bool = False) -> dict[str, NDArray[Any]]:
        """Return what `from_parts` makes the same problem of, to the bit, as arrays.

        The coordinates of the arms are among them where a library chose these. Random arms may be
        left out, to be `drawn_again`: that takes no room.
        """
        from fastes.problem.whitening import pack_canonical

        parts = {name: np.asarray(getattr(self, name)) for name in _BELIEF}
        if self.action_set is not None:
            parts |= {"set_kind": np.array(self.action_set.kind), **self.action_set.parts()}
        elif drawn_again and self.random_arms is not None:
            parts |= self.random_arms.parts()
        else:
            parts["actions"] = np.asarray(self.actions)
        coordinates = pack_canonical(self.canonical).items()
        return parts | {f"canonical_{name}": part for name, part in coordinates}

    @classmethod
    def from_parts(cls, parts: Mapping[str, NDArray[Any]]) -> Self:
        """Return the problem whose `parts` these are, or raise KeyError, TypeError, ValueError."""
        from fastes.problem.whitening import unpack_canonical

        prior_mean, prior_cov, noise = (parts[name][()] for name in _BELIEF)
        if "set_kind" in parts:
            bandit = cls(action_set_from_parts(parts), prior_mean, prior_cov, float(noise))
        elif "actions" in parts:
            bandit = cls(parts["actions"], prior_mean, prior_cov, float(noise))
        else:
            arms = RandomArms.from_parts(parts)
            require(f"a problem with K={arms.K:,} and d={arms.d:,}", problem_bytes(arms.K, arms.d))
            bandit = cls._drawn(arms, prior_mean, prior_cov, float(noise))
        coordinates = with_prefix(parts, "canonical_")
        bandit.__dict__["canonical"] = unpack_canonical(coordinates, bandit.canonical)
        return bandit


def _copied(parts: Mapping[str, NDArray[Any]], random_arms: RandomArms | None) -> LinearBandit:
    bandit = LinearBandit.from_parts(parts)
    bandit.__dict__["random_arms"] = random_arms
    return bandit


_BELIEF = ("prior_mean", "prior_cov", "noise")


def _fixed(actions: ArrayLike) -> Floats:
    """Return a fixed set of arms, one a row, or raise."""
    rows = arrays.array("actions", actions)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            "actions must have two dimensions, K arms by d features, at least 1 by 1, or be a set "
            f"of fastes.actions, got shape {rows.shape}"
        )
    numbers.integer("the number of arms K", len(rows), 1, MAX_SIZE)
    return arrays.frozen(rows)
