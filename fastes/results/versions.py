"""Which versions a result was made with."""

from typing import NamedTuple

import numba
import numpy as np

import fastes
from fastes.checks.documented import documented
from fastes.kernels.jit.cache import fingerprint


@documented
class Versions(NamedTuple):
    """What the bits of a result may depend on, beside what was simulated.

    Attributes
    ----------
    fastes : str
        Version of fastes.
    kernels : str
        A hash of the source of the compiled code and of numba's version.
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
