"""Files that are whole or not there: written aside and renamed, read without unpickling."""

import contextlib
import errno
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

FORMAT = 1


class FileFormatError(ValueError):
    """A file is not what it should be."""


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], new: bool = False) -> Iterator[Path]:
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


def save_arrays(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    compressed: bool = True,
    new: bool = False,
) -> None:
    """Write arrays and a JSON description to one npz file."""
    description = json.dumps({"fastes": kind, "format": FORMAT, **meta}, allow_nan=False)
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("arrays of Python objects are never written: reading them would run code")
    # The file object keeps numpy from changing the file's name.
    with replacing(path, new) as temporary, temporary.open("wb") as file:
        write: Any = np.savez_compressed if compressed else np.savez
        write(file, **{"meta": np.array(description), **arrays})


def load_arrays(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `save_arrays` wrote, or raise FileFormatError with one sentence."""
    with Path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                if archive.testzip() is not None:
                    raise zipfile.BadZipFile
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored_arrays:
                arrays = {name: stored_arrays[name] for name in stored_arrays.files}
            meta = json.loads(str(arrays.pop("meta")))
            stored = meta["fastes"], meta["format"]
        except Exception as error:  # whatever a damaged file makes its readers say
            raise FileFormatError(
                f"{os.fspath(path)} is not a fastes {kind} file, or it is damaged or incomplete"
            ) from error
    if stored[0] != kind:
        raise FileFormatError(f"{os.fspath(path)} holds a fastes {stored[0]}, not a {kind}")
    if stored[1] != FORMAT:
        raise FileFormatError(
            f"{os.fspath(path)} has format {stored[1]}, this version of fastes reads {FORMAT}"
        )
    return meta, arrays


def named(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names start with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def is_database(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is one of SQLite. Nothing is read from a pipe: it could not be again."""
    if Path(path).exists() and not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def locked(file: BinaryIO) -> bool:
    """Lock a file for as long as it is open. Tell whether nobody else has."""
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


class Held:
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
