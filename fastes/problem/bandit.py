"""A bandit: arms, rewards and a prior on theta."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.actions import ActionSet, Fixed, action_set_from_arrays
from fastes.actions.families import RandomArms
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.guard import made_of
from fastes.files.kinds import require_replaceable
from fastes.problem.belief import checked_covariance, checked_mean
from fastes.problem.rewards import GaussianRewards, RewardLaw
from fastes.problem.sizes import ProblemSizes, problem_bytes

if TYPE_CHECKING:
    from fastes.problem.whitening import Canonical


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Bandit:
    """An action set, a reward law and a Gaussian prior on theta.

    The common base of `LinearBandit`, `LogisticBandit` and `PoissonBandit`.
    """

    action_set: ActionSet
    prior_mean: Floats
    prior_cov: float | Floats
    rewards: RewardLaw

    law: ClassVar[type[RewardLaw]]

    arguments: ClassVar[tuple[str, ...]] = ("prior_mean", "prior_cov")
    """Arguments of the constructor, beside the arms."""

    def __init__(
        self,
        actions: ArrayLike | ActionSet,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        rewards: RewardLaw,
    ) -> None:
        checked = actions if isinstance(actions, ActionSet) else Fixed(actions)
        d = checked.d
        if checked.drawn is not None:
            n = checked.counted_arms
            require(f"a problem with K={n:,} and d={d:,}", problem_bytes(n, d, drawn=True))
        require(f"a belief about {d:,} dimensions", 5 * 8 * d)
        values = {
            "action_set": checked,
            "prior_mean": arrays.frozen(checked_mean("prior_mean", prior_mean, d)),
            "prior_cov": checked_covariance("prior_cov", prior_cov, d),
            "rewards": rewards,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        # Computing the canonical form also validates prior_cov and the noise.
        rewards.check_arms(checked, self.canonical)

    @property
    def actions(self) -> Any:  # typed so that the common case needs no cast
        """The arms, (K, d), if they are the same at every step; else the action set."""
        return self.action_set.known_arms if self.action_set.fixed else self.action_set

    @property
    def K(self) -> Any:  # int | None, typed so that the common case needs no cast
        """Number of arms on offer at a step; None if it is infinite, as on a ball."""
        return self.action_set.K

    @property
    def d(self) -> int:
        """Dimension of theta."""
        return self.action_set.d

    def require_fixed_arms(self, what: str) -> None:
        """Raise ValueError unless all arms are on offer at every step of every run."""
        if not self.action_set.fixed:
            raise ValueError(f"{what} need a fixed set of arms, got actions {self.action_set.text}")

    @property
    def covariance_kind(self) -> str:
        """Whether prior_cov is "isotropic", "diagonal" or "full"."""
        return ("isotropic", "diagonal", "full")[np.ndim(self.prior_cov)]

    @property
    def rank(self) -> int:
        """Dimension of what can be learned, at most d, K and the rank of prior_cov."""
        return self.canonical.rank

    @property
    def sizes(self) -> ProblemSizes:
        """The sizes that determine the memory of its runs."""
        return ProblemSizes(self.action_set, self.rank, np.ndim(self.prior_cov) == 2, self.rewards)

    @cached_property
    def canonical(self) -> "Canonical":
        """The whitened problem that the kernels work on."""
        from fastes.problem.coordinates import canonicalise_belief
        from fastes.problem.whitening import canonicalise

        belief = self.prior_mean, self.prior_cov, self.rewards.unit
        if self.action_set.known_arms is None:
            return canonicalise_belief(self.action_set, *belief)
        return canonicalise(self.action_set.known_arms, *belief)

    @cached_property
    def duplicate_counts(self) -> NDArray[np.int64]:
        """Number of arms equivalent to each arm, itself included: (K,)."""
        from fastes.problem.whitening import duplicate_counts

        return duplicate_counts(self.canonical)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole problem, equal for equal problems."""
        return arrays.fingerprint(*self.action_set.saved().values(), *self._saved_belief().values())

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are constructed like originals: validated and read-only.
        return _copied, (self.arrays(), self.action_set.drawn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.action_set})"

    def _repr_html_(self) -> str:
        law = self.rewards.facts
        facts = {
            "arms K": "-" if self.K is None else f"{self.K:,}",
            "dimension d": f"{self.d:,}",
            "rank": f"{self.rank:,}",
            "arms": self.action_set.origin,
            "prior covariance": self.covariance_kind,
            **{name: f"{fact:g}" if name == "noise" else fact for name, fact in law.items()},
        }
        rows = "".join(f"<tr><th>{name}</th><td>{fact}</td></tr>" for name, fact in facts.items())
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the problem to an npz file, atomically.

        A file that is not a problem is replaced only with `force`.
        """
        require_replaceable(path, "problem", force)
        save_arrays(path, "problem", {}, self.arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a problem that `save` wrote."""
        _, arrays = load_arrays(path, "problem")
        with made_of(path, "problem"):
            return cls.from_arrays(arrays)

    def arrays(self, drawn_again: bool = False) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_arrays` makes the same problem, to the bit.

        They include the arms' coordinates where LAPACK computed them. With `drawn_again`, random
        arms are left out.
        """
        from fastes.problem.whitening import pack_canonical

        saved = {name: np.asarray(value) for name, value in self._saved_belief().items()}
        saved |= self.action_set.saved(drawn_again)
        coordinates = pack_canonical(self.canonical).items()
        return saved | {f"canonical_{name}": array for name, array in coordinates}

    def _saved_belief(self) -> dict[str, Any]:
        return saved_belief(type(self), self.rewards.name, self)

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the problem of these `arrays`, or raise KeyError, TypeError or ValueError."""
        from fastes.problem.bandits import bandit_class
        from fastes.problem.whitening import unpack_canonical

        kind = bandit_class(str(saved.get("rewards", GaussianRewards.name)))
        if not issubclass(kind, cls):
            raise TypeError(f"it is a {kind.__name__}, not a {cls.__name__}")
        belief: dict[str, Any] = {name: saved[name][()] for name in kind.arguments}
        bandit = kind(action_set_from_arrays(saved), **belief)
        coordinates = with_prefix(saved, "canonical_")
        bandit.__dict__["canonical"] = unpack_canonical(coordinates, bandit.canonical)
        return bandit


def saved_belief(kind: type[Bandit], rewards: str, values: Any) -> dict[str, Any]:
    """Return what files hold of a bandit beside its arms, from the attributes of `values`."""
    law = {} if rewards == GaussianRewards.name else {"rewards": rewards}
    return {name: getattr(values, name) for name in kind.arguments} | law


def _copied(saved: Mapping[str, NDArray[Any]], drawn: RandomArms | None) -> Bandit:
    bandit: Bandit = Bandit.from_arrays(saved)
    if drawn is not None:
        bandit.action_set.__dict__["drawn"] = drawn
    return bandit
