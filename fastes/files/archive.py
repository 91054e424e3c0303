"""Arrays and their description in one npz file, read without unpickling."""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.files.atomic import atomic_write

FORMAT = 1


class FileFormatError(ValueError):
    """A file is not what it should be."""


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
    with atomic_write(path, new) as temporary, temporary.open("wb") as file:
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


def with_prefix(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names start with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def is_database(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is one of SQLite. A pipe is not read: it would be lost."""
    if Path(path).exists() and not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
