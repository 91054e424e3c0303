"""An agent's kernel state as named arrays, and back: for checkpoints and saved live agents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.files.archive import FileFormatError
from fastes.kernels.posterior.state import Posterior

Arrays = dict[str, NDArray[Any]]

_OF_POSTERIOR = (
    *("mu", "S", "factor", "eta", "root"),
    *("recent", "recent_arm", "recent_plays", "recent_pay", "since_refactor"),
)


def pack_posterior(posterior: Posterior) -> Arrays:
    """Return the arrays that make up a posterior, without its workspace."""
    return {name: getattr(posterior, name) for name in _OF_POSTERIOR}


def unpack_posterior(arrays: Arrays, posterior: Posterior) -> None:
    """Fill a posterior from its arrays."""
    for name in _OF_POSTERIOR:
        unpack_array(arrays, name, getattr(posterior, name))
    updates, distinct = posterior.since_refactor
    if not 0 <= distinct <= updates < len(posterior.recent):
        raise FileFormatError(
            f"a saved agent's 'since_refactor' is out of range: {updates}, {distinct}"
        )


def unpack_array(arrays: Arrays, name: str, target: NDArray[Any]) -> None:
    """Copy an array of a file into one of known shape and type."""
    stored = arrays.get(name)
    if stored is None or stored.shape != target.shape or stored.dtype != target.dtype:
        raise FileFormatError(f"a saved agent's {name!r} is missing or does not fit")
    np.copyto(target, stored)
