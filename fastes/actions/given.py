"""A given set of arms for each step: an array, or a file that may exceed memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.actions.families import few_arms
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastes.actions.action_set import Arrays
    from fastes.checks.arrays import Floats

_SAMPLES, _SAMPLE_BYTES = 64, 1 << 16


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Given(ActionSet):
    """Step t offers array[t % n].

    Parameters
    ----------
    array : (n, K, d) array_like
        n sets of K arms in R^d. A memory-mapped file, ``np.load(path, mmap_mode="r")``, is read
        on demand and may exceed memory; its rows are checked when they are offered.

    Examples
    --------
    >>> import fastes, numpy as np
    >>> logged = np.random.default_rng(1).normal(size=(500, 10, 4))
    >>> bandit = fastes.LinearBandit(fastes.actions.Given(logged), noise=0.5)
    >>> fastes.simulate(bandit, fastes.LinUCB(), T=1000, runs=4).label
    'LinUCB, alpha=1'
    """

    kind: ClassVar[str] = "given"

    array: NDArray[Any]
    file: str

    def __init__(self, array: ArrayLike) -> None:
        import numpy as np

        from fastes.checks import arrays

        file = ""
        if isinstance(array, np.memmap):
            if array.dtype not in (np.float64, np.float32):
                raise TypeError(
                    f"array must have dtype float64 or float32, got a file of {array.dtype}"
                )
            file = str(Path(array.filename).resolve()) if array.filename else ""
            rows = array.view(np.ndarray)
        else:
            rows = arrays.frozen(arrays.array("array", array))
        if rows.ndim != 3 or 0 in rows.shape:
            raise ValueError(
                "array must have three dimensions, steps by arms by features, at least "
                f"1 by 1 by 1, got shape {rows.shape}"
            )
        if not rows.flags.c_contiguous:
            raise ValueError("array must be C-contiguous (see np.ascontiguousarray)")
        numbers.integer("the number of arms K", rows.shape[1], 1, MAX_SIZE)
        object.__setattr__(self, "array", rows)
        object.__setattr__(self, "file", file)

    def __repr__(self) -> str:
        n, K, d = self.array.shape
        return f"Given({n} sets of {K} arms, d={d})"

    @property
    def K(self) -> int:
        """Number of arms of a set."""
        return self.array.shape[1]

    @property
    def d(self) -> int:
        """The length of an arm."""
        return self.array.shape[2]

    @property
    def longest(self) -> float:
        """Norm of the longest arm; 0 for a file, which is not read in advance."""
        import numpy as np

        if self.file:
            return 0.0
        return float(np.sqrt(np.square(self.array).sum(axis=2).max()))

    @property
    def text(self) -> str:
        """A short description."""
        return f"given, {len(self.array):,} sets"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the array; for a file its name and a hash."""
        import numpy as np

        if not self.file:
            return {"set_array": np.asarray(self.array)}
        return {"set_file": np.array(self.file), "set_hash": np.array(self.sampled_hash())}

    def sampled_hash(self) -> str:
        """Return a hash of the shape, the type and 64 evenly spaced pieces of the array."""
        import numpy as np

        flat = self.array.reshape(-1).view(np.uint8)
        hashed = hashlib.sha256(f"{self.array.shape}{self.array.dtype}".encode())
        last = max(0, len(flat) - _SAMPLE_BYTES)
        for start in np.linspace(0, last, _SAMPLES).astype(np.int64).tolist():
            hashed.update(flat[start : start + _SAMPLE_BYTES].tobytes())
        return hashed.hexdigest()

    def small(self) -> Given:
        """Return three sets of few arms."""
        import numpy as np

        return Given(np.stack([few_arms().draw()] * 3))

    @classmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the set of this array or file, or raise."""
        import numpy as np

        if "set_array" in saved:
            return cls(saved["set_array"])
        file = str(saved["set_file"])
        try:
            found = cls(np.load(file, mmap_mode="r"))
        except OSError as error:
            raise ValueError(f"the file of arms {file} cannot be read") from error
        if found.sampled_hash() != str(saved["set_hash"]):
            raise ValueError(f"the file of arms {file} has changed since it was saved")
        return found

    def fault(self, t: int) -> str:
        """Return a message if an arm of step t is not finite: files are read on demand."""
        import numpy as np

        finite = np.isfinite(self.array[t % len(self.array)]).all()
        return "" if finite else f"actions must be finite, but an arm of step {t} is not"

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return all sets, with space for one."""
        from fastes.kernels.actions.given import given_actions

        return given_actions(self.array, canonical.whitening(), canonical.limits)

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the set of each step."""
        import numpy as np

        places = [(t + i) % len(self.array) for i in range(len(recorded))]
        return [np.asarray(self.array[place], np.float64) for place in places]
