"""The decorators of compiled functions; options.py has the flags, cache.py the cache folder."""

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import is_jitted, overload

from .cache import keep_code
from .guard import refuse_python
from .options import entry_options, kernel_options
from .outside import register_body


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function for calls from Python and from kernels, and cache the machine code."""
    compiled = numba.njit(**entry_options())(function)
    if is_jitted(compiled):  # not where compilation is switched off
        keep_code(compiled)
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function for calls from kernels. A call from Python raises TypeError.

    It is not compiled into its callers: without the flag, callees of an `inlined` one would be.
    """
    return refuse_python(numba.njit(forceinline=False, **kernel_options())(function))


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into its callers.

    For calls within a loop that should vectorise; for functions with a large state as argument,
    since a call copies every field of every array in it; and for draws of random numbers, where
    a call costs a small step a tenth (measured).
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
    return _by_type(default, default)


def required(declared: Callable[..., Any]) -> Any:
    """Make a generic kernel without a default: code for a type without a body does not compile."""
    return _by_type(declared, None)


def _by_type(declared: Callable[..., Any], default: Callable[..., Any] | None) -> Any:
    bodies: dict[type, Callable[..., Any]] = {}

    def body_of(kind: type) -> Callable[..., Any]:
        body = bodies.get(kind, default)
        if body is None:
            raise TypeError(f"{declared.__name__} has no body for {kind.__name__}")
        return body

    @functools.wraps(declared)
    def interpreted(state: Any, *rest: Any) -> Any:
        return body_of(type(state))(state, *rest)

    def compiled(state: Any, *rest: Any) -> Callable[..., Any] | None:
        return bodies.get(getattr(state, "instance_class", object), default)

    options = {**kernel_options(), "forceinline": True}
    overload(interpreted, strict=False, jit_options=options)(compiled)

    def body(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            register_body(interpreted, kind, function)
            return function

        return register

    generic_kernel: Any = interpreted
    generic_kernel.body, generic_kernel.bodies = body, bodies
    generic_kernel.body_of = body_of
    return generic_kernel
