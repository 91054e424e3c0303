"""Arrays and their description in one npz file, sealed by a hash, read without unpickling."""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastes
from fastes.checks import memory
from fastes.files.atomic import atomic_write
from fastes.files.kinds import FileFormatError, array_of, text_of, with_article

FORMAT = 2
_DESCRIPTION, _SEAL = "meta", "seal"
_HEADER = 1 << 12  # bytes before the numbers of a member, at most
_TYPES = "biufU"  # booleans, integers, reals and text


def save_arrays(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    compressed: bool = True,
    new: bool = False,
) -> None:
    """Write arrays and a JSON description to one npz file, atomically.

    The description lists every array with its type and shape; the seal is a hash of everything, so
    that a damaged file is refused when it is read. With `new`, an existing file raises
    FileExistsError.
    """
    if any(array.dtype.kind not in _TYPES for array in arrays.values()):
        raise TypeError("only arrays of booleans, integers, reals or text can be saved")
    members = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    made = {"version": fastes.__version__, "written": utc_now()}
    described = {"fastes": kind, "format": FORMAT, **made, **meta, "members": members}
    text = json.dumps(described, allow_nan=False)
    content = {_DESCRIPTION: np.array(text), _SEAL: np.array(_seal(text, arrays)), **arrays}
    # Given a name, numpy would append a suffix.
    with atomic_write(path, new) as temporary, temporary.open("wb") as file:
        write: Any = np.savez_compressed if compressed else np.savez
        write(file, **content)


def load_arrays(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `save_arrays` wrote, or raise FileFormatError with one sentence."""
    with Path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                text = text_of(archive, _DESCRIPTION)
                meta = json.loads(text)
                stored = meta["fastes"], meta["format"]
                if stored == (kind, FORMAT):
                    arrays = _members(archive, meta.pop("members"))
                    if text_of(archive, _SEAL) != _seal(text, arrays):
                        raise ValueError("its hash does not match")
        except MemoryError:
            raise
        except Exception as error:  # a damaged file may raise anything
            raise FileFormatError(
                f"{os.fspath(path)} is not a fastes {kind} file, or it is damaged or incomplete"
            ) from error
    if stored[0] != kind:
        raise FileFormatError(
            f"{os.fspath(path)} is a fastes {stored[0]}, not {with_article(kind)}"
        )
    if stored[1] != FORMAT:
        raise FileFormatError(
            f"{os.fspath(path)} has format {stored[1]}; this version of fastes reads {FORMAT}"
        )
    return meta, arrays


def _members(archive: zipfile.ZipFile, described: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the description; ValueError unless they match the file's members."""
    names = [info.filename for info in archive.infolist()]
    wanted = [f"{name}.npy" for name in (_DESCRIPTION, _SEAL, *described)]
    if sorted(names) != sorted(wanted):
        raise ValueError("its members are not those of its description")
    for name, (type_, shape) in described.items():
        # Checked before unpacking: a small file can expand to a large one.
        size = math.prod(shape) * np.dtype(type_).itemsize
        if archive.getinfo(f"{name}.npy").file_size > size + _HEADER:
            raise ValueError(f"{name} is larger than described")
    arrays = arrays_of(archive, described)
    for name, (type_, shape) in described.items():
        if arrays[name].dtype.str != type_ or list(arrays[name].shape) != shape:
            raise ValueError(f"{name} is not as described")
    return arrays


def arrays_of(archive: zipfile.ZipFile, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return members of an npz file; MemoryError before unpacking if they do not fit."""
    needed = sum(info.file_size for info in archive.infolist())
    memory.require(f"{archive.filename or 'the file'}", needed)
    return {name: array_of(archive, name) for name in names}


def _seal(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a hash of the description, which has types and shapes, and of the arrays' bytes."""
    digest = hashlib.sha256(text.encode())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def load_npy(name: str, path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array in a .npy file, without unpickling."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise FileFormatError(
            f"{name}: {os.fspath(path)} is not a .npy file of numbers, or it is incomplete"
        ) from error


def utc_now() -> str:
    """Return the date and time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def with_prefix(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names start with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
