"""The decorators of compiled functions; options.py has the flags, cache.py the cache folder."""

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import is_jitted, overload

from .cache import cache_folder, kept_in, let_processes_share, part_outside_code
from .guard import refuse_python
from .options import entry_options, kernel_options
from .outside import check_body, note_generic


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function for Python and for kernels to call, and keep the machine code."""
    with kept_in(cache_folder()):
        compiled = numba.njit(cache=True, **entry_options())(function)
    if not is_jitted(compiled):  # where compilation is switched off
        return compiled
    if not part_outside_code(compiled):
        return numba.njit(**entry_options())(function)
    let_processes_share(compiled._cache)
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function for other kernels to call. A call from Python is a TypeError."""
    return refuse_python(numba.njit(**kernel_options())(function))


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into its callers.

    For what is called within a loop that should vectorise; and for what takes a large state at
    every step, since a call copies every field of every array in it.
    """
    return refuse_python(numba.njit(forceinline=True, **kernel_options())(function))


def generic(default: Callable[..., Any]) -> Any:
    """Make a kernel whose body is chosen by the type of its first argument, a named tuple.

    The choice is made when the caller is compiled: a caller holds the code of the one agent
    it is compiled for and no branch. `default` serves types without a body of their own;
    ``@name.body(Kind)`` registers the body for `Kind`, once, and before anything is compiled for
    it. A class of these kernels has its bodies in these kernels. Arguments are positional.

    Called from Python, the body runs as it is written: a question such as `needs_capacity` is
    answered, and a body that calls a `kernel` raises its TypeError.
    """
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(default)
    def interpreted(state: Any, *rest: Any) -> Any:
        return bodies.get(type(state), default)(state, *rest)

    def compiled(state: Any, *rest: Any) -> Callable[..., Any]:
        return bodies.get(getattr(state, "instance_class", object), default)

    options = {**kernel_options(), "forceinline": True}
    overload(interpreted, strict=False, jit_options=options)(compiled)

    def body(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            check_body(interpreted, kind, function)
            bodies[kind] = function
            return function

        return register

    interpreted.body = body  # type: ignore[attr-defined]
    return note_generic(interpreted, default, bodies)
