"""A bandit: what is on offer, what it pays, and what is believed of theta at first."""

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
    """An action set, a law of rewards and a Gaussian prior on theta.

    `LinearBandit`, `LogisticBandit` and `PoissonBandit` are bandits.
    """

    action_set: ActionSet
    prior_mean: Floats
    prior_cov: float | Floats
    rewards: RewardLaw

    arguments: ClassVar[tuple[str, ...]] = ("prior_mean", "prior_cov")
    """What it is made of, beside the arms."""

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
        # To ask for its canonical form raises where prior_cov or the noise are wrong.
        rewards.check_arms(checked, self.canonical)

    @property
    def actions(self) -> Any:  # typed so that the common case needs no cast
        """The arms, (K, d), the same at every step; or the set, where they are not."""
        return self.action_set.known_arms if self.action_set.fixed else self.action_set

    @property
    def K(self) -> Any:  # an int but for None
        """Number of arms on offer at a step; None where they are not counted, as on a ball."""
        return self.action_set.K

    @property
    def d(self) -> int:
        """Dimension of theta."""
        return self.action_set.d

    def require_fixed_arms(self, what: str) -> None:
        """Raise ValueError unless all arms are on offer at every step of every run."""
        if not self.action_set.fixed:
            raise ValueError(
                f"{what} are about a fixed set of arms, got actions {self.action_set.text}"
            )

    @property
    def rank(self) -> int:
        """Dimension of what can be learned, at most d, K and the rank of prior_cov."""
        return self.canonical.rank

    @property
    def sizes(self) -> ProblemSizes:
        """What the memory of its runs depends on."""
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
        """How many arms are equal to each, itself included, as far as rewards can tell: (K,)."""
        from fastes.problem.whitening import duplicate_counts

        return duplicate_counts(self.canonical)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole problem, equal for equal problems."""
        return arrays.fingerprint(*self.action_set.saved().values(), *self._stated().values())

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are made as originals are: validated, and read-only.
        return _copied, (self.arrays(), self.action_set.drawn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.action_set})"

    def _repr_html_(self) -> str:
        covariance = ("isotropic", "diagonal", "full")[np.ndim(self.prior_cov)]
        law = self.rewards.facts
        facts = {
            "arms K": "not counted" if self.K is None else f"{self.K:,}",
            "dimension d": f"{self.d:,}",
            "rank": f"{self.rank:,}",
            "arms": self.action_set.origin,
            "prior covariance": covariance,
            **{name: f"{fact:g}" if name == "noise" else fact for name, fact in law.items()},
        }
        rows = "".join(f"<tr><th>{name}</th><td>{fact}</td></tr>" for name, fact in facts.items())
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the problem to an npz file, whole or not at all.

        A file that is no problem is not replaced, unless by `force`.
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
        """Return what `from_arrays` makes the same problem of, to the bit, as arrays.

        The coordinates of the arms are among them where a library chose these. Random arms may be
        left out, to be `drawn_again`: that takes no room.
        """
        from fastes.problem.whitening import pack_canonical

        parts = {name: np.asarray(value) for name, value in self._stated().items()}
        parts |= self.action_set.saved(drawn_again)
        coordinates = pack_canonical(self.canonical).items()
        return parts | {f"canonical_{name}": part for name, part in coordinates}

    def _stated(self) -> dict[str, Any]:
        return stated(type(self), self.rewards.name, self)

    @classmethod
    def from_arrays(cls, parts: Mapping[str, NDArray[Any]]) -> Self:
        """Return the problem whose `parts` these are, or raise KeyError, TypeError, ValueError."""
        from fastes.problem.bandits import bandit_class
        from fastes.problem.whitening import unpack_canonical

        kind = bandit_class(str(parts.get("rewards", GaussianRewards.name)))
        if not issubclass(kind, cls):
            raise TypeError(f"it is a {kind.__name__}, not a {cls.__name__}")
        belief: dict[str, Any] = {name: parts[name][()] for name in kind.arguments}
        bandit = kind(action_set_from_arrays(parts), **belief)
        coordinates = with_prefix(parts, "canonical_")
        bandit.__dict__["canonical"] = unpack_canonical(coordinates, bandit.canonical)
        return bandit


def stated(kind: type[Bandit], rewards: str, values: Any) -> dict[str, Any]:
    """Return what files say of a bandit beside its arms, by the attributes of `values`."""
    law = {} if rewards == GaussianRewards.name else {"rewards": rewards}
    return {name: getattr(values, name) for name in kind.arguments} | law


def _copied(parts: Mapping[str, NDArray[Any]], drawn: RandomArms | None) -> Bandit:
    bandit: Bandit = Bandit.from_arrays(parts)
    if drawn is not None:
        bandit.action_set.__dict__["drawn"] = drawn
    return bandit
