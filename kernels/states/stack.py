"""States of several runs, stacked: a named tuple of arrays with one axis more."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from .layout import allocate


class Shared(NamedTuple):
    """A part of a state that is the same for all states of a stack: it is stored once."""

    value: Any


def stack_states(state: Any, n: int) -> Any:
    """Return space for n states like this one: a named tuple of arrays with one more axis.

    Arrays shared in the state are shared in the stack. Memory is only committed when it is written
    to, so the stack takes as much as its states use.
    """
    return _stack_part(state, n, {})


def _stack_part(part: Any, n: int, done: dict[int, np.ndarray]) -> Any:
    if isinstance(part, Shared):
        return part
    if isinstance(part, tuple):
        return type(part)(*(_stack_part(field, n, done) for field in part))
    if id(part) not in done or not isinstance(part, np.ndarray):
        given = np.asarray(part)
        done[id(part)] = np.zeros((n, *given.shape), given.dtype)
    return done[id(part)]


def set_state(stack: Any, i: int | slice, state: Any) -> None:
    """Copy a state to the i-th state of a stack, zero so far."""
    for room, part in zip(stack, state, strict=True):
        if isinstance(part, Shared):
            continue
        if isinstance(part, tuple):
            set_state(room, i, part)
        elif np.any(part):
            room[i] = part


def stacked(layout: Any, n: int) -> Any:
    """Return n equal states of a layout, as a stack."""
    state = allocate(layout)
    stack = stack_states(state, n)
    set_state(stack, slice(n), state)
    return stack


def state_at(stack, i):
    """Return the i-th state of a stack; its arrays are views."""
    if isinstance(stack, Shared):
        return stack
    if isinstance(stack, tuple):
        return type(stack)(*(state_at(field, i) for field in stack))
    return stack[i]


@overload(state_at)
def _state_at_compiled(stack, i):
    return lambda stack, i: _state_at(stack, i)


@intrinsic
def _state_at(typingctx, stack, i):
    # Numba lets no function without its runtime return an array; this is code in its caller.
    def codegen(context, builder, signature, args):
        return _view(context, builder, stack, *args)

    return _kind_of_view(stack)(stack, i), codegen


def _is_shared(kind):
    return getattr(kind, "instance_class", None) is Shared


def _kind_of_view(stack):
    if _is_shared(stack):
        return stack
    if isinstance(stack, types.BaseNamedTuple):
        fields = [_kind_of_view(field) for field in stack]
        return types.BaseTuple.from_types(fields, stack.instance_class)
    return stack.copy(ndim=stack.ndim - 1) if stack.ndim > 1 else stack.dtype


def _view(context, builder, stack, value, i):
    """Emit code for the i-th state of a stack."""
    if _is_shared(stack):
        return value
    kind = _kind_of_view(stack)
    if isinstance(stack, types.BaseNamedTuple):
        fields = enumerate(stack)
        views = [
            _view(context, builder, field, builder.extract_value(value, position), i)
            for position, field in fields
        ]
        return context.make_tuple(builder, kind, views)
    array = context.make_array(stack)(context, builder, value)
    shape, strides = (cgutils.unpack_tuple(builder, part) for part in (array.shape, array.strides))
    data = cgutils.pointer_add(builder, array.data, builder.mul(i, strides[0]))
    if stack.ndim == 1:
        return arrayobj.load_item(context, builder, stack, data)
    view = context.make_array(kind)(context, builder)
    arrayobj.populate_array(view, data, shape[1:], strides[1:], array.itemsize, None)
    return view._getvalue()
