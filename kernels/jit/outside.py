"""Code from outside these kernels: the bodies it may give, and a hash of its source files.

The cache folder is named by the content of these kernels (cache.py). An agent from elsewhere has
its own state, a named tuple, and its own bodies for generic kernels: a loop compiled for that state
is made of code that the folder's name does not know. Its code is kept in a folder named by the
source files of the package that it is in or, for a module that is in no package, of that module and
of the modules beside it that it imports. Nothing is kept of code without such files, as in a
notebook, nor of files edited since this process began, whose older text may be what is compiled.
"""

import functools
import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

_OURS = __name__.removesuffix(".jit.outside")
_BEGIN = time.time()

_bodies: dict[type, list[tuple[str, FunctionType]]] = {}  # of a class, with the generics' names
_compiled: set[Any] = set()  # what of code from outside is compiled, or about to be


def is_ours(thing: Any) -> bool:
    """Return whether a class or a function is of these kernels."""
    return f"{getattr(thing, '__module__', None)}.".startswith(f"{_OURS}.")


def register_body(called: Any, kind: Any, function: Any) -> None:
    """Make `function` the body of a generic kernel for `kind`, or raise TypeError."""
    name = f"{called.__name__}.body"
    if not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise TypeError(f"{name} takes a class of named tuples, got {kind!r}")
    name = f"{name}({kind.__name__})"
    if not isinstance(function, FunctionType):
        raise TypeError(f"{name} takes a function as it is written, not compiled, got {function!r}")
    if is_ours(kind) and not is_ours(function):
        raise TypeError(
            f"{name}: the bodies for {kind.__name__} are in {kind.__module__}; "
            "make a class of named tuples of your own"
        )
    if kind in called.bodies:
        raise TypeError(f"{name} is there already; make another class for another body")
    if kind in _compiled:
        raise TypeError(f"{name} comes too late: code for {kind.__name__} is compiled already")
    called.bodies[kind] = function
    _bodies.setdefault(kind, []).append((called.__qualname__, function))


def outside_code(function: Callable[..., Any], arguments: Iterable[Any]) -> str | None:
    """Return a hash of the code from outside in a function, compiled for arguments of these types.

    It is "" where there is none, and None where compiled code of it must not be kept.
    """
    parts = list(_outside_parts(arguments))
    if not is_ours(function):
        parts.append(function)
    if not parts:
        return ""
    hashes = [source_hash(part) for part in parts]
    if None in hashes or not all(map(_is_found_by_name, parts)):
        return None
    return hashlib.sha256(repr(hashes).encode()).hexdigest()[:16]


def _outside_parts(types: Iterable[Any]) -> Iterator[Any]:
    """Yield the classes of named tuples, and the functions, from outside that types are made of."""
    for each in types:
        if isinstance(each, numba.types.BaseTuple):
            kind = getattr(each, "instance_class", tuple)
            if kind is not tuple and not is_ours(kind):
                yield kind
            yield from _outside_parts(each)
        elif isinstance(each, numba.types.StructRef):  # a box (boxed.py)
            yield from _outside_parts(each.field_dict.values())
        elif isinstance(each, numba.types.Dispatcher) and not is_ours(each.dispatcher.py_func):
            yield each.dispatcher.py_func


def _is_found_by_name(part: Any) -> bool:
    """Return whether another process finds a class or function by its name: no closure, say."""
    if isinstance(part, type) and part.__module__ == "__main__":
        return False
    found: Any = sys.modules.get(part.__module__)
    for name in part.__qualname__.split("."):
        found = getattr(found, name, None)
    return getattr(found, "py_func", found) is part


@functools.cache
def source_hash(part: Any) -> str | None:
    """Return a hash of the source of a class or function, or None where there is none to rely on.

    The source of a class is that of its bodies, too. It is read once, as a process imports it once.
    """
    _compiled.add(part)
    bodies = _bodies.get(part, [])
    if any(body.__closure__ for _, body in bodies):
        return None  # the values in it need not be in any file
    named = sorted((name, body.__module__, body.__qualname__) for name, body in bodies)
    digest = hashlib.sha256(repr(named).encode())
    code = [part, *(body for _, body in bodies)]
    modules = {each.__module__ for each in code if not is_ours(each)}
    try:
        for file in sorted({file for module in modules for file in _source_files(module)}):
            state = file.stat()
            if max(state.st_mtime, state.st_ctime) > _BEGIN:
                return None
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    except Exception:  # whatever an import system or a file system does otherwise
        return None
    return digest.hexdigest()[:16]


def _source_files(module: str) -> set[Path]:
    """Return the files that code of a module may be made of, or raise."""
    from modulefinder import ModuleFinder

    loaded: Any = sys.modules[module]
    itself = Path(loaded.__file__)
    name = getattr(loaded.__spec__, "name", module)  # of what is run by python -m, too
    package: Any = sys.modules.get(name.partition(".")[0])
    if hasattr(package, "__path__"):
        files = {file for folder in package.__path__ for file in Path(folder).rglob("*.py")}
    else:
        beside = [each.name for each in itself.parent.iterdir() if each.is_dir()]
        finder: Any = ModuleFinder([str(itself.parent)], excludes=beside)
        finder.load_file(str(itself))
        files = {Path(each.__file__) for each in finder.modules.values() if each.__file__}
    if itself not in files:
        raise FileNotFoundError(itself)
    return files
