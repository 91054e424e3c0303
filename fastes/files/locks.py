"""Files that one process at a time may work on."""

import os
from pathlib import Path
from typing import BinaryIO, Self


def locked(file: BinaryIO) -> bool:
    """Lock a file for as long as it is open. Return False if somebody else has."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def busy(path: str | os.PathLike[str]) -> BlockingIOError:
    """Return the error of a file that somebody else has locked."""
    return BlockingIOError(f"{os.fspath(path)} is being worked on by another process")


class LockedFile:
    """A file that one process works on, and replaces by a new one from time to time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        self.renew()
        return self

    def __exit__(self, *exception: object) -> None:
        self._let_go()

    def renew(self) -> None:
        """Lock the file that has the name now, or raise BlockingIOError."""
        path = Path(self.path)
        file = path.open("rb")
        # Between opening and locking it, another file may have taken its place.
        if not (locked(file) and os.path.samestat(os.fstat(file.fileno()), path.stat())):
            file.close()
            raise busy(self.path)
        self._let_go()
        self._file = file

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.close()
