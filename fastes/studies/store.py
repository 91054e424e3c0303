"""The file of a study, an SQLite database: its tasks, and the results of completed ones."""

import contextlib
import errno
import hashlib
import json
import math
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.files.archive import utc_now
from fastes.files.atomic import atomic_write
from fastes.files.guard import made_of
from fastes.files.kinds import APPLICATION, FileFormatError, kind_of, require_replaceable
from fastes.files.locks import busy, locked
from fastes.results.configuration import Configuration
from fastes.simulation.recording import recording_times
from fastes.studies.study import Study, differences
from fastes.studies.tasks import (
    BuildId,
    BuildMismatchError,
    Packed,
    Task,
    TaskResult,
    build_id,
    covers,
    packed_study,
    unpacked_study,
)

_FORMAT = 3

_SCHEMA = """
CREATE TABLE study (
    description TEXT, arrays BLOB, version TEXT, kernels TEXT, written TEXT, tasks TEXT, seal TEXT
);
CREATE TABLE task (
    number INTEGER PRIMARY KEY, setting INTEGER, first INTEGER, last INTEGER, cost REAL
);
CREATE TABLE result (
    task INTEGER PRIMARY KEY REFERENCES task, seal TEXT, configuration TEXT, coordinates TEXT,
    regret BLOB, counts BLOB
);
CREATE TABLE failure (task INTEGER PRIMARY KEY REFERENCES task, message TEXT, seal TEXT);
CREATE TABLE done (tasks INTEGER, seals TEXT);
"""
# Every row has a seal, a hash of it. `study.tasks` is a hash of all tasks; `done` has the number of
# results and their combined seals, so that lost or duplicate rows are noticed too.


_OBJECTS = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
"""All objects of a database: a table could have been replaced by an endless view."""


class Store:
    """A study's file. Each change is a transaction."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not Path(path).is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        there = kind_of(path)
        if there not in ("study", None):
            raise FileFormatError(f"{os.fspath(path)} is a fastes {there}, not a study")
        self.path = path
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        with self._explained():
            _require_all_pages(path)
            (application,) = self._one("PRAGMA application_id")
            (version,) = self._one("PRAGMA user_version")
            if application != APPLICATION:
                raise FileFormatError(f"{os.fspath(path)} is not a fastes study")
            if version != _FORMAT:
                raise FileFormatError(
                    f"{os.fspath(path)} has format {version}; "
                    f"this version of fastes reads {_FORMAT}"
                )
            with contextlib.closing(sqlite3.connect(":memory:")) as new:
                new.executescript(_SCHEMA)
                if (
                    self._connection.execute(_OBJECTS).fetchall()
                    != new.execute(_OBJECTS).fetchall()
                ):
                    raise sqlite3.DatabaseError("its tables are not those of a study")
            *row, seal = self._one("SELECT * FROM study")
            if seal != _seal(*row):
                raise sqlite3.DatabaseError("its description does not match its hash")
            self.packed: Packed = (row[0], row[1])
            self.begun_by = BuildId(*row[2:4])
            self.written: str = row[4]
            self._tasks_seal: str = row[5]
            self.study = unpacked_study(self.packed)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def require(self, study: Study) -> None:
        """Raise ValueError unless the file holds this study, begun by this version."""
        name = os.fspath(self.path)
        apart = differences(self.study.description(), study.description())
        if apart:
            raise ValueError(f"{name} holds another study: it differs in {', '.join(apart)}")
        if self.begun_by != build_id():
            raise ValueError(
                f"{name} was created by fastes {self.begun_by.version} with other kernels than "
                f"this fastes {build_id().version}: runs of both must not be mixed"
            )

    def tasks(self) -> list[Task]:
        """Return all tasks, which cover every run of every setting once."""
        with self._explained():
            rows = self._connection.execute("SELECT * FROM task ORDER BY number")
            tasks = [Task(*row) for row in rows]
            if self._tasks_seal != _seal(*tasks) or not covers(self.study, tasks):
                raise sqlite3.DatabaseError("its tasks do not match their hash")
            return tasks

    def done(self) -> set[int]:
        """Return the numbers of the completed tasks."""
        with self._explained(), self._transaction("DEFERRED"):
            rows = self._connection.execute("SELECT task, seal FROM result").fetchall()
            count, seals = self._one("SELECT * FROM done")
            known = {n for (n,) in self._connection.execute("SELECT number FROM task")}
            numbers = {number for number, _ in rows}
            if count != len(rows) or seals != _combined(*(seal for _, seal in rows)):
                raise sqlite3.DatabaseError("its results do not match their hash")
            if not numbers <= known:
                raise sqlite3.DatabaseError("it has a result without a task")
            return numbers

    def failures(self) -> dict[int, str]:
        """Return why tasks failed, by their numbers."""
        with self._explained():
            rows = self._connection.execute("SELECT * FROM failure").fetchall()
            if any(seal != _seal(number, message) for number, message, seal in rows):
                raise sqlite3.DatabaseError("a failure does not match its hash")
            return {number: message for number, message, _ in rows}

    def keep(self, task: Task, result: TaskResult) -> None:
        """Write the result of a task; BuildMismatchError if its bits cannot match the others'."""
        question = (
            "SELECT coordinates FROM task JOIN result ON number = task WHERE setting = ? LIMIT 1"
        )
        seal = _seal(*task, *result)
        with self._explained(), self._transaction():
            other = self._connection.execute(question, (task.setting,)).fetchone()
            if other is not None and other[0] != result.coordinates:
                raise BuildMismatchError(
                    f"task {task.number} used a linear algebra library that rounds differently "
                    "from that of earlier tasks: runs of both must not be mixed"
                )
            count, seals = self._one("SELECT * FROM done")
            now = (count + 1, _combined(seals, seal))
            row = (task.number, seal, *result)
            self._connection.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?)", row)
            self._connection.execute("UPDATE done SET tasks = ?, seals = ?", now)
            self._connection.execute("DELETE FROM failure WHERE task = ?", (task.number,))

    def fail(self, task: Task, message: str) -> None:
        """Write the failure of a task."""
        with self._explained(), self._transaction():
            row = (task.number, message, _seal(task.number, message))
            self._connection.execute("INSERT OR REPLACE INTO failure VALUES (?, ?, ?)", row)

    def measured(self, tasks: Iterable[Task]) -> "Measured | None":
        """Return the results so far of some tasks of one setting, if any."""
        runs: list[int] = []
        regrets, counts, seconds = [], [], 0.0
        with self._explained():
            for task in sorted(tasks, key=lambda task: task.first):
                question = "SELECT * FROM result WHERE task = ?"
                row = self._connection.execute(question, (task.number,)).fetchone()
                if row is None:
                    continue
                result = TaskResult(*row[2:])
                if row[1] != _seal(*task, *result):
                    raise FileFormatError(f"{os.fspath(self.path)} is damaged in {task}")
                setting = self.study.settings[task.setting]
                times = len(recording_times(setting.T, self.study.points))
                runs += range(task.first, task.last)
                shape = task.last - task.first, times
                regrets.append(_numbers(result.regret, np.float64, *shape))
                counts.append(
                    _numbers(result.counts, np.int64, setting.problem.sizes.actions.counted_arms)
                )
                described = json.loads(result.configuration)
                configuration = Configuration.from_description(described)
                seconds += configuration.seconds
            if not runs:
                return None
            regret, count = np.concatenate(regrets), np.sum(counts, axis=0)
            whole = configuration._replace(runs=len(runs), seconds=seconds)
            return Measured(runs, regret, count, whole)

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Lock the file; BlockingIOError if another process works on it."""
        # Not SQLite's lock, which is held during each change only. This file is closed after
        # SQLite's: closing it earlier would release SQLite's locks, which belong to the process.
        with Path(self.path).open("r+b") as file:
            if not locked(file):
                raise busy(self.path)
            try:
                yield
            finally:
                self._connection.close()

    @contextlib.contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite or of a damaged file into one that names the file."""
        with made_of(self.path, "study"):
            try:
                yield
            except sqlite3.OperationalError as error:
                # SQLite also raises it for a missing table, and Python, without a code, for text
                # that is not UTF-8.
                if getattr(error, "sqlite_errorcode", None) in (None, sqlite3.SQLITE_ERROR):
                    raise
                raise OSError(errno.EIO, str(error), os.fspath(self.path)) from error

    def _one(self, question: str) -> tuple[Any, ...]:
        row = self._connection.execute(question).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("a row is missing")
        return tuple(row)


class Measured(NamedTuple):
    """The results so far of a setting."""

    runs: list[int]  # their numbers
    regret: Floats  # (runs, times)
    counts: NDArray[np.int64]  # (K,)
    configuration: Configuration


def create(path: str | os.PathLike[str], study: Study, tasks: Sequence[Task]) -> None:
    """Write the new file of a study before its first task, atomically."""
    require_replaceable(path, "study")
    try:
        with (
            atomic_write(path, new=True) as temporary,
            contextlib.closing(sqlite3.connect(temporary)) as new,
        ):
            new.executescript(_SCHEMA)
            new.execute(f"PRAGMA application_id = {APPLICATION}")
            new.execute(f"PRAGMA user_version = {_FORMAT}")
            row = (*packed_study(study), *build_id(), utc_now(), _seal(*tasks))
            new.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, _seal(*row)))
            new.executemany("INSERT INTO task VALUES (?, ?, ?, ?, ?)", tasks)
            new.execute("INSERT INTO done VALUES (0, ?)", (_combined(),))
            new.commit()
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), os.fspath(path)) from error


def _require_all_pages(path: str | os.PathLike[str]) -> None:
    """Raise DatabaseError unless the file is as long as its header says.

    SQLite itself notices a missing page only when it reads it.
    """
    with Path(path).open("rb") as file:
        header, size = file.read(100), file.seek(0, os.SEEK_END)
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 1 << 16 if page_size == 1 else page_size
    if size < page_size * int.from_bytes(header[28:32], "big"):
        raise sqlite3.DatabaseError("it is truncated")


def _numbers(packed: bytes, kind: Any, *shape: int) -> NDArray[Any]:
    """Return packed numbers; raise before unpacking more than expected."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    return np.frombuffer(zlib.decompressobj().decompress(packed, size + 1), kind).reshape(shape)


def _seal(*values: Any) -> str:
    """Return a hash of the values of a row, by which damage is noticed."""
    digest = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else repr(_plain(value)).encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:16]


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, tuple) else value  # without a named tuple's names


def _combined(*seals: str) -> str:
    """Return seals combined independently of their order."""
    whole = 0
    for seal in seals:
        whole ^= int(seal, 16)
    return f"{whole:016x}"
