"""Fast loading of numba for commands."""

import atexit
import gc
import sys

_UNUSED = "scipy.linalg.cython_blas"


def load_numba() -> None:
    """Load numba's array functions, tuned for a process that runs a single command.

    Without SciPy's linear algebra, which numba imports to support matrix products: no kernel uses
    them. With rare garbage collection while it loads and compiles, since nearly all of its objects
    stay, and none at exit. `python -m bench run --slow --only startup` measures the start. The
    library itself does neither, since it may be used in other programs.
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
