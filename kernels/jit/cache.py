"""Where compiled code is kept: a folder that can be neither stale nor foreign."""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

import llvmlite.binding
import numba

from .outside import outside_code


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
    """Return a hash of every kernel's source and of numba's version.

    It is the same on every machine: checkpoints and studies move between them.
    """
    kernels = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(kernels.rglob("*.py")):
        name = source.relative_to(kernels).as_posix()
        digest.update(name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Return a hash of the processor that code is compiled on, and of the one it is meant for."""
    host = (
        llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten(),
    )
    # NUMBA_CPU_NAME, NUMBA_CPU_FEATURES and NUMBA_ENABLE_AVX, if they are set.
    names = ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX")
    chosen = tuple(getattr(numba.config, name, None) for name in names)
    return hashlib.sha256(repr((host, chosen)).encode()).hexdigest()[:8]


def cache_folder() -> Path:
    """Return the folder for compiled code, named by all that the code depends on.

    Numba stamps a compiled function with its own source file only, so that a change in a
    kernel it calls from another file would go unnoticed and the old code would run. A folder
    named by a hash of all sources and of numba's version cannot be stale; named by the
    processor's name and features too, it holds no code for another kind of machine that has the
    same home. Where the user's cache cannot be written, code is compiled into a folder that
    lasts as long as the process.
    """
    return _lasting_folder() or Path(_process_folder().name)


def cache_is_kept() -> bool:
    """Return whether compiled code outlives this process."""
    return _lasting_folder() is not None


@functools.cache
def _lasting_folder() -> Path | None:
    folder = _user_cache() / "fastes" / f"kernels-{fingerprint()}-{_processor()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):
        return None
    return folder


@functools.cache
def _process_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="fastes-kernels-", ignore_cleanup_errors=True)


def remembered(name: str, check: Callable[[], bool]) -> bool:
    """Return the outcome of a check, which is done once for this folder."""
    file = cache_folder() / name
    outcomes = {"yes": True, "no": False}
    with contextlib.suppress(OSError):
        text = file.read_text()
        if text in outcomes:
            return outcomes[text]
    outcome = check()
    part = file.with_name(f"{name}.{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        part.write_text("yes" if outcome else "no")
        part.replace(file)
    return outcome


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Have numba keep in a folder what is decorated inside the block.

    Numba reads the name of its folder when a function is decorated; other packages keep theirs.
    """
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = theirs


def part_outside_code(dispatcher: Any) -> bool:
    """Have numba keep code made with code from outside the kernels apart. Return whether it will.

    It goes to a folder that is named by a hash of all of it (outside.py), below that of the
    kernels: like theirs it cannot be stale. An index of the kernels' own folder names no class from
    outside, so that nobody's module is imported, or found missing, when it is read.
    """
    ours: Any = getattr(dispatcher, "_cache", None)
    load, save = (getattr(ours, name, None) for name in ("load_overload", "save_overload"))
    if load is None or save is None:
        return False
    parted: dict[str, Any] = {}

    def cache_of(signature: Any) -> Any:
        code = outside_code(dispatcher.py_func, getattr(signature, "args", signature))
        if code is None:
            return None
        if code not in parted:
            parted[code] = _cache_in(cache_folder() / f"outside-{code}", type(ours), dispatcher)
        return parted[code]

    def load_overload(signature: Any, context: Any) -> Any:
        cache = cache_of(signature)
        return None if cache is None else cache.load_overload(signature, context)

    def save_overload(signature: Any, data: Any) -> None:
        cache = cache_of(signature)
        if cache is not None:
            cache.save_overload(signature, data)

    parted[""] = SimpleNamespace(load_overload=load, save_overload=save)
    ours.load_overload, ours.save_overload = load_overload, save_overload
    return True


def _cache_in(folder: Path, kind: Callable[..., Any], dispatcher: Any) -> Any:
    """Return numba's cache of a function in a folder, or None where it cannot be had there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with kept_in(folder):
            cache = kind(dispatcher.py_func)
        found = Path(cache.cache_path)
    except Exception:
        return None
    if not found.is_relative_to(folder):
        return None
    let_processes_share(cache)
    return cache


def let_processes_share(cache: Any) -> None:
    """Have numba give compiled code a file name that no other process gives.

    Numba numbers the files of a function, one for each signature, by an index that a process
    reads, extends and writes back. Two that do so at once take the same number, and the code of
    one may be found under the signature of the other. With names of their own, what an index
    says is true whoever wrote it last: at worst a signature is missing from it, and is compiled
    again. There is no lock that a file system could lack or a killed process could leave.
    """
    files = getattr(cache, "_cache_file", None)
    numbered = getattr(files, "_data_name", None)
    if files is not None and numbered is not None:

        def unique(number: int) -> str:
            name = PurePath(numbered(number))
            return f"{name.stem}.{uuid.uuid4().hex[:16]}{name.suffix}"

        files._data_name = unique
