"""Studies: cut, done, stopped, continued, read; nothing twice and nothing lost."""

import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fastes
from fastes import memory, simulation
from fastes.cli import main
from fastes.cli import sweep as sweep_command
from fastes.files import FileFormatError
from fastes.studies import cost, store, study, sweep, tasks
from fastes.studies.study import progression

SMALL = {"agent": ["es", "ts"], "M": [2, 5], "K": [12, 30], "d": 3, "T": 60, "runs": 9}


def run(path, words=SMALL, **options):
    return fastes.sweep(fastes.Study(**words), path, **options)


def simulated(words, setting):
    problem = {name: getattr(setting, name) for name in ("K", "d", "arms", "prior_cov", "noise")}
    bandit = fastes.LinearBandit.random(**problem, seed=words.get("seed", 0))
    agent = fastes.ThompsonSampling() if setting.M is None else fastes.EnsembleSampling(setting.M)
    arguments = {"runs": words["runs"], "seed": words.get("seed", 0), "points": 50}
    return fastes.simulate(bandit, agent, setting.T, **arguments)


def same(x, y):
    assert (x.regret.per_run == y.regret.per_run).all()
    assert (x.counts == y.counts).all()
    assert (x.t == y.t).all()
    apart = {"threads": 0, "seconds": 0}
    assert x.configuration._replace(**apart) == y.configuration._replace(**apart)


def rows(path):
    """Return the tasks in a file, and of which there is an outcome."""
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT * FROM task").fetchall()
    done = [number for (number,) in connection.execute("SELECT task FROM outcome")]
    connection.close()
    return found, done


def is_whole(path, words=SMALL):
    """Check that every run of every setting is in the file, once."""
    found, done = rows(path)
    assert sorted(done) == [task[0] for task in found]
    runs = [(setting, i) for _, setting, first, last, _ in found for i in range(first, last)]
    n = len(fastes.Study(**words).settings)
    assert sorted(runs) == [(s, i) for s in range(n) for i in range(words["runs"])]


# The grid


def test_a_grid_is_all_combinations_each_once():
    settings = fastes.Study(**SMALL).settings
    assert len(settings) == 2 * 2 + 2  # TS has no M
    assert [(s.agent, s.M, s.K) for s in settings] == [
        *(("es", M, K) for M in (2, 5) for K in (12, 30)),
        *(("ts", None, K) for K in (12, 30)),
    ]


def test_a_description_makes_the_same_study_again():
    one = fastes.Study(**SMALL, seed=3, noise="0.5,1")
    other = fastes.Study(**json.loads(json.dumps(one.description())))
    assert other.settings == one.settings
    assert other.fingerprint == one.fingerprint
    assert fastes.Study(**SMALL).fingerprint != one.fingerprint


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("3", [3]),
        ("3, 5", [3, 5]),
        ("2,4,...,32", [2, 4, 8, 16, 32]),
        ("2,4,8,...,32", [2, 4, 8, 16, 32]),
        ("5,10,...,25", [5, 10, 15, 20, 25]),
        ("1,10,100,...,100000", [1, 10, 100, 1000, 10_000, 100_000]),
        ("0.1,0.2,0.3,...,0.5", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("8,4,...,1", [8, 4, 2, 1]),
        ("1e3,1e4,...,1e6", [1000, 10_000, 100_000, 1_000_000]),
        ("4,6,9,...,13.5", [4, 6, 9, 13.5]),
    ],
)
def test_progressions(words, values):
    assert progression("K", words) == values


@pytest.mark.parametrize(
    "words",
    [
        *("", "x", "2,...,8", "...,8", "2,4,...", "2,4,...,31", "2,4,...,8,9", "2,3,5,...,9"),
        *("1,,2", "2,2,...,2", "0,0,...,5", "nan", "inf", "2,4,...,1", "0,2,...,7"),
        *("1,1.0000001,...,1e9", "1e99999999", "1" * 5000, "1/3", "1_000"),
    ],
)
def test_what_is_no_progression_is_refused(words):
    with pytest.raises(ValueError, match=r"K must be numbers such as 10,100 or 2,4,8,...,64, got"):
        progression("K", words)


@given(st.integers(1, 50), st.integers(2, 9), st.integers(3, 20))
def test_a_progression_goes_on_as_it_began(first, ratio, n):
    values = [first * ratio**i for i in range(n)]
    assert progression("M", f"{values[0]},{values[1]},...,{values[-1]}") == values


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"Q": 1}, "a study has no 'Q': it has agent, M, engine"),
        ({"K": 0}, "K must be an integer from 1 to 4294967295, got 0"),
        ({"K": [10, 1.5]}, "K must be an integer from 1 to 4294967295, got 1.5"),
        ({"K": []}, "K must have at least one value, got none"),
        ({"T": 2**33}, "T must be an integer from 1 to 4294967295, got 8589934592"),
        ({"agent": "sarsa"}, "agent must be one of es, ts, greedy, linucb, uniform, got 'sarsa'"),
        ({"agent": "ts", "M": 3}, "M belongs to agent 'es', which the study leaves out"),
        ({"alpha": 2}, "alpha belongs to agent 'linucb', which the study leaves out"),
        ({"noise": [1, 0]}, "noise must be a finite number above 0, got 0"),
        ({"noise": float("nan")}, "noise must be a finite number, got nan"),
        ({"prior_cov": -1}, "prior_cov must be a finite number of at least 0, got -1"),
        ({"arms": "basis"}, "basis arms are the d unit vectors: K must equal d, got 100 and 10"),
        ({"runs": 0}, "runs must be an integer from 1 to 4294967295, got 0"),
        ({"runs": [1, 2]}, r"runs must be an integer from 1 to 4294967295, got \[1, 2\]"),
        ({"seed": -1}, "seed must be an integer from 0 to"),
        ({"points": 0}, "points must be an integer from 1 to"),
        (
            {"M": "1,2,...,1000", "K": "1,2,...,1000"},
            "a study must have at most 100,000 combinations of values, got 1,000,000",
        ),
    ],
)
def test_bad_studies_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        fastes.Study(**words)


def test_a_study_is_read_from_toml(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('agent = ["es", "ts"]\nM = "2,4,...,16"\nK = 50\nnoise = 0.5\nruns = 7\n')
    read = study.Study.read(path)
    assert len(read.settings) == 5
    assert (read.settings[0].K, read.settings[0].noise, read.runs) == (50, 0.5, 7)
    for text, message in [
        ("M = [", "study.toml is no TOML file"),
        ("Q = 1", "study.toml: a study has no 'Q'"),
        ("K = -1", "study.toml: K must be an integer"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            study.Study.read(path)


# The plan


@given(
    st.lists(st.floats(1e-6, 1e3), min_size=6, max_size=6),
    st.floats(1e-3, 100),
    st.integers(1, 500),
)
def test_tasks_are_balanced_and_cover_every_run_once(costs, seconds, runs):
    grid = fastes.Study(**{**SMALL, "runs": runs})
    pieces = tasks.cut(grid, costs, seconds)
    assert [task.number for task in pieces] == list(range(len(pieces)))
    covered = sorted((t.setting, i) for t in pieces for i in range(t.first, t.last))
    assert covered == [(s, i) for s in range(6) for i in range(runs)]
    for task in pieces:
        assert task.cost == pytest.approx(costs[task.setting] * (task.last - task.first))
        # At most half as long again as asked for, and one run more by rounding; or one run.
        assert task.cost <= 1.5 * seconds + 2 * costs[task.setting]
    assert [task.cost for task in pieces] == sorted((t.cost for t in pieces), reverse=True)


def test_runs_that_go_in_step_stay_together():
    words = {"agent": "ts", "K": 5000, "d": 50, "T": 100, "runs": 100}
    pieces = tasks.cut(fastes.Study(**words), [10.0], 1.0)
    assert [task.last - task.first for task in pieces] == [34, 33, 33]


def test_the_calibration_sees_what_takes_longer():
    grid = fastes.Study(agent="ts", K=[20, 2000], d=[4, 30], T=300, runs=40)
    costs = dict(zip([(s.K, s.d) for s in grid.settings], cost.calibrate(grid), strict=True))
    assert costs[2000, 30] > 2 * costs[20, 4] > 0


def test_settings_that_are_not_measured_cost_what_those_like_them_do(monkeypatch):
    monkeypatch.setattr(cost, "_MOST_SECONDS", -1.0)
    monkeypatch.setattr(cost, "_seconds_a_step", lambda grid, setting: setting.K * 1e-6)
    grid = fastes.Study(agent=["es", "ts"], M=3, K=[1, 7, 10], T=[10, 20])
    assert np.allclose(cost.calibrate(grid), [1e-4, 2e-4] * 6)  # the last of each agent
    monkeypatch.setattr(cost, "_MOST_SECONDS", 9.0)
    expected = [s.K * s.T * 1e-6 for s in grid.settings]
    assert np.allclose(cost.calibrate(grid), expected)


def test_of_a_large_study_few_settings_are_played_beforehand(tmp_path, monkeypatch):
    # What took a time in the square of a hundred thousand settings would take hours.
    played = []
    monkeypatch.setattr(cost, "_seconds_a_step", lambda grid, s: played.append(s) or 1e-6 * s.K)
    grid = fastes.Study(agent=["es", "ts"], M="1,2,...,500", K="1,2,...,99", T=1, runs=1)
    planned = sweep.plan(grid)
    assert len(played) == 50
    assert len(planned.tasks) == len(grid.settings) == 99 * 501
    for kind in ("es", "ts"):
        known = {1e-6 * setting.K for setting in played if setting.agent == kind}
        pairs = zip(grid.settings, planned.costs, strict=True)
        assert {cost for setting, cost in pairs if setting.agent == kind} <= known
    store.create(tmp_path / "a.db", grid, planned.tasks)
    assert fastes.load(tmp_path / "a.db").results() == []


def test_a_study_is_read_from_a_pipe(tmp_path):
    words = ["sweep", "/dev/stdin", "--out", str(tmp_path / "a.db"), "--dry-run", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "fastes", *words],
        input="runs = 7\nM = [2, 4]\nT = 10\n",
        capture_output=True,
        text=True,
        check=True,
    )
    plan = json.loads(done.stdout)["study"]
    assert (plan["runs"], plan["M"]) == (7, [2, 4])


def test_what_does_not_fit_is_refused_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with pytest.raises(MemoryError, match="a run with K=5,000, d=20, T=10, M=2 needs"):
        run(tmp_path / "a.db", {"M": 2, "K": [10, 5000], "d": 20, "T": 10})
    assert not list(tmp_path.iterdir())


# The work


@pytest.mark.parametrize("task_seconds", [1e-4, 1e-3, 100.0])
def test_a_sweep_has_the_bits_of_simulations(task_seconds, tmp_path):
    made = run(tmp_path / "a.db", task_seconds=task_seconds, threads=2)
    is_whole(made.path)
    results = made.results()
    assert [setting for setting, _ in results] == list(made.study.settings)
    for setting, result in results:
        same(result, simulated(SMALL, setting))


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
        "Error: 1 task failed, as task 3 did: FloatingPointError: lost; "
        "the same command tries again\n"
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
    assert set(frame.columns) == {*study.Setting._fields, "run", "regret"}
    for setting, result in fastes.load(path).results():
        its = frame[(frame.agent == setting.agent) & (frame.K == setting.K)]
        its = its[its.M.isna() if setting.M is None else its.M == setting.M]
        assert its.regret.tolist() == result.regret.final.tolist()
        assert its.run.tolist() == list(range(9))
    curves = fastes.load(path).to_dataframe(curves=True)
    assert curves.groupby(["agent", "K"]).t.nunique().min() == len(result.t)


def test_some_runs_of_a_setting_keep_their_numbers(tmp_path):
    path = tmp_path / "a.db"
    words = {**SMALL, "K": 12, "agent": "ts", "runs": 9}
    del words["M"]
    grid = fastes.Study(**words)
    store.create(path, grid, tasks.cut(grid, [1.0], 3.0))
    with store.Store(path) as kept:
        task = kept.tasks()[1]
        kept.keep(task, tasks.do_task(json.dumps(grid.description()), task, tasks.identity()))
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
    path, words = tmp_path / "a.db", {**SMALL, "T": 20_000}

    def stop(progress):
        if progress.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(path, words, task_seconds=1e-3, threads=1, progress=stop)
    found, done = rows(path)
    assert 3 <= len(done) < len(found)
    run(path, words)
    is_whole(path)


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
    with pytest.raises(ValueError, match=r"was begun by fastes .* with other kernels than this"):
        run(path)


def test_two_processes_do_not_work_on_one_file(tmp_path):
    path = tmp_path / "a.db"
    made = run(path)
    with (
        store.Store(path).working(),
        pytest.raises(BlockingIOError, match=r"a\.db is being worked on by another process"),
    ):
        run(path)
    assert len(made.results()) == 6


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path, grid = tmp_path / "a.db", fastes.Study(**SMALL)
    planned = sweep.plan(grid)
    run(path)
    before = path.read_bytes()
    sweep.begin(path, planned)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_runs_of_another_linear_algebra_are_not_mixed(tmp_path, monkeypatch):
    path, words = tmp_path / "a.db", {"agent": "ts", "K": 4, "d": 9, "T": 10, "runs": 6}
    grid = fastes.Study(**words)
    store.create(path, grid, tasks.cut(grid, [1.0], 2.0))
    with store.Store(path) as kept:
        one, two, *_ = kept.tasks()
        outcome = tasks.do_task(kept.description, one, tasks.identity())
        assert outcome.coordinates
        kept.keep(one, outcome)
        other = tasks.do_task(kept.description, two, tasks.identity())
        with pytest.raises(tasks.IdentityError, match="a linear algebra library that rounds"):
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
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(FileFormatError, match="has format 2, this version of fastes reads 1"):
        run(path)


def test_damage_is_noticed(tmp_path):
    path = tmp_path / "a.db"
    made = run(path)
    whole = [result.regret.per_run for _, result in made.results()]
    data, rng, found = path.read_bytes(), random.Random(3), 0
    for _ in range(60):
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
    assert found > 20  # the rest is in pages that are not used
    for size in range(0, len(data), 1024):
        path.write_bytes(data[:size])
        with pytest.raises((ValueError, OSError)):
            fastes.load(path).results()


def test_a_full_disk_keeps_what_is_done(tmp_path):
    path, words = tmp_path / "a.db", {**SMALL, "runs": 200}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"disk I/O error|disk is full") as caught:
            run(path, words, task_seconds=1e-3, threads=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert caught.value.filename == str(path)
    found, done = rows(path)
    assert 0 < len(done) < len(found)
    run(path, words)
    is_whole(path, words)


# The command line

FLAGS = ["--agent", "es,ts", "--M", "2,5", "--K", "12,30", "--d", "3", "--T", "60", "--runs", "9"]


def invoke(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_flags_and_files_are_the_same_study(tmp_path):
    path = tmp_path / "study.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in SMALL.items()]
    path.write_text("\n".join(lines))
    of_file = json.loads(invoke("sweep", path, "--json"))
    of_flags = json.loads(invoke("sweep", *FLAGS, "--out", tmp_path / "other.db", "--json"))
    assert of_file["out"] == str(tmp_path / "study.db")
    assert of_file["study"] == of_flags["study"]
    for one, other in zip(of_file["settings"], of_flags["settings"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    again = json.loads(invoke("sweep", tmp_path / "study.db", "--json"))
    assert again["settings"] == of_file["settings"]


def test_a_database_of_any_name_is_gone_on_with(tmp_path):
    invoke("sweep", *FLAGS, "--out", tmp_path / "results", "--quiet")
    before = (tmp_path / "results").read_bytes()
    assert "tasks done" in invoke("sweep", tmp_path / "results")
    assert (tmp_path / "results").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["results"]


def test_the_defaults_that_help_shows_are_the_study_s():
    for name, (_, default) in sweep_command._AXES.items():
        meant = study.DEFAULTS[name.replace("-", "_")]
        assert progression(name, default) == [meant]
    for name, (_, default) in sweep_command._NUMBERS.items():
        assert getattr(fastes.Study(), name) == int(default)


def test_a_dry_run_tells_the_cost_and_does_nothing(tmp_path):
    out = tmp_path / "a.db"
    plan = json.loads(invoke("sweep", *FLAGS, "--out", out, "--dry-run", "--json"))
    assert not out.exists()
    assert plan["tasks"] == sum(setting["tasks"] for setting in plan["settings"])
    seconds = sum(9 * setting["seconds_a_run"] for setting in plan["settings"])
    assert plan["core_hours"] == pytest.approx(seconds / 3600)
    text = invoke("sweep", *FLAGS, "--out", out, "--dry-run")
    assert "6 settings of 9 runs" in text
    assert max(map(len, text.splitlines())) <= 80
    assert invoke("sweep", *FLAGS, "--out", out, "--dry-run", "--quiet") == ""
    invoke("sweep", *FLAGS, "--out", out, "--quiet")
    text = invoke("sweep", *FLAGS, "--out", out, "--dry-run")
    assert text.splitlines()[-1] == f"{out}: 6 of 6 tasks done"


def test_a_study_is_drawn(tmp_path):
    invoke("sweep", *FLAGS, "--out", tmp_path / "a.db", "--quiet")
    for x in ("M", "K", "agent"):
        told = invoke("plot", tmp_path / "a.db", "--x", x, "--out", tmp_path / f"{x}.svg")
        assert "ES, M=2; ES, M=5; TS" in told
        assert (tmp_path / f"{x}.svg").stat().st_size > 1000
    text = (tmp_path / "M.svg").read_text()
    assert "<svg" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep", "DB", "--M", "3"], "a.db holds the whole study: leave out --M"),
        (["sweep", "--M", "3", "--out", "DB"], "a.db holds another study: it differs in agent, M"),
        (["plot", "DB", "--out", "x.png"], "a.db is a study: say against which axis with --x"),
        (["plot", "DB", "--x", "Q", "--out", "x.png"], "x must be one of agent, M"),
        (["plot", "DB", "--x", "alpha", "--out", "x.png"], "no agent of the study has alpha"),
        (["plot", "DB", "DB", "--x", "M", "--out", "x.png"], "--x draws one study, got 2 files"),
        (["sweep", "--task", "soon"], "'soon' is not a duration such as 30s, 5m or 2h"),
        (["sweep", "--threads", "0", *FLAGS], "threads must be an integer from 1 to 65536, got 0"),
        (["sweep", "--dask", "nonsense", *FLAGS], "dask must be a scheduler's address such as"),
        (["sweep", "--dask", "ftp://x:1", *FLAGS], "dask must be a scheduler's address such as"),
        (
            ["plot", "DB", "--x", "M", "--figure", "size", "--out", "x.png"],
            "--x draws final regret: leave out --figure size",
        ),
    ],
)
def test_bad_words_are_refused(words, message, tmp_path):
    path = tmp_path / "a.db"
    run(path)
    done = CliRunner().invoke(main, [str(path) if word == "DB" else word for word in words])
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


# Processes


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_a_sweep_that_is_killed_again_and_again_ends_as_if_it_never_was(kills, tmp_path):
    path, rng = tmp_path / "a.db", random.Random(kills)
    words = {**SMALL, "T": 40_000 * kills, "runs": 40}
    flags = [w for k, v in words.items() for w in (f"--{k}", ",".join(map(str, np.ravel(v))))]
    command = [sys.executable, "-m", "fastes", "sweep", *flags, "--task", "0.02s", "--quiet"]
    command += ["--out", str(path)]
    before = 0
    for _ in range(kills):
        process = subprocess.Popen(command)
        while process.poll() is None and not (path.exists() and len(rows(path)[1]) > before):
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL  # it was in the middle of its work
        before = len(rows(path)[1])
    subprocess.run(command, check=True)
    is_whole(path, words)
    for setting, result in fastes.load(path).results():
        same(result, simulated(words, setting))


def test_the_same_bits_when_runs_begin_anywhere(tmp_path):
    grid = fastes.Study(**SMALL)
    experiment = grid.experiment(grid.settings[0])
    whole = simulation.one_result(experiment, simulation.empty_ledger(experiment, range(9)), 2)
    for first, last in [(0, 3), (3, 4), (4, 9)]:
        ledger = simulation.empty_ledger(experiment, range(first, last))
        part = simulation.one_result(experiment, ledger, 1)
        assert (part.regret.per_run == whole.regret.per_run[first:last]).all()
