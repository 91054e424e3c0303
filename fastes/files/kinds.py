"""Kinds of files, recognised by content, and which files may be overwritten."""

import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

from fastes.checks.numbers import alternatives, printable

FIGURE_FORMATS = ("png", "svg", "pdf")

SUFFIXES = {
    "result": (".npz",),
    "problem": (".npz",),
    "agent": (".npz",),
    "replay": (".npz",),
    "checkpoint": (".ckpt",),
    "study": (".db",),
    "table": (".csv",),
    "figure": tuple(f".{name}" for name in FIGURE_FORMATS),
    "report": (".html", ".htm"),
}
"""The kinds of files that fastes writes, and how their names end."""

REPORT_MARK = '<meta name="fastes" content="report">'
"""Marks a report; near its beginning."""

APPLICATION = 0x66737473
"""Application id in the header of a study's database: "fsts"."""

_MOST_TEXT = 1 << 28  # bytes of a description at most


class FileFormatError(ValueError):
    """A file is damaged, or of another kind than expected."""

    def __init__(self, sentence: str) -> None:
        super().__init__(printable(sentence))  # may quote the file


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a file, a key of `SUFFIXES`, or None if it is none of them.

    A pipe is not read: its content would be lost.

    Examples
    --------
    >>> import fastes, tempfile
    >>> from fastes.files.kinds import kind_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fastes.LinearBandit.random(K=5, d=2).save(f"{folder}/five.npz")
    ...     kind_of(f"{folder}/five.npz")
    'problem'
    """
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        start = file.read(512)
    if start.startswith(b"SQLite format 3\0"):
        return "study" if int.from_bytes(start[68:72], "big") == APPLICATION else None
    if start.startswith(b"PK"):
        kind = description_of(path).get("fastes")
        return kind if isinstance(kind, str) and kind in SUFFIXES else None
    if start.startswith(b"<!doctype html>"):
        return "report" if REPORT_MARK.encode() in start else None
    if start.startswith((b"\x89PNG", b"%PDF")) or b"<svg" in start or b"DTD SVG" in start:
        return "figure"
    return "table" if start.startswith(b"agent,") else None


def description_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the description in an npz file; {} of a foreign or damaged file."""
    try:
        with zipfile.ZipFile(path) as archive:
            described = json.loads(text_of(archive, "meta"))
    except Exception:  # a foreign file may raise anything
        return {}
    return described if isinstance(described, dict) else {}


def text_of(archive: zipfile.ZipFile, name: str) -> str:
    """Return a text member of an npz file."""
    if archive.getinfo(f"{name}.npy").file_size > _MOST_TEXT:
        raise ValueError(f"{name} is too long")
    return str(array_of(archive, name)[()])


def array_of(archive: zipfile.ZipFile, name: str) -> Any:
    """Return a member of an npz file, or raise ValueError.

    Allocates no more memory than the member's size in the archive.
    """
    from numpy.lib import format as npy

    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        if npy.read_magic(file) != (1, 0):
            raise ValueError(f"{name} has an unknown npy version")
        shape, _, kind = npy.read_array_header_1_0(file)
    if math.prod(shape) * kind.itemsize > member.file_size:
        raise ValueError(f"{name} is incomplete")
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)


def require_replaceable(path: str | os.PathLike[str], kind: str, force: bool = False) -> None:
    """Raise unless a file of this kind may be written to a path.

    The name must have a suffix of the kind. An existing file may be replaced if it is empty or of
    the same kind, any other only with `force`. A device or a pipe may always be written to.
    """
    if Path(path).exists() and not Path(path).is_file():
        return
    endings = SUFFIXES[kind]
    if Path(path).suffix.lower() not in endings:
        raise ValueError(
            f"the name of {with_article(kind)} must end in {alternatives(endings)}, "
            f"got {os.fspath(path)!r}"
        )
    if force or not Path(path).exists() or Path(path).stat().st_size == 0:
        return
    there = kind_of(path)
    if there == kind:
        return
    what = "not a fastes file" if there is None else f"a fastes {there}"
    raise FileExistsError(
        f"{os.fspath(path)} exists and is {what}: use --force or force=True to replace it with "
        f"{with_article(kind)}"
    )


def with_article(kind: str) -> str:
    """Return a kind of file with its article, such as "an agent"."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def is_database(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an SQLite database. A pipe is not read: that would empty it."""
    if Path(path).exists() and not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
