"""Sweeps: done, stopped, continued, read; nothing twice and nothing lost."""

import contextlib
import random
import resource
import signal
import sqlite3
import zlib

import numpy as np
import pytest
from click.testing import CliRunner
from sweeps import SMALL, assert_same, is_whole, rows, run, simulated

import fastes
from fastes.cli import main
from fastes.files.kinds import FileFormatError
from fastes.simulation.execute import execute
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import make_plan
from fastes.studies import execution as sweep
from fastes.studies import store, tasks
from fastes.studies.axes import AXES


@pytest.mark.parametrize("task_seconds", [1e-4, 1e-3, 100.0])
def test_a_sweep_has_the_bits_of_simulations(task_seconds, tmp_path):
    made = run(tmp_path / "a.db", task_seconds=task_seconds, threads=2)
    is_whole(made.path)
    results = made.results()
    assert [setting for setting, _ in results] == list(made.study.settings)
    for setting, result in results:
        assert_same(result, simulated(SMALL, setting))


def test_a_task_that_is_done_is_never_done_again(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    run(path, task_seconds=1e-4)
    monkeypatch.setattr(sweep, "do_task", None)
    before = path.read_bytes()
    run(path)
    assert path.read_bytes() == before


def failing(path, times, monkeypatch, task_number=3):
    tried = []

    def do_task(description, task, *rest, do=tasks.do_task):
        if task.number == task_number:
            tried.append(1)
            if len(tried) <= times:
                raise FloatingPointError("lost")
        return do(description, task, *rest)

    monkeypatch.setattr(sweep, "do_task", do_task)
    return run(path, task_seconds=1e-4), tried


def test_a_task_that_fails_is_tried_again(tmp_path, monkeypatch):
    made, tried = failing(tmp_path / "a.db", 2, monkeypatch)
    assert len(tried) == 3
    assert made.failures() == {}
    is_whole(made.path)


def test_a_task_that_goes_on_failing_stops_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    made, tried = failing(path, 99, monkeypatch)
    assert len(tried) == sweep.TRIES
    assert made.failures() == {3: "FloatingPointError: lost"}
    found, done = rows(path)
    assert sorted(done) == [task[0] for task in found if task[0] != 3]
    assert made.progress()[:3] == (len(found) - 1, 1, len(found))
    told = CliRunner().invoke(main, ["sweep", str(path), "--quiet"])
    assert told.exit_code == 1
    assert told.stderr == (
        "Error: 1 task failed, such as task 3: FloatingPointError: lost; "
        "run the same command to try again\n"
    )
    monkeypatch.undo()
    run(path)
    assert made.failures() == {}
    is_whole(path)


def test_a_study_is_read_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "_REPORT_SECONDS", 1e-3)
    path, seen = tmp_path / "a.db", []

    def look(progress):
        frame = fastes.load(path).to_dataframe()
        seen.append((progress.done, len(frame)))

    words = {**SMALL, "T": 20_000}
    run(path, words, task_seconds=1e-3, threads=1, progress=look)
    assert len(seen) > 3
    assert seen == sorted(seen)
    frame = fastes.load(path).to_dataframe()
    assert len(frame) == 6 * 9
    assert set(frame.columns) == {*AXES, "run", "regret"}
    for setting, result in fastes.load(path).results():
        M = setting.axes["M"]
        its = frame[(frame.agent == setting.agent.name) & (frame.K == setting.problem.K)]
        its = its[its.M.isna() if M is None else its.M == M]
        assert its.regret.tolist() == result.regret.final.tolist()
        assert its.run.tolist() == list(range(9))
    curves = fastes.load(path).to_dataframe(curves=True)
    assert curves.groupby(["agent", "K"]).t.nunique().min() == len(result.t)


def test_a_table_opens_its_file_once(tmp_path, monkeypatch, capsys):
    made, opened = run(tmp_path / "a.db"), []

    def connect(*arguments, connect=sqlite3.connect, **options):
        opened.append(arguments[0])
        return connect(*arguments, **options)

    monkeypatch.setattr(store.sqlite3, "connect", connect)
    made.summary()
    assert made.path in capsys.readouterr().out
    assert opened.count(made.path) == 1


def test_some_runs_of_a_setting_keep_their_numbers(tmp_path):
    path = tmp_path / "a.db"
    words = {**SMALL, "K": 12, "agent": "ts", "runs": 9}
    del words["M"]
    grid = fastes.Study(**words)
    store.create(path, grid, tasks.split_into_tasks(grid, [1.0], 3.0))
    with store.Store(path) as kept:
        task = kept.tasks()[1]
        kept.keep(task, tasks.do_task(kept.packed, task, tasks.build_id()))
    frame = fastes.load(path).to_dataframe()
    assert frame.run.tolist() == list(range(task.first, task.last))
    ((setting, result),) = fastes.load(path).results()
    assert result.configuration.runs == task.last - task.first
    whole = simulated(words, setting)
    assert (result.regret.per_run == whole.regret.per_run[task.first : task.last]).all()


def test_the_smallest_of_all(tmp_path):
    made = run(tmp_path / "a.db", {"M": 1, "K": 1, "d": 1, "T": 1, "runs": 1})
    ((_, result),) = made.results()
    assert result.regret.per_run.tolist() == [[0.0]]


def test_an_interrupt_keeps_what_is_done(tmp_path):
    path, words = tmp_path / "a.db", {**SMALL, "T": 200_000}

    def stop(progress):
        if progress.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(path, words, task_seconds=1e-3, threads=1, progress=stop)
    found, done = rows(path)
    assert 3 <= len(done) < len(found)
    run(path, words)
    is_whole(path)


def test_the_same_bits_when_runs_begin_anywhere(tmp_path):
    grid = fastes.Study(**SMALL)
    experiment = grid.experiment(grid.settings[0])
    (agent,) = experiment.agents

    def regret(first, last, threads):
        partial = empty_partial_result(experiment, range(first, last))
        execute(experiment, agent, partial, make_plan(experiment, agent, last - first, threads))
        return partial.regret

    whole = regret(0, 9, threads=2)
    for first, last in [(0, 3), (3, 4), (4, 9)]:
        assert (regret(first, last, threads=1) == whole[first:last]).all()


# The file


def test_two_studies_are_not_mixed(tmp_path):
    path = tmp_path / "a.db"
    run(path)
    before = path.read_bytes()
    changes = [({"T": 61}, "T"), ({"M": 7, "seed": 1}, "M, seed"), ({"runs": 10}, "runs")]
    for change, names in changes:
        with pytest.raises(ValueError, match=f"a.db holds another study: it differs in {names}$"):
            run(path, {**SMALL, **change})
    assert path.read_bytes() == before


def test_kernels_are_not_mixed(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    run(path)
    monkeypatch.setattr(tasks, "fingerprint", lambda: "other")
    with pytest.raises(ValueError, match=r"was created by fastes .* with other kernels than this"):
        run(path)


def test_two_processes_do_not_work_on_one_file(tmp_path):
    path = tmp_path / "a.db"
    made = run(path)
    with (
        store.Store(path).working(),
        pytest.raises(BlockingIOError, match=r"a\.db is in use by another process"),
    ):
        run(path)
    assert len(made.results()) == 6


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path, grid = tmp_path / "a.db", fastes.Study(**SMALL)
    planned = sweep.plan(grid)
    run(path)
    before = path.read_bytes()
    sweep.create_file(path, planned)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_runs_of_another_linear_algebra_are_not_mixed(tmp_path, monkeypatch):
    path, words = tmp_path / "a.db", {"agent": "ts", "K": 4, "d": 9, "T": 10, "runs": 6}
    grid = fastes.Study(**words)
    store.create(path, grid, tasks.split_into_tasks(grid, [1.0], 2.0))
    with store.Store(path) as kept:
        one, two, *_ = kept.tasks()
        result = tasks.do_task(kept.packed, one, tasks.build_id())
        assert result.coordinates
        kept.keep(one, result)
        other = tasks.do_task(kept.packed, two, tasks.build_id())
        with pytest.raises(tasks.BuildMismatchError, match="a linear algebra library that rounds"):
            kept.keep(two, other._replace(coordinates="other"))
        kept.keep(two, other)
        assert kept.done() == {one.number, two.number}


@pytest.mark.parametrize("data", [b"", b"text", b"SQLite format 3\0" + bytes(1000)])
def test_foreign_files_are_refused(data, tmp_path):
    path = tmp_path / "a.db"
    path.write_bytes(data)
    with pytest.raises((FileFormatError, OSError), match=r"a\.db"):
        run(path)
    assert path.read_bytes() == data


def test_another_program_s_database_is_refused(tmp_path):
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE study (x)")
    connection.commit()
    connection.close()
    for read in (run, fastes.load):
        with pytest.raises(FileFormatError, match=r"a\.db is not a fastes study"):
            read(path)


def test_newer_files_are_refused(tmp_path):
    path = tmp_path / "a.db"
    run(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(FileFormatError, match="has format 9; this version of fastes reads 3"):
        run(path)


def test_damage_is_noticed(tmp_path):
    path = tmp_path / "a.db"
    made = run(path)
    whole = [result.regret.per_run for _, result in made.results()]
    data, rng, found = path.read_bytes(), random.Random(3), 0
    for _ in range(120):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            read = fastes.load(path).results()
        except (FileFormatError, OSError):
            found += 1
            continue
        for (_, result), expected in zip(read, whole, strict=False):
            assert (result.regret.per_run == expected).all()
    assert found > 28  # the rest is in pages that are not used
    for size in range(0, len(data), 1024):
        path.write_bytes(data[:size])
        with pytest.raises((ValueError, OSError)):
            fastes.load(path).results()


@pytest.mark.parametrize("table", ["study", "task", "result", "failure", "done"])
def test_an_endless_view_in_the_place_of_a_table_is_not_read(table, tmp_path):
    path = tmp_path / "a.db"
    run(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        whole = ", ".join(f"n AS {name}" for name in columns)
        numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
        connection.executescript(
            f"DROP TABLE {table}; CREATE VIEW {table} AS {numbers} SELECT {whole} FROM c"
        )
    with pytest.raises(FileFormatError, match=r"a\.db is not a valid study"):
        store.Store(path)


@pytest.mark.parametrize("cut", [1, 100])
def test_a_last_page_that_is_cut_is_noticed_before_the_sweep_goes_on(cut, tmp_path):
    run(tmp_path / "a.db")
    data = (tmp_path / "a.db").read_bytes()
    (tmp_path / "a.db").write_bytes(data[:-cut])  # SQLite itself fills such a page with zeros
    with pytest.raises(FileFormatError, match=r"a\.db"):
        store.Store(tmp_path / "a.db")


def test_a_full_disk_keeps_what_is_done(tmp_path):
    path, words = tmp_path / "a.db", {**SMALL, "runs": 200}
    grid = fastes.Study(**words)
    costs = [1.0] * len(grid.settings)  # not as measured: the number of tasks is to be the same
    store.create(path, grid, tasks.split_into_tasks(grid, costs, 20.0))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"disk I/O error|disk is full") as caught:
            run(path, words, threads=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert caught.value.filename == str(path)
    found, done = rows(path)
    assert 0 < len(done) < len(found)
    run(path, words)
    is_whole(path, words)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE result SET regret = ? WHERE task = 1",
        "UPDATE result SET regret = CAST(x'780bff' AS TEXT) WHERE task = 1",  # no UTF-8
        "UPDATE result SET configuration = configuration || ' ' WHERE task = 0",
        "UPDATE result SET task = 99 WHERE task = 1",
        "DELETE FROM result WHERE task = 1",
        "UPDATE done SET tasks = tasks - 1",
        "DELETE FROM done",
        "UPDATE task SET last = last - 1 WHERE number = 1",
        "UPDATE task SET setting = 0",
        "DELETE FROM task WHERE number = 1",
        "DELETE FROM task",
        "INSERT INTO failure VALUES (1, 'why', '0123456789abcdef')",
        "UPDATE study SET description = replace(description, '60', '61')",
        "UPDATE study SET version = '9'",
        "DELETE FROM study",
        "DROP TABLE done",
    ],
)
def test_a_row_that_is_changed_lost_or_added_is_noticed(change, tmp_path):
    path = tmp_path / "a.db"
    run(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (regret,) = connection.execute("SELECT regret FROM result WHERE task = 1").fetchone()
        other = zlib.compress((np.frombuffer(zlib.decompress(regret)) + 1).tobytes())
        connection.execute(change, (other,) if "?" in change else ())
        connection.commit()
    with pytest.raises(FileFormatError, match=r"a\.db"):
        _ = fastes.load(path).results(), fastes.load(path).failures()
