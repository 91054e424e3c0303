"""The cache of compiled code: a folder that is never stale or of another machine."""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path, PurePath
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

    It is the same on all machines, so that checkpoints and studies can be moved.
    """
    kernels = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(kernels.rglob("*.py")):
        name = source.relative_to(kernels).as_posix()
        digest.update(name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Return a hash of the host's processor, and of the one for which code is compiled."""
    host = (
        llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten(),
    )
    # NUMBA_CPU_NAME, NUMBA_CPU_FEATURES and NUMBA_ENABLE_AVX, if they are set.
    names = ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX")
    chosen = tuple(getattr(numba.config, name, None) for name in names)
    return hashlib.sha256(repr((host, chosen)).encode()).hexdigest()[:8]


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder for compiled code, named by all that the code depends on.

    Numba stamps a compiled function with its own source file only, so that a change in a
    kernel it calls from another file would go unnoticed and the old code would run. A folder
    named by a hash of all sources and of numba's version cannot be stale; named by the
    processor's name and features too, it holds no code for another kind of machine that has the
    same home. None where it cannot be written.
    """
    try:
        folder = _user_cache() / "fastes" / f"kernels-{fingerprint()}-{_processor()}"
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        _losses.append(str(error))
        return None
    return folder


_losses: list[str] = []  # why compiled code is not kept


def cache_is_kept() -> bool:
    """Return whether all code compiled so far is cached."""
    return cache_folder() is not None and not _losses


@functools.cache
def _warn_of_loss() -> None:
    """Warn, once per process, that compiled code is not cached."""
    warnings.warn(
        f"compiled code is not kept ({_losses[0]}): every process compiles again, for ten to "
        "thirty seconds; make room, or set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )


def remembered(name: str, check: Callable[[], bool]) -> bool:
    """Return the outcome of a check, which is done once for a cache folder."""
    folder = cache_folder()
    if folder is None:
        return check()
    file, outcomes = folder / name, {"yes": True, "no": False}
    with contextlib.suppress(OSError):
        text = file.read_text()
        if text in outcomes:
            return outcomes[text]
    outcome = check()
    part = file.with_name(f"{name}.{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        try:
            part.write_text("yes" if outcome else "no")
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    return outcome


def keep_code(dispatcher: Any) -> None:
    """Have numba keep the code of a function in the cache folder, as far as it can be kept.

    What cannot be read there is compiled again; what cannot be written lasts as long as the
    process, which a warning says. Code made with code from outside the kernels goes to a folder of
    its own, named by a hash of all of it (outside.py): like theirs it cannot be stale. An index of
    the kernels' own code names no class from outside, so that nobody's module is imported, or found
    missing, when it is read.
    """
    function = dispatcher.py_func
    caches: dict[str, Any] = {}

    def cache_of(signature: Any) -> Any:
        folder, code = cache_folder(), outside_code(function, getattr(signature, "args", signature))
        if code is None:
            return None
        if folder is None:
            _warn_of_loss()
            return None
        if code not in caches:
            try:
                caches[code] = _cache_in(folder / f"outside-{code}" if code else folder, function)
            except Exception as error:
                caches[code] = None
                _lost(error)
        return caches[code]

    def load_overload(signature: Any, context: Any) -> Any:
        cache = cache_of(signature)
        try:
            return None if cache is None else cache.load_overload(signature, context)
        except Exception:  # a truncated file may raise anything
            with contextlib.suppress(Exception):
                cache.flush()
            return None

    def save_overload(signature: Any, data: Any) -> None:
        cache = cache_of(signature)
        try:
            if cache is not None:
                cache.save_overload(signature, data)
        except Exception as error:
            _lost(error)

    with contextlib.suppress(AttributeError):  # numba's own cache, which keeps nothing
        dispatcher._cache.load_overload = load_overload
        dispatcher._cache.save_overload = save_overload


def _lost(error: Exception) -> None:
    """Record that compiled code is not cached, and warn."""
    _losses.append(f"{cache_folder()}: {error}")
    _warn_of_loss()


def _cache_in(folder: Path, function: Callable[..., Any]) -> Any:
    """Return numba's cache of a function in a folder, or raise where it cannot be had there."""
    from numba.core.caching import FunctionCache

    folder.mkdir(parents=True, exist_ok=True)
    theirs = numba.config.CACHE_DIR  # other packages keep theirs
    numba.config.CACHE_DIR = str(folder)
    try:
        cache = FunctionCache(function)
    finally:
        numba.config.CACHE_DIR = theirs
    if not Path(cache.cache_path).is_relative_to(folder):
        raise OSError(f"numba would keep it in {cache.cache_path}")
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
