"""Columns of a log, from a CSV file or from a data frame."""

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.checks.numbers import counted, shown
from fastes.logs.offers import Integers


class Table:
    """Some columns by name; `place(i)` names their i-th row in messages."""

    def __init__(self, found: dict[str, Any], place: Callable[[int], str]) -> None:
        self._found, self.place = found, place

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._found)

    def numbers(self, name: str | None) -> Floats:
        """Return a column of finite numbers, or raise."""
        cells = self._found[str(name)]
        try:
            values = np.asarray(cells, np.float64)
            wrong = int((~np.isfinite(values)).argmax()) if not np.isfinite(values).all() else -1
        except (TypeError, ValueError):
            wrong = next(i for i, cell in enumerate(cells) if not _is_number(cell))
        if wrong >= 0:
            raise ValueError(
                f"{name} must be a finite number, got {shown(cells[wrong])} in {self.place(wrong)}"
            )
        return values

    def integers(self, name: str) -> Integers:
        """Return a column of integers of at least 0, or raise."""
        values = self.numbers(name)
        refused = (values != np.floor(values)) | (values < 0) | (values >= 2**32)
        if refused.any():
            row = int(refused.argmax())
            raise ValueError(
                f"{name} must be the index of an arm, from 0, got "
                f"{shown(self._found[name][row])} in {self.place(row)}"
            )
        return values.astype(np.int64)

    def lists(self, name: str) -> list[Integers]:
        """Return a column of lists of integers, or raise."""
        found = []
        for row, cell in enumerate(self._found[name]):
            items = cell.split() if isinstance(cell, str) else cell
            try:
                found.append(np.array([int(item) for item in items], np.int64))
            except (TypeError, ValueError):
                raise ValueError(
                    f"{name} must be indices of arms, such as 0 3 7, got {shown(cell)} in "
                    f"{self.place(row)}"
                ) from None
        return found

    def labels(self, name: str) -> NDArray[Any]:
        """Return a column of labels."""
        return np.asarray(self._found[name])


class Columns:
    """A source of columns: their names, and a function that returns the table of some."""

    def __init__(self, what: str, names: Sequence[str], read: Callable[[list[str]], Table]) -> None:
        self._what, self._names, self._read = what, names, read

    def select(self, names: list[str]) -> Table:
        """Return some of the columns, or raise ValueError."""
        for name in names:
            if self._names.count(name) != 1:
                many = "more than one column" if name in self._names else "no column"
                raise ValueError(
                    f"{self._what} has {many} {name!r}: its columns are {', '.join(self._names)}"
                )
        return self._read(names)


def columns_of_frame(frame: Any) -> Columns:
    """Return the columns of a data frame."""
    if not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a data frame, got {shown(frame)}")

    def read(names: list[str]) -> Table:
        if len(frame) == 0:
            raise ValueError("the data frame has no rows")
        found = {name: np.asarray(frame[name]) for name in names}
        return Table(found, lambda row: f"row {row}")

    return Columns("the data frame", [str(name) for name in frame.columns], read)


def columns_of_csv(path: str | os.PathLike[str]) -> Columns:
    """Return the columns of a CSV file with a header; a byte order mark is passed over."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        header = _guarded(path, lambda: next(csv.reader(file), []))
    if not header:
        raise ValueError(f"{path} is empty: a log needs a header, and a row for each play")
    return Columns(str(path), header, lambda names: _guarded(path, lambda: _read(path, names)))


def _guarded(path: Any, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file in UTF-8") from error
    except csv.Error as error:
        raise ValueError(f"{path} is not a CSV file: {error}") from error


def _read(path: str | os.PathLike[str], names: list[str]) -> Table:
    """Read some of the columns; blank lines are passed over."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        header = next(reader)
        places = [header.index(name) for name in names]
        cells: list[list[str]] = [[] for _ in names]
        lines = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise ValueError(
                    f"line {reader.line_num} of {path} has {counted(len(row), 'cell')}, the header "
                    f"has {len(header)}"
                )
            lines.append(reader.line_num)
            for column, place in zip(cells, places, strict=True):
                column.append(row[place])
    if not lines:
        raise ValueError(f"{path} has a header but no rows")
    return Table(dict(zip(names, cells, strict=True)), lambda row: f"line {lines[row]}")


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
