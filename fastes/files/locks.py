"""Locks: one process at a time may work on a file."""

import os
from pathlib import Path
from typing import BinaryIO, Self


def locked(file: BinaryIO) -> bool:
    """Lock a file for as long as it is open. Return False if another process holds the lock."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system
        return True
    return True


def busy(path: str | os.PathLike[str]) -> BlockingIOError:
    """Return the error for a file that another process has locked."""
    return BlockingIOError(f"{os.fspath(path)} is in use by another process")


class LockedFile:
    """A locked file that its process replaces by a new one from time to time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        self.renew()
        return self

    def __exit__(self, *exception: object) -> None:
        self._release()

    def renew(self) -> None:
        """Lock the file that now has this name, or raise BlockingIOError."""
        path = Path(self.path)
        file = path.open("rb")
        # It may have been replaced between opening and locking.
        if not (locked(file) and os.path.samestat(os.fstat(file.fileno()), path.stat())):
            file.close()
            raise busy(self.path)
        self._release()
        self._file = file

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
