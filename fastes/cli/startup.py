"""What a command loads, and does not load, before its first step."""

import atexit
import gc
import sys

_UNUSED = "scipy.linalg.cython_blas"


def load_numba() -> None:
    """Load numba's functions for arrays as suits a process that does nothing but one command.

    Without SciPy's linear algebra: numba imports that to see whether it can offer products of
    matrices, and no kernel asks for one. And without looking for garbage in what numba makes,
    nearly all of which stays: neither often while it loads and compiles nor when the process
    ends. `python -m bench run --slow --only startup` tells what a start takes. A program that
    imports fastes may have other code in it, so that the library leaves both as they are.
    """
    if "numba.np.arraymath" in sys.modules or _UNUSED in sys.modules:
        return
    gc.set_threshold(100_000, 20, 20)
    atexit.register(gc.freeze)
    sys.modules[_UNUSED] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_UNUSED]
    gc.freeze()
