"""Atomic writes: to a temporary file in the same folder, which is then renamed."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], new: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds.

    With `new`, an existing file raises FileExistsError. The temporary name keeps the suffix, by
    which some writers choose their format. Of a link the target is replaced; a device or a pipe is
    written to directly.
    """
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        handle, name = tempfile.mkstemp(
            prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
        )
        temporary = Path(name)
        try:
            os.close(handle)
            yield temporary
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
            temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            if new:
                _link(temporary, target)
            else:
                temporary.replace(target)
            _sync_folder(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        # Report the caller's path, not the temporary one.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


def _link(temporary: Path, target: Path) -> None:
    """Rename a file, or raise FileExistsError if the name is taken."""
    try:
        target.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # no hard links on this file system
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Flush a rename to disk, where the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
