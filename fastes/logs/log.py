"""Logs: plays of the past, checked once."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.actions import Offered
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.numbers import counted, shown
from fastes.logs.offers import Integers, Offers, RowError, UnknownOffers, offers_of
from fastes.logs.reading import Columns, columns_of_csv, columns_of_frame
from fastes.logs.uniformity import check_uniform

if TYPE_CHECKING:
    from fastes.actions import ActionSet


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Log:
    """Logged plays: in each row the arm that was played and its reward.

    It is checked here, once: what is wrong is named with its row, counted from 0.

    Parameters
    ----------
    actions : (K, d) or (n, K, d) array_like, list of (k, d) array_like, int or None
        The features of the arms on offer: K arms, the same in all rows; a set for each of the n
        rows (an array, or a memory-mapped file); a list of n sets that may differ in size; or the
        number of arms if they have no features, which stands for K unit vectors. None if only the
        features of the arms that were played are known.
    arm : (n,) array_like of int; (n, d) array_like if `actions` is None
        The arm played: its index in `actions`, or in its row's set. Or its features.
    reward : (n,) array_like
        Its reward. True and False count as 1 and 0.
    propensity : (n,) array_like, float or "uniform", optional
        The probability with which the arm was played, given what was known then; "uniform" if it
        was drawn uniformly from the arms on offer. `replay` needs it.
    available : (n, K) array_like of bool, or list of lists of int, optional
        Which of K fixed arms were on offer in each row; by default all.
    group : (n,) array_like, optional
        The user or segment of a row, each with a theta of its own: for `fit_prior`.

    Examples
    --------
    >>> import fastes
    >>> log = fastes.Log(3, arm=[0, 2, 1, 0], reward=[0.5, 1.0, 0.2, 0.1], propensity="uniform")
    >>> log
    Log(4 rows, K=3 arms, mean reward 0.45, uniform)
    >>> try:
    ...     fastes.Log(3, arm=[0, 5, 1], reward=[0.5, 1.0, 0.2])
    ... except ValueError as error:
    ...     print(error)
    arm must be an integer from 0 to 2, got 5 in row 1
    """

    places: Integers
    """The place of the arm that was played among those on offer in its row."""

    reward: Floats
    propensity: Floats | None
    group: NDArray[np.int64] | None
    offers: Offers
    is_uniform: bool
    """Whether propensity was "uniform"."""

    def __init__(
        self,
        actions: Any,
        arm: ArrayLike,
        reward: ArrayLike,
        propensity: ArrayLike | None = None,
        *,
        available: Any = None,
        group: ArrayLike | None = None,
    ) -> None:
        rewards = arrays.array("reward", reward, booleans=True)
        if rewards.ndim != 1 or len(rewards) == 0:
            raise ValueError(
                f"reward must have one number for each row, at least one, got shape {rewards.shape}"
            )
        n = len(rewards)
        if actions is None:
            offers, places = _played(arm, available, n)
        else:
            offers = offers_of(actions, available, n)
            places = _places(offers, arm)
        uniform = isinstance(propensity, str)
        if uniform and propensity != "uniform":
            raise ValueError(f"propensity must be numbers or 'uniform', got {shown(propensity)}")
        known = 1.0 / offers.sizes() if uniform else _propensities(propensity, n)
        values: dict[str, Any] = {
            "places": places,
            "reward": rewards,
            "propensity": known,
            "group": _groups(group, n),
            "offers": offers,
            "is_uniform": uniform,
        }
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        if uniform:
            check_uniform(self.places, offers.sizes())

    def __len__(self) -> int:
        return len(self.reward)

    def __repr__(self) -> str:
        parts = [counted(len(self), "row"), self.arms_text, f"mean reward {self.reward.mean():.4g}"]
        if self.group is not None:
            parts.append(counted(self.groups, "group"))
        if self.propensity is not None:
            parts.append("uniform" if self.is_uniform else "with propensities")
        return f"Log({', '.join(parts)})"

    @property
    def actions(self) -> "ActionSet":
        """The arms, as `LinearBandit` takes them."""
        found: ActionSet = self.offers.actions
        return found

    @property
    def d(self) -> int:
        """Dimension of an arm."""
        return self.actions.d

    @property
    def groups(self) -> int:
        """Number of groups: 1 without a group column."""
        return 1 if self.group is None else int(self.group.max()) + 1

    @property
    def arms_text(self) -> str:
        """A short description of the arms on offer."""
        if isinstance(self.offers, UnknownOffers):
            return f"d={self.d}, arms played only"
        sizes = self.offers.sizes()
        low, high = int(sizes.min()), int(sizes.max())
        return f"K={low if low == high else f'{low} to {high}'} arms"

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        actions: Any = None,
        *,
        arm: str = "arm",
        reward: str = "reward",
        propensity: str | None = None,
        available: str | None = None,
        group: str | None = None,
        features: Sequence[str] = (),
    ) -> Self:
        """Read a log from a CSV file with a header.

        Parameters
        ----------
        path : str or path
            The file, in UTF-8.
        actions
            As for `Log`. By default a unit vector for each arm up to the largest in the file.
        arm, reward, propensity, available, group : str
            Names of the columns. `propensity` may be "uniform". A cell of `available` has the
            indices of arms, separated by spaces.
        features : sequence of str
            Names of the columns with the features of the arm played, instead of `arm`.

        Examples
        --------
        >>> import fastes, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "log.csv"
        ...     _ = path.write_text("day,banner,click\\n1,0,0\\n1,2,1\\n2,1,0\\n")
        ...     fastes.Log.from_csv(path, arm="banner", reward="click", propensity="uniform")
        Log(3 rows, K=3 arms, mean reward 0.3333, uniform)
        """
        return cls._of(
            columns_of_csv(path), actions, arm, reward, propensity, available, group, features
        )

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        actions: Any = None,
        *,
        arm: str = "arm",
        reward: str = "reward",
        propensity: str | None = None,
        available: str | None = None,
        group: str | None = None,
        features: Sequence[str] = (),
    ) -> Self:
        """Take a log from the columns of a data frame, of pandas or any other library.

        The parameters are those of `from_csv`; a cell of `available` is a list of indices.

        Examples
        --------
        >>> import fastes, pandas as pd
        >>> frame = pd.DataFrame({"arm": [0, 1, 1], "reward": [0.5, 0.1, 0.2], "p": [0.5] * 3})
        >>> fastes.Log.from_dataframe(frame, propensity="p")
        Log(3 rows, K=2 arms, mean reward 0.2667, with propensities)
        """
        return cls._of(
            columns_of_frame(frame), actions, arm, reward, propensity, available, group, features
        )

    @classmethod
    def _of(
        cls,
        columns: Columns,
        actions: Any,
        arm: str,
        reward: str,
        propensity: str | None,
        available: str | None,
        group: str | None,
        features: Sequence[str],
    ) -> Self:
        names = [reward, *(features or [arm])]
        names += [each for each in (propensity, available, group) if each not in (None, "uniform")]
        found = columns.select(list(dict.fromkeys(names)))
        played: Any
        if features:
            played = np.column_stack([found.numbers(name) for name in features])
        else:
            played = found.integers(arm)
            if actions is None:
                actions = int(played.max()) + 1
        known: Any = found.numbers(propensity) if propensity in found.names else propensity
        rewards = found.numbers(reward)
        others = {
            "available": None if available is None else found.lists(available),
            "group": None if group is None else found.labels(group),
        }
        try:
            return cls(actions, played, rewards, known, **others)
        except RowError as error:
            raise ValueError(f"{error.text} in {found.place(error.row)}") from None


def _played(arm: ArrayLike, available: Any, n: int) -> tuple[Offers, Integers]:
    """Return the offers where only the features of the arms played are known, and their places."""
    rows = arrays.array("arm", arm)
    if rows.ndim != 2 or len(rows) != n or rows.shape[1] == 0:
        raise ValueError(
            f"arm must be features, ({n}, d), if actions is None, got shape {rows.shape}"
        )
    if available is not None:
        raise ValueError("available needs fixed arms, (K, d) features: leave it out")
    return UnknownOffers(Offered(rows.shape[1]), n, arrays.frozen(rows)), np.zeros(n, np.int64)


def _places(offers: Offers, arm: ArrayLike) -> Integers:
    given = np.asarray(arm)
    if given.dtype.kind not in "iu" or given.shape != (offers.n,):
        raise TypeError(f"arm must be {offers.n:,} integers, one for each reward, got {shown(arm)}")
    places = offers.places(given.astype(np.int64))
    row = int(places.argmin())
    if places[row] < 0:
        raise RowError(f"arm must be {offers.allowed(row)}, got {given[row]}", row)
    return places


def _propensities(propensity: Any, n: int) -> Floats | None:
    if propensity is None:
        return None
    given = np.asarray(propensity)
    if given.ndim == 0:
        given = np.full(n, propensity)
    if given.shape != (n,) or given.dtype.kind not in "fiu":
        raise ValueError(
            f"propensity must be 'uniform' or {n:,} numbers, one for each row, got "
            f"{shown(propensity)}"
        )
    refused = ~((given > 0.0) & (given <= 1.0))
    if refused.any():
        row = int(refused.argmax())
        raise RowError(f"propensity must be above 0 and at most 1, got {given[row]:g}", row)
    return given.astype(np.float64)


def _groups(group: ArrayLike | None, n: int) -> Integers | None:
    """Return the number of each row's group."""
    if group is None:
        return None
    given = np.asarray(group)
    if given.shape != (n,):
        raise ValueError(f"group must have a label for each of {n:,} rows, got {shown(group)}")
    return np.unique(given, return_inverse=True)[1].astype(np.int64)
