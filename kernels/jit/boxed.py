"""Boxes: values that compiled code gets as one pointer.

A call from Python unpacks every array of a named tuple, 0.15 us each (measured): most of the time
of a call that does little with many arrays. A box is unpacked once, when it is made.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from numba.core import types
from numba.experimental import structref

from .cache import keep_code
from .options import entry_options


@structref.register
class BoxType(types.StructRef):  # type: ignore[misc, name-defined]
    """The type of a box in compiled code: its field `value` is that of the value."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Return the field without literal types, of which each value would have its own."""
        return tuple((name, types.unliteral(each)) for name, each in fields)  # type: ignore[attr-defined]


class _Box(structref.StructRefProxy):  # type: ignore[misc]
    """A box in Python."""


structref.define_proxy(_Box, BoxType, ["value"])


class _Plain(NamedTuple):
    """A box where compilation is switched off."""

    value: Any


def box_entry(function: Callable[..., Any]) -> Any:
    """Compile a function for Python to call with a box as first argument; keep the machine code.

    Boxes are counted, so this code has numba's runtime. The kernels that it calls have not, and
    must not return arrays: nobody would count them.
    """
    compiled = numba.njit(**{**entry_options(), "_nrt": True})(function)
    if not numba.config.DISABLE_JIT:
        keep_code(compiled)
    return compiled


@box_entry
def _make(value):
    return _Box(value)


def boxed(value: Any) -> Any:
    """Return a box of a named tuple. It refers to the same arrays."""
    return _Plain(value) if numba.config.DISABLE_JIT else _make(value)
