"""Layouts of kernel states: the shapes and types of their arrays, before allocation.

A kernel state is a named tuple of arrays, numbers and named tuples. The function that makes one
returns its layout, the same named tuple with an `ArraySpec` in the place of each array, and is
decorated by `allocated`: called, it returns the state; its `layout` returns the layout, of which
`layout_bytes` is the memory. An array in two places of a state is one `ArraySpec` in two places.

Fields named `z` and `scratch` hold nothing from one step to the next: they are not saved.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_State = TypeVar("_State")

_UNSAVED = ("z", "scratch")


@dataclass(frozen=True, eq=False)
class ArraySpec:
    """An array to be allocated: its shape, its type, and its initialisation."""

    shape: tuple[int, ...]
    dtype: np.dtype
    make: Callable[[tuple[int, ...], np.dtype], np.ndarray]
    grows: bool = False  # whether it may be restored from a smaller one

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]


def _spec(
    shape: int | tuple[int, ...], dtype: Any, make: Callable[..., np.ndarray], grows: bool = False
) -> Any:
    return ArraySpec((shape,) if isinstance(shape, int) else shape, np.dtype(dtype), make, grows)


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float64, grows: bool = False) -> Any:
    """Specify an array of zeros. Its memory is only committed when it is written to.

    One that `grows` may be restored from a smaller saved array.
    """
    return _spec(shape, dtype, np.zeros, grows)


def full(shape: int | tuple[int, ...], value: Any, dtype: Any = np.float64) -> Any:
    """Specify an array filled with a number, or with numbers that are broadcast to it."""
    return _spec(shape, dtype, lambda shape, dtype: np.full(shape, value, dtype))


def identity(r: int, scale: float = 1.0) -> Any:
    """Specify a multiple of the identity matrix."""
    return _spec((r, r), np.float64, lambda shape, dtype: scale * np.eye(r))


def allocate(layout: Any) -> Any:
    """Return the state of a layout."""
    made: dict[ArraySpec, np.ndarray] = {}

    def make(part: Any) -> Any:
        if isinstance(part, tuple):
            return type(part)(*map(make, part))
        if not isinstance(part, ArraySpec):
            return part
        if part not in made:
            made[part] = part.make(part.shape, part.dtype)
        return made[part]

    return make(layout)


def layout_bytes(layout: Any) -> int:
    """Return the bytes of the arrays of a layout."""
    return sum(spec.nbytes for spec in set(_specs(layout)))


def _specs(part: Any) -> Iterator[ArraySpec]:
    if isinstance(part, tuple):
        for field in part:
            yield from _specs(field)
    elif isinstance(part, ArraySpec):
        yield part


class StateMaker(Generic[_P, _State]):
    """A function that returns states, and the layouts of states."""

    def __init__(self, layout: Callable[_P, _State]) -> None:
        self.layout = layout
        functools.update_wrapper(self, layout)

    def nbytes(self, *args: _P.args, **kwargs: _P.kwargs) -> int:
        """Return the bytes of a state."""
        return layout_bytes(self.layout(*args, **kwargs))

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _State:
        """Return a state."""
        state: _State = allocate(self.layout(*args, **kwargs))
        return state


def allocated(layout: Callable[_P, _State]) -> StateMaker[_P, _State]:
    """Turn a function that returns a layout into one that returns a state."""
    return StateMaker(layout)


def filled(layout: Any, arrays: Mapping[str, np.ndarray], prefix: str = "") -> Any:
    """Return the state of a layout with the saved arrays of these names, or raise ValueError."""
    state = allocate(layout)
    specs = saved_fields(layout, prefix)
    for (name, target), (_, spec) in zip(saved_fields(state, prefix), specs, strict=True):
        stored = arrays.get(name)
        if stored is not None and spec.grows and stored.ndim == target.ndim:
            target = target[tuple(map(slice, stored.shape))]
        copy_saved(name, stored, target)
    return state


def copy_saved(name: str, stored: np.ndarray | None, target: np.ndarray) -> None:
    """Copy a saved array into the one that it is to fill, or raise ValueError."""
    if stored is None or stored.shape != target.shape or stored.dtype != target.dtype:
        raise ValueError(f"a saved agent's {name!r} is missing or does not fit")
    if not np.isfinite(stored).all():
        raise ValueError(f"a saved agent's {name!r} must be finite")
    np.copyto(target, stored)


def saved_fields(state: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a state, or of a layout, that are saved, each named by the way to it."""
    for name, field in zip(state._fields, state, strict=True):
        if name in _UNSAVED:
            continue
        if isinstance(field, tuple):
            yield from saved_fields(field, f"{prefix}{name}_")
        elif isinstance(field, np.ndarray | ArraySpec):
            yield f"{prefix}{name}", field
