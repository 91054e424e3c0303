"""Files that are whole or not there, files that one process works on, and numbers in a range."""

import os
from pathlib import Path

import pytest

from fastes.checks import numbers
from fastes.files import locks
from fastes.files.atomic import atomic_write
from fastes.files.locks import LockedFile


def test_a_file_is_written_through_before_it_has_its_name(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def record(handle):
        there = (tmp_path / "result.npz").exists()
        synced.append((os.path.samestat(os.fstat(handle), tmp_path.stat()), there))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", record)
    with atomic_write(tmp_path / "result.npz") as temporary:
        temporary.write_text("whole")
    assert synced == [(False, False), (True, True)]  # the file, then the folder that names it


def test_a_temporary_name_keeps_the_suffix_and_is_in_the_same_folder(tmp_path):
    with atomic_write(tmp_path / "figure.svg") as temporary:
        assert temporary.suffix == ".svg"
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".")
        temporary.write_text("drawn")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]


def test_what_is_to_be_new_takes_no_file_s_place(tmp_path):
    path = tmp_path / "study.db"
    with atomic_write(path, new=True) as temporary:
        temporary.write_text("first")
    with (
        pytest.raises(OSError, match=r"study\.db") as caught,
        atomic_write(path, new=True) as other,
    ):
        other.write_text("second")
    assert isinstance(caught.value, FileExistsError)
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_locked_once_and_free_again_afterwards(tmp_path):
    path = tmp_path / "run"
    path.write_text("checkpoint")
    with LockedFile(path), pytest.raises(BlockingIOError, match="run is in use"):
        LockedFile(path).renew()
    with LockedFile(path):
        pass


def test_a_file_that_was_replaced_before_it_was_locked_is_not_worked_on(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_text("old")
    lock = locks.locked

    def replaced_meanwhile(file):
        (tmp_path / "new").write_text("new")
        (tmp_path / "new").replace(path)
        return lock(file)

    monkeypatch.setattr(locks, "locked", replaced_meanwhile)
    with pytest.raises(BlockingIOError, match="run is in use"):
        LockedFile(path).renew()


def test_the_lock_goes_over_to_the_file_that_has_the_name_now(tmp_path):
    path = tmp_path / "run"
    path.write_text("old")
    with LockedFile(path) as held:
        Path(tmp_path / "new").write_text("new")
        Path(tmp_path / "new").replace(path)
        held.renew()
        with pytest.raises(BlockingIOError):
            LockedFile(path).renew()


def test_a_range_includes_both_its_ends():
    assert numbers.integer("M", 1, 1, 5) == 1
    assert numbers.integer("M", 5, 1, 5) == 5
    for outside in (0, 6):
        with pytest.raises(ValueError, match="M must be an integer from 1 to 5"):
            numbers.integer("M", outside, 1, 5)
