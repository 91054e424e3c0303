"""What a command loads, and does not load, before its first step."""

import sys

_UNUSED = "scipy.linalg.cython_blas"


def load_numba() -> None:
    """Load numba's functions for arrays without SciPy's linear algebra: a quarter of a second less.

    Numba imports that to see whether it can offer products of matrices. No kernel asks for one, and
    a command's process has no other numba code in it; a program that imports fastes may have, so
    that the library leaves numba as it is.
    """
    if "numba.np.arraymath" in sys.modules or _UNUSED in sys.modules:
        return
    sys.modules[_UNUSED] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_UNUSED]
