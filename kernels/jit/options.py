"""The flags that kernels are compiled with, and whether callees are linked into their entry."""

import functools
import sys
from typing import Any

import numba

from .cache import remembered

# Division by zero gives inf or nan, as in NumPy, instead of a branch on every division.
# No fastmath: NaN and inf must be seen, and a sum must not depend on how a loop was
# vectorised. Where speed needs a fused multiply-add, the kernel says so (floats.fma).
# No numba runtime: kernels own no memory. That refuses allocation, and takes away the atomic
# reference counts on every view and field, which made a small step four times as long and
# would have threads fight over the arms that they share.
# No entry for C: nobody calls from there.
_FLAGS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# The code that takes arguments from Python apart would take longer to compile than many a kernel
# that only kernels call.
_CALLEE = {**_FLAGS, "no_cpython_wrapper": True}


def entry_options() -> dict[str, Any]:
    """Return numba's options for a function that Python calls."""
    return _options_of_entry(is_linked())


def kernel_options() -> dict[str, Any]:
    """Return numba's options for a function that only kernels call."""
    return _options_of_kernel(is_linked())


@functools.cache
def is_linked() -> bool:
    """Check whether callees are compiled within their entry only (linking.py).

    That reaches into numba's internals, so it is an accelerator and never a condition. Where an
    internal is missing, or where two tiny functions do not compile and give the right number,
    kernels compile the ordinary way: it takes longer and gives the same bits. The functions are
    compiled once for a cache folder, which remembers the outcome.
    """
    if numba.config.DISABLE_JIT:
        return False
    try:
        _options_of_kernel(True)
    except Exception:
        return False
    return remembered(f"linking-{sys.implementation.cache_tag}", _links)


def _options_of_entry(linked: bool) -> dict[str, Any]:
    if not linked:
        return _FLAGS
    from .linking import EntryCompiler

    return {**_FLAGS, "pipeline_class": EntryCompiler}


def _options_of_kernel(linked: bool) -> dict[str, Any]:
    if not linked:
        return _CALLEE
    from .linking import LinkedCompiler

    return {**_CALLEE, "pipeline_class": LinkedCompiler}


def _links() -> bool:
    """Check that a function compiled within another is right."""
    try:
        twice = numba.njit(**_options_of_kernel(True))(lambda x: 2.0 * x)
        entry = numba.njit(**_options_of_entry(True))(lambda x: twice(x) + 1.0)
        return bool(entry(1.5) == 4.0)
    except Exception:
        return False
