"""Where compiled code is kept: a folder that can be neither stale nor foreign."""

import functools
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import numba


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
    kernels = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(kernels.rglob("*.py")):
        name = source.relative_to(kernels).as_posix()
        digest.update(name.encode() + b"\0" + source.read_bytes())
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


def cache_is_kept() -> bool:
    """Return whether compiled code outlives this process."""
    return cache_folder() != Path(_process_folder().name)
