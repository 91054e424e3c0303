"""What a file is, and which files may take another's place."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import fastes
from fastes.files.kinds import SUFFIXES, kind_of, require_replaceable
from fastes.results.figures import plot_regret, save_figure

KINDS = tuple(SUFFIXES)
A = {kind: f"an {kind}" if kind == "agent" else f"a {kind}" for kind in KINDS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a file of every kind, and foreign ones."""
    path = tmp_path_factory.mktemp("kinds")
    bandit = fastes.LinearBandit.random(5, 2)
    file = path / "checkpoint.ckpt"
    result = fastes.simulate(bandit, fastes.Greedy(), T=10, runs=2, checkpoint=file)
    result.save(path / "result.npz")
    result.to_csv(path / "table.csv")
    bandit.save(path / "problem.npz")
    fastes.Greedy().start(bandit).save(path / "agent.npz")
    fastes.replay(fastes.Log(2, [0], [1.0], 0.5), fastes.Greedy()).save(path / "replay.npz")
    fastes.sweep(fastes.Study(agent="greedy", K=5, d=2, T=5, runs=2), path / "study.db")
    for suffix in SUFFIXES["figure"]:
        save_figure(lambda ax: plot_regret([result], ax), path / f"figure{suffix}")
    for suffix in SUFFIXES["report"]:
        fastes.report(result, path / f"report{suffix}")
    (path / "foreign.html").write_text("<!doctype html><p>a page</p>")
    (path / "foreign.json").write_text('{"name": "commit"}')
    (path / "foreign.csv").write_text("name,age\nada,36\n")
    np.savez(path / "foreign.npz", a=np.arange(3))
    sqlite3.connect(path / "foreign.db").executescript("CREATE TABLE t (a); VACUUM;")
    (path / "foreign.png").write_text("no picture")
    (path / "foreign.ckpt").write_bytes(b"\0" * 100)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_told_by_content(kind, folder, tmp_path):
    for suffix in SUFFIXES[kind]:
        assert kind_of(folder / f"{kind}{suffix}") == kind
    renamed = tmp_path / "renamed"
    renamed.write_bytes((folder / f"{kind}{SUFFIXES[kind][0]}").read_bytes())
    assert kind_of(renamed) == kind


def test_foreign_files_are_of_no_kind(folder):
    for file in folder.glob("foreign.*"):
        assert kind_of(file) is None, file
    assert kind_of(folder / "nothing") is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("there", [*KINDS, "foreign"])
def test_a_file_is_replaced_only_by_one_of_its_kind(kind, there, folder, tmp_path):
    suffix = SUFFIXES[kind][0]
    source = folder / (f"foreign{suffix}" if there == "foreign" else f"{there}{SUFFIXES[there][0]}")
    file = tmp_path / f"file{suffix}"
    file.write_bytes(source.read_bytes())
    if there == kind:
        require_replaceable(file, kind)
        return
    what = "not a fastes file" if there == "foreign" else f"a fastes {there}"
    with pytest.raises(FileExistsError, match=f"is {what}: use .* to replace it with {A[kind]}"):
        require_replaceable(file, kind)
    require_replaceable(file, kind, force=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_ends_as_its_kind_does(kind, tmp_path):
    for suffix in {ending for endings in SUFFIXES.values() for ending in endings} | {"", ".x"}:
        file = tmp_path / f"file{suffix}"
        if suffix in SUFFIXES[kind]:
            require_replaceable(file, kind)
        else:
            with pytest.raises(ValueError, match=f"the name of {A[kind]} must end in"):
                require_replaceable(file, kind, force=True)


def test_empty_files_and_devices_may_be_written_to(tmp_path):
    (tmp_path / "empty.npz").touch()
    result = fastes.simulate(fastes.LinearBandit.random(5, 2), fastes.Greedy(), T=10)
    result.save(tmp_path / "empty.npz")
    assert kind_of(tmp_path / "empty.npz") == "result"
    result.to_csv("/dev/null")
    assert not Path("/dev/null").is_file()


def test_every_way_to_save_keeps_a_foreign_file(folder, tmp_path):
    bandit = fastes.LinearBandit.random(5, 2)
    result = fastes.simulate(bandit, fastes.Greedy(), T=10)
    comparison = fastes.compare(bandit, [fastes.Greedy()], T=10)
    saves = {
        "npz": (result.save, comparison.save, bandit.save, fastes.Greedy().start(bandit).save),
        "csv": (result.to_csv, comparison.to_csv),
    }
    for suffix, ways in saves.items():
        file = tmp_path / f"mine.{suffix}"
        mine = (folder / f"foreign.{suffix}").read_bytes()
        for save in ways:
            file.write_bytes(mine)
            with pytest.raises(FileExistsError, match="is not a fastes file"):
                save(file)
            assert file.read_bytes() == mine
            save(file, force=True)
            assert file.read_bytes() != mine
