"""How kernels are compiled and cached: one place for the flags and for the cache folder."""

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import overload

from .cache import cache_folder
from .linking import EntryCompiler, LinkedCompiler

# Division by zero gives inf or nan, as in NumPy, instead of a branch on every division.
# No fastmath: NaN and inf must be seen, and a sum must not depend on how a loop was
# vectorised. Where speed needs a fused multiply-add, the kernel says so (floats.fma).
# No numba runtime: kernels own no memory. That refuses allocation, and takes away the atomic
# reference counts on every view and field, which made a small step four times as long and
# would have threads fight over the arms that they share.
# No entry for C: nobody calls from there.
FLAGS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# What only kernels call is compiled within them (linked.py). The code that takes arguments from
# Python apart would take longer to compile than many a kernel.
LINKED = {**FLAGS, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function for Python and for kernels to call, and keep the machine code."""
    # Numba reads its folder when a function is decorated; other packages keep theirs.
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        return numba.njit(cache=True, pipeline_class=EntryCompiler, **FLAGS)(function)
    finally:
        numba.config.CACHE_DIR = theirs


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function for other kernels to call. Called from Python it is a crash."""
    return numba.njit(**LINKED)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into its callers.

    For what is called within a loop that should vectorise; and for what takes a large state at
    every step, since a call copies every field of every array in it.
    """
    return numba.njit(forceinline=True, **LINKED)(function)


def generic(default: Callable[..., Any]) -> Any:
    """Make a kernel whose body is chosen by the type of its first argument, a named tuple.

    The choice is made when the caller is compiled: a caller holds the code of the one agent
    it is compiled for and no branch. `default` serves types without a body of their own;
    ``@name.body(Kind)`` registers the body for `Kind`. Arguments are positional.
    """
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(default)
    def interpreted(state: Any, *rest: Any) -> Any:
        return bodies.get(type(state), default)(state, *rest)

    def compiled(state: Any, *rest: Any) -> Callable[..., Any]:
        return bodies.get(getattr(state, "instance_class", object), default)

    overload(interpreted, strict=False, jit_options={**LINKED, "forceinline": True})(compiled)

    def body(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            bodies[kind] = function
            return function

        return register

    interpreted.body = body  # type: ignore[attr-defined]
    return interpreted
