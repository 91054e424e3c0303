"""Code from outside these kernels: a hash of it, so that compiled code of it can be kept.

The cache folder is named by the content of these kernels (cache.py). An agent from elsewhere has
its own state, a named tuple, and its own bodies for generic kernels: a loop compiled for that state
is made of code that the folder's name does not know. Here it is read: the bodies of every such
class, and all that they refer to, whatever file it is in. What is read is what numba compiles,
bytecode and the values of names, and not the text of files, which may have been edited since.

What cannot be read, a pointer to a C function say, gives no hash: its compiled code is not kept.
"""

import dis
import enum
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

_OURS = __name__.removesuffix(".jit.outside")
_KNOWN = {"numba", "numpy", "llvmlite", *sys.stdlib_module_names}
"""Packages whose code no user edits; numba's version is in the name of the cache folder."""

_PLAIN = (bool, int, float, complex, str, bytes, NoneType, EllipsisType)

Bodies = dict[type, Callable[..., Any]]

_generics: dict[Callable[..., Any], tuple[Callable[..., Any], Bodies]] = {}
_compiled: set[type] = set()  # classes from outside that something was compiled for
_seen: dict[Any, tuple[Any, ...]] = {}  # what was read of each function when it was first met


class _UnreadableError(Exception):
    """Compiled code may depend on what cannot be read."""


class _Reference(NamedTuple):
    """A part of code that is read by itself: a function, a class, a compiled function."""

    to: Any


_Item = str | _Reference


def is_ours(thing: Any) -> bool:
    """Return whether a class or a function is of these kernels."""
    return _is_below(getattr(thing, "__module__", None), _OURS)


def note_generic(
    called: Callable[..., Any], default: Callable[..., Any], bodies: Bodies
) -> Callable[..., Any]:
    """Take note of a generic kernel, and of the bodies that it will have."""
    _generics[called] = default, bodies
    return called


def check_body(called: Callable[..., Any], kind: Any, function: Any) -> None:
    """Raise TypeError unless `function` may become the body of a generic kernel for `kind`."""
    name, bodies = f"{called.__name__}.body", _generics[called][1]
    if not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise TypeError(f"{name} takes a class of named tuples, got {kind!r}")
    told = f"{name}({kind.__name__})"
    if not isinstance(function, FunctionType):
        raise TypeError(f"{told} takes a function as it is written, not compiled, got {function!r}")
    if is_ours(kind) and not is_ours(function):
        raise TypeError(
            f"{told}: what {kind.__name__} does is said in {kind.__module__}; "
            "make a class of named tuples of your own"
        )
    if kind in bodies:
        raise TypeError(f"{told} is there already; make another class for another body")
    if kind in _compiled:
        raise TypeError(f"{told} comes too late: code for {kind.__name__} is compiled already")


def has_body(called: Callable[..., Any], kind: type) -> bool:
    """Return whether a generic kernel has a body for a class, or does what is the default."""
    return kind in _generics[called][1]


def class_code(kind: type) -> str:
    """Return a hash of the bodies for a class from outside and of all that they refer to.

    It is "unknown" where they refer to what cannot be read.
    """
    try:
        return _hash_of([kind])
    except _UnreadableError:
        return "unknown"


def outside_code(function: Callable[..., Any], arguments: Iterable[Any]) -> str | None:
    """Return a hash of the code from outside in a function, compiled for arguments of these types.

    It is "" where there is none, and None where compiled code of it must not be kept.
    """
    roots: list[Any] = list(_outside_parts(arguments))
    kinds = [each for each in roots if isinstance(each, type)]
    _compiled.update(kinds)
    if not is_ours(function):
        roots.append(function)
    if not roots:
        return ""
    if not all(_is_found_by_name(kind) for kind in kinds):
        return None  # it would be kept with a copy of the class, which is another class
    try:
        return _hash_of(roots)
    except _UnreadableError:
        return None


def _outside_parts(types: Iterable[Any]) -> Iterator[Any]:
    """Yield the classes of named tuples, and the functions, from outside that types are made of."""
    for each in types:
        if isinstance(each, numba.types.BaseTuple):
            kind = getattr(each, "instance_class", tuple)
            if kind is not tuple and not is_ours(kind):
                yield kind
            yield from _outside_parts(each)
        elif isinstance(each, numba.types.Dispatcher) and not is_ours(each.dispatcher.py_func):
            yield each.dispatcher


def _is_found_by_name(kind: type) -> bool:
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind and kind.__module__ != "__main__"


def _hash_of(roots: list[Any]) -> str:
    """Return a hash of parts of code and of all parts that they refer to, or raise."""
    digest = hashlib.sha256()
    number: dict[int, int] = {}
    queue: list[Any] = []

    def number_of(part: Any) -> int:
        if id(part) not in number:
            number[id(part)] = len(queue)
            queue.append(part)
        return number[id(part)]

    for root in roots:
        number_of(root)
    for part in queue:  # which grows
        items = tuple(_content(part))
        # A name that has another value than when it was first met: some code was compiled with
        # the one and some will be with the other.
        told = tuple(item if isinstance(item, str) else id(item.to) for item in items)
        if _seen.setdefault(part, told) != told:
            raise _UnreadableError
        for item in items:
            text = item if isinstance(item, str) else f"#{number_of(item.to)}"
            digest.update(f"{len(text)}:{text}".encode(errors="surrogateescape"))
        digest.update(b".")
    return digest.hexdigest()[:16]


def _content(part: Any) -> Iterator[_Item]:
    """Yield all that compiled code may take from a part of code."""
    if part in _generics:
        default, bodies = _generics[part]
        yield "generic"
        yield _Reference(default)
        for kind in sorted(bodies, key=_name):
            yield from (*_value(kind), _Reference(bodies[kind]))
    elif isinstance(part, type):
        yield from _content_of_class(part)
    elif is_jitted(part):
        options = {name: getattr(o, "__name__", o) for name, o in part.targetoptions.items()}
        yield f"compiled {sorted(options.items(), key=str)}"
        yield _Reference(part.py_func)
    else:
        yield from _content_of_function(part)


def _content_of_class(kind: type) -> Iterator[_Item]:
    yield f"class {_name(kind)}"
    if issubclass(kind, enum.Enum):
        for member in kind:
            yield from (member.name, *_value(member.value))
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        yield from kind._fields
        for called in sorted(_generics, key=_name):
            body = _generics[called][1].get(kind)
            if body is not None:
                yield from (_name(called), _Reference(body))
    else:
        raise _UnreadableError


def _content_of_function(function: FunctionType) -> Iterator[_Item]:
    code, known = function.__code__, function.__globals__
    yield "function"
    yield from _content_of_code(code)
    yield from _value(function.__defaults__)
    yield from _value(tuple(sorted((function.__kwdefaults__ or {}).items())))
    for cell in function.__closure__ or ():
        try:
            yield from _value(cell.cell_contents)
        except ValueError:
            raise _UnreadableError from None
    names = {name for each in _codes(code) for name in each.co_names}
    for name in sorted(_global_names(code) & set(known)):
        yield name
        yield from _value(known[name])
        if isinstance(known[name], ModuleType):
            yield from _content_of_module(known[name], names, [known[name]])


def _content_of_module(
    module: ModuleType, names: set[str], above: list[ModuleType]
) -> Iterator[_Item]:
    """Yield what a function that uses these names may take from a module."""
    if _is_known(module.__name__):
        return
    for name in sorted(names & set(vars(module))):
        value = vars(module)[name]
        yield name
        yield from _value(value)
        if isinstance(value, ModuleType) and value not in above:
            yield from _content_of_module(value, names, [*above, value])


def _content_of_code(code: CodeType) -> Iterator[_Item]:
    yield code.co_code.hex()
    yield repr((code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags))
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield code.co_exceptiontable.hex()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _content_of_code(constant)
        else:
            yield from _value(constant)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code, and that of functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _global_names(code: CodeType) -> set[str]:
    steps = (step for each in _codes(code) for step in dis.get_instructions(each))
    return {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _value(value: Any) -> Iterator[_Item]:
    """Yield what there is to say of the value of a name, or raise."""
    kind = type(value)
    if kind in _PLAIN:
        yield f"{kind.__name__} {value!r}"
    elif isinstance(value, (np.dtype, numba.types.Type)):
        yield f"type {value}"
    elif isinstance(value, (np.generic, np.ndarray)) and not value.dtype.hasobject:
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        yield f"{kind.__name__} {value.dtype} {value.shape} {content}"
    elif isinstance(value, (tuple, list)):
        yield f"{len(value)} in"
        yield from ([kind.__name__] if kind in (tuple, list) else _value(kind))
        for each in value:
            yield from _value(each)
    elif kind is frozenset:
        yield f"set {sorted(''.join(map(str, _value(each))) for each in value)}"
    elif isinstance(value, enum.Enum):
        yield from (value.name, *_value(kind))
    elif isinstance(value, ModuleType):
        yield f"module {value.__name__}"
    elif is_jitted(value) and not _is_known(value.py_func.__module__):
        yield _Reference(value)
    elif _is_named(value) and _is_known(value.__module__):
        yield f"known {_name(value)}"
    elif isinstance(value, np.ufunc):
        yield f"ufunc {value.__name__}"
    elif isinstance(value, type) or (isinstance(value, FunctionType) and value in _generics):
        yield _Reference(value)
    else:
        # A function in Python among them: numba calls it only if other code says how.
        raise _UnreadableError


def _is_named(value: Any) -> bool:
    """Return whether a value is what its name says: a class, a function, a kernel."""
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)) or is_jitted(value):
        return True
    return "__module__" in getattr(value, "__dict__", ())  # an intrinsic has that of its function


def _is_known(module: Any) -> bool:
    return isinstance(module, str) and (
        module.partition(".")[0] in _KNOWN or _is_below(module, _OURS)
    )


def _is_below(module: Any, package: str) -> bool:
    return isinstance(module, str) and f"{module}.".startswith(f"{package}.")


def _name(thing: Any) -> str:
    return f"{thing.__module__}:{getattr(thing, '__qualname__', thing)}"
