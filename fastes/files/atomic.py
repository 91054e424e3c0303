"""Files that appear whole or not at all: written beside their place, then renamed."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], new: bool = False) -> Iterator[Path]:
    """Give a temporary name beside `path`; rename it to `path` if the block succeeds.

    What is to be `new` never takes another file's place: FileExistsError, then. The temporary
    name keeps the suffix, by which some writers choose their format. A link's
    target is replaced, not the link; a device or a pipe is written to as it is.
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
        # The name that the caller knows, not the temporary one.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


def _link(temporary: Path, target: Path) -> None:
    """Give a file its name, unless there is one of that name."""
    try:
        target.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Have the system write down a rename, where it can be asked to."""
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
