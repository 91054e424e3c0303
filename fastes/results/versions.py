"""The versions that a result was made with."""

from typing import NamedTuple

import numba
import numpy as np

import fastes
from fastes.checks.documented import documented
from fastes.kernels.jit.cache import fingerprint


@documented
class Versions(NamedTuple):
    """Versions on which the bits of a result may depend.

    Attributes
    ----------
    fastes : str
        Version of fastes.
    kernels : str
        Hash of the kernels' source and of numba's version.
    numpy : str
        Version of NumPy.
    numba : str
        Version of numba.
    """

    fastes: str
    kernels: str
    numpy: str
    numba: str


def versions() -> Versions:
    """Return the versions of this process."""
    return Versions(fastes.__version__, fingerprint(), np.__version__, numba.__version__)
