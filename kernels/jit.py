"""How kernels are compiled and cached: one place for the flags and for the cache folder."""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.extending import overload

from .linked import EntryCompiler, LinkedCompiler

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


def _user_cache() -> Path:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser()
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


@functools.cache
def fingerprint() -> str:
    """Return a hash of every kernel's source and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path:
    """Return the folder for compiled code, named by the content of every kernel.

    Numba stamps a compiled function with its own source file only, so that a change in a
    kernel it calls from another file would go unnoticed and the old code would run. A folder
    named by a hash of all sources and of numba's version cannot be stale. Where the user's
    cache cannot be written, code is compiled into a folder that lasts as long as the process.
    """
    folder = _user_cache() / "fastes" / f"kernels-{fingerprint()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):
        folder = Path(_process_folder().name)
    return folder


@functools.cache
def _process_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="fastes-kernels-", ignore_cleanup_errors=True)


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


@contextlib.contextmanager
def announce_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once, when the first kernel inside the block has to be compiled."""

    class Listener(event.Listener):  # type: ignore[misc]
        announced = False

        def on_start(self, event: Any) -> None:
            if not self.announced:
                self.announced = True
                announce()

        def on_end(self, event: Any) -> None:
            """Nothing to say: what follows speaks for itself."""

    with event.install_listener("numba:compile", Listener()):
        yield


@contextlib.contextmanager
def compilation_timer() -> Iterator[Callable[[], float]]:
    """Give a function that tells how many seconds were spent compiling since."""
    with event.install_listener("numba:compile", event.TimingListener()) as timer:
        yield lambda: timer.duration if timer.done else 0.0
