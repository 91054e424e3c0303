"""A simulation that was stopped, however it was, goes on to the bits of one that was not."""

import errno
import functools
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from bandits import BANDITS
from click.testing import CliRunner
from fastes.kernels import jit

import fastes
from fastes import checkpoint, crew, files, runs, simulation
from fastes.cli import main
from fastes.files import FileFormatError

BANDIT = BANDITS["more than a tile"]
AGENTS = [
    fastes.EnsembleSampling(3),
    fastes.EnsembleSampling(10**9),
    fastes.EnsembleSampling(70, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(0.7),
    fastes.UniformRandom(),
]


def same(x, y):
    assert (x.t == y.t).all()
    assert (x.regret.per_run == y.regret.per_run).all()
    assert (x.counts == y.counts).all()
    assert x.configuration._replace(threads=0, seconds=0) == y.configuration._replace(
        threads=0, seconds=0
    )
    for ours, theirs in zip(
        x.diagnostics.per_run if x.diagnostics else (),
        y.diagnostics.per_run if y.diagnostics else (),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


def recorded(folder, simulate, *arguments, **options):
    """Simulate, and return the result and a copy of every checkpoint that was written."""
    copies = []

    def write(self, new=False, write=checkpoint.Checkpoint.write):
        write(self, new)
        copies.append(folder / f"copy{len(copies)}")
        shutil.copy(self.path, copies[-1])

    def here(self, here=crew._Rest.here):
        time.sleep(0.002)  # so that somebody asks for a rest
        here(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)  # no power is cut, and it takes long
        patch.setattr(checkpoint.Checkpoint, "write", write)
        patch.setattr(checkpoint, "_SHARE", np.inf)
        patch.setattr(crew, "_REPORT_SECONDS", 1e-4)
        patch.setattr(crew._Rest, "here", here)
        patch.setattr(runs, "_SLICE_SECONDS", 1e-3)
        result = simulate(*arguments, **options, checkpoint=folder / "recorded", every=1e-9)
    assert len(copies) > 5
    return result, copies


def some(copies, n=4):
    """Return a few of many, the last but one among them."""
    return [copies[i] for i in np.unique(np.linspace(0, len(copies) - 2, n).astype(int))]


def resumed(copy, **options):
    return fastes.resume(shutil.copy(copy, copy.with_suffix(".again")), **options)


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("name", ["more than a tile", "duplicate arms"])
def test_any_checkpoint_goes_on_to_the_same_bits(agent, name, tmp_path):
    bandit, arguments = BANDITS[name], {"T": 700, "runs": 4, "seed": 5}
    whole = fastes.simulate(bandit, agent, **arguments)
    watched, copies = recorded(tmp_path, fastes.simulate, bandit, agent, **arguments, threads=2)
    same(watched, whole)
    longer = fastes.simulate(bandit, agent, **{**arguments, "T": 1000})
    for i, copy in enumerate(some(copies)):
        same(resumed(copy, threads=1 + i % 3), whole)
        same(resumed(copy, T=1000, threads=1 + i % 2), longer)


def test_the_smallest_of_all_is_kept(tmp_path):
    one = fastes.LinearBandit([[1.0]])
    whole = fastes.simulate(one, fastes.EnsembleSampling(1), T=1)
    same(fastes.simulate(one, fastes.EnsembleSampling(1), T=1, checkpoint=tmp_path / "run"), whole)
    same(fastes.resume(tmp_path / "run"), whole)
    longer = fastes.simulate(one, fastes.EnsembleSampling(1), T=2)
    same(fastes.resume(tmp_path / "run", T=2), longer)


@pytest.mark.parametrize("in_step", [True, False])
@pytest.mark.parametrize("agent", [AGENTS[0], AGENTS[3]], ids=str)
def test_runs_in_step_or_in_one_call_go_on_together_or_alone(agent, in_step, tmp_path, monkeypatch):
    arguments = {"T": 600, "runs": 11, "threads": 1}
    whole = fastes.simulate(BANDIT, agent, **arguments)
    longer = fastes.simulate(BANDIT, agent, **{**arguments, "T": 800})
    monkeypatch.setattr(type(agent), "in_step", lambda *arguments: in_step)
    monkeypatch.setattr(simulation, "_MANY_RUNS", 1)
    watched, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, **arguments)
    same(watched, whole)
    ledgers = [ledger for copy in copies for ledger in checkpoint.read(copy).ledgers]
    assert any(len(each.runs) == 11 for ledger in ledgers for each in ledger.in_progress)
    for copy in some(copies):
        same(resumed(copy), whole)
        same(resumed(copy, T=800), longer)
    monkeypatch.setattr(type(agent), "in_step", lambda *arguments: False)
    monkeypatch.setattr(simulation, "_MANY_RUNS", 10**9)
    for copy in some(copies):
        same(resumed(copy), whole)


def test_diagnostics_and_fixed_thetas_are_kept(tmp_path):
    theta = np.random.default_rng(0).normal(size=(3, BANDIT.d))
    looks = {"diagnostics": [0, 100, 299], "samples": 64}
    arguments = {"T": 300, "runs": 3, "theta": theta, **looks}
    agent = fastes.EnsembleSampling(9)
    whole = fastes.simulate(BANDIT, agent, **arguments)
    _, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, **arguments)
    for copy in some(copies):
        same(resumed(copy, threads=2), whole)
    longer = fastes.simulate(BANDIT, agent, **{**arguments, "T": 400})
    same(resumed(copies[-1], T=400), longer)


def test_several_agents_are_kept_in_one_file(tmp_path):
    agents = [fastes.EnsembleSampling(4), fastes.ThompsonSampling(), fastes.EnsembleSampling(8)]
    whole = fastes.compare(BANDIT, agents, T=400, runs=3)
    _, copies = recorded(tmp_path, fastes.compare, BANDIT, agents, T=400, runs=3)
    longer = fastes.compare(BANDIT, agents, T=500, runs=3)
    for copy in some(copies, 6):
        for ours, theirs in zip(resumed(copy).results, whole.results, strict=True):
            same(ours, theirs)
        for ours, theirs in zip(resumed(copy, T=500).results, longer.results, strict=True):
            same(ours, theirs)


def test_a_file_can_be_extended_again_and_again(tmp_path):
    agent = fastes.EnsembleSampling(9)
    fastes.simulate(BANDIT, agent, T=40, runs=3, checkpoint=tmp_path / "run")
    for T in (41, 300, 777):
        same(fastes.resume(tmp_path / "run", T=T), fastes.simulate(BANDIT, agent, T=T, runs=3))
    same(fastes.resume(tmp_path / "run"), fastes.simulate(BANDIT, agent, T=777, runs=3))


def test_what_was_not_kept_is_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "_KEPT_BYTES", 0)
    agent = fastes.ThompsonSampling()
    fastes.simulate(BANDIT, agent, T=40, runs=5, checkpoint=tmp_path / "run", threads=1)
    (ledger,) = checkpoint.read(tmp_path / "run").ledgers
    assert ledger.finished == []  # some would be of no use
    same(fastes.resume(tmp_path / "run", T=90), fastes.simulate(BANDIT, agent, T=90, runs=5))
    # A single one takes no room that another run needs.
    fastes.simulate(BANDIT, agent, T=40, checkpoint=tmp_path / "one")
    (ledger,) = checkpoint.read(tmp_path / "one").ledgers
    assert len(ledger.finished) == 1


def test_a_run_that_stands_at_the_end_is_kept_for_a_longer_horizon(tmp_path):
    agent, path = fastes.EnsembleSampling(4), tmp_path / "run"
    fastes.simulate(BANDIT, agent, T=50, runs=2, checkpoint=path)
    kept = checkpoint.read(path)
    (ledger,) = kept.ledgers
    ledger.in_progress, ledger.finished = ledger.finished, []  # as if stopped a moment before
    ledger.done[:] = False
    kept.write()
    same(fastes.resume(path), fastes.simulate(BANDIT, agent, T=50, runs=2))
    (ledger,) = checkpoint.read(path).ledgers
    assert len(ledger.finished) == 2
    same(fastes.resume(path, T=90), fastes.simulate(BANDIT, agent, T=90, runs=2))


def test_a_run_that_fails_spoils_no_checkpoint(tmp_path, monkeypatch):
    agent, path, calls = fastes.ThompsonSampling(), tmp_path / "run", itertools.count()

    def here(self, here=crew._Rest.here):
        time.sleep(0.002)
        here(self)

    def failing(*arguments, advance=runs.advance):
        call = next(calls)  # by either thread
        reached = advance(*arguments)
        if call == 25:
            raise MemoryError("for want of a nail")
        return reached

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(checkpoint, "_SHARE", np.inf)
        patch.setattr(crew, "_REPORT_SECONDS", 1e-4)
        patch.setattr(crew._Rest, "here", here)
        patch.setattr(runs, "_SLICE_SECONDS", 1e-4)
        patch.setattr(runs, "advance", failing)
        with pytest.raises(MemoryError, match="for want of a nail"):
            fastes.simulate(BANDIT, agent, T=20_000, runs=3, threads=2, checkpoint=path, every=1e-9)
    same(fastes.resume(path), fastes.simulate(BANDIT, agent, T=20_000, runs=3))


def interrupt_after(n, exception):
    seen = []

    def progress(_):
        seen.append(1)
        if len(seen) == n:
            raise exception

    return progress


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_writes_a_last_checkpoint(exception, tmp_path, monkeypatch):
    agent, T, path = fastes.EnsembleSampling(9), 1_000_000, tmp_path / "run"
    monkeypatch.setattr(crew, "_REPORT_SECONDS", 0.01)
    stop = interrupt_after(10, exception)
    with pytest.raises(exception):
        fastes.simulate(BANDIT, agent, T, 2, checkpoint=path, progress=stop)
    (ledger,) = checkpoint.read(path).ledgers
    assert ledger.in_progress
    same(fastes.resume(path), fastes.simulate(BANDIT, agent, T, 2))


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path, monkeypatch):
    now = [1e9]

    def clock():
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", clock)
    agent = fastes.ThompsonSampling()
    whole = fastes.simulate(BANDIT, agent, T=500, runs=2)
    watched, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, T=500, runs=2)
    same(watched, whole)
    same(resumed(copies[3]), whole)


def test_large_states_are_written_less_often(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: clock[0])

    def slow(*arguments, **options):
        clock[0] += 3.0

    monkeypatch.setattr(checkpoint, "save_arrays", slow)
    experiment = simulation.experiment_of(BANDIT, fastes.Greedy(), 5, 1, 0)
    kept = checkpoint.begin(tmp_path / "run", [experiment], 1, every=60)
    for moment, due in [(100.0, False), (302.0, False), (304.0, True)]:
        clock[0] = moment
        assert kept.due() == due


# Files


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory):
    """Return the bytes of a checkpoint of a simulation half way."""
    agents = [fastes.EnsembleSampling(5), fastes.ThompsonSampling()]
    folder = tmp_path_factory.mktemp("half way")
    _, copies = recorded(folder, fastes.compare, BANDIT, agents, T=300, runs=2)
    ledgers = [checkpoint.read(copy).ledgers for copy in copies]
    begun = [any(ledger.in_progress for ledger in each) for each in ledgers]
    last = [copy for copy, in_progress in zip(copies, begun, strict=True) if in_progress][-1]
    return last.read_bytes()


@pytest.fixture
def half_way(whole_file, tmp_path):
    """Return a checkpoint of a simulation half way."""
    path = tmp_path / "half way"
    path.write_bytes(whole_file)
    return path


def refused(path):
    before = path.read_bytes()
    with pytest.raises(FileFormatError) as caught:
        fastes.resume(path)
    assert path.read_bytes() == before
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_file_cut_anywhere_is_refused(half_way):
    data = half_way.read_bytes()
    assert len(data) > 20_000
    for size in [*range(0, len(data), 1024), len(data) - 1]:
        half_way.write_bytes(data[:size])
        assert "damaged or incomplete" in refused(half_way)


def test_a_flipped_byte_is_refused_or_in_what_is_never_read(half_way):
    data = half_way.read_bytes()
    expected = resumed(half_way).results
    rng = random.Random(7)
    found = 0
    for _ in range(150):
        at = rng.randrange(len(data))
        damaged = bytearray(data)
        damaged[at] ^= 1 << rng.randrange(8)
        half_way.write_bytes(damaged)
        try:
            checkpoint.read(half_way)
        except FileFormatError:
            found += 1
            continue
        for ours, theirs in zip(resumed(half_way).results, expected, strict=True):
            same(ours, theirs)
    assert found > 120  # the rest are dates and the like in the archive's own tables


def rewritten(path, change):
    """Change the description in a checkpoint."""
    with np.load(path) as stored:
        arrays = dict(stored)
    meta = json.loads(str(arrays["meta"]))
    change(meta)
    arrays["meta"] = np.array(json.dumps(meta))
    with path.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: meta.update(format=2), "has format 2, this version of fastes reads 1"),
        (lambda meta: meta.update(fastes="result"), "holds a fastes result, not a checkpoint"),
        (
            lambda meta: meta.update(kernels="0123", version="9.9"),
            "was written by fastes 9.9 with other kernels than this fastes",
        ),
        (lambda meta: meta.pop("T"), "holds no whole checkpoint: 'T'"),
        (lambda meta: meta.update(runs=7), "holds no whole checkpoint: its parts do not fit"),
        (lambda meta: meta.update(runs=0), "holds no whole checkpoint: runs must be"),
        (lambda meta: meta["agents"][0].update(agent="x"), "holds no whole checkpoint: 'x'"),
        (lambda meta: meta["ledgers"][0].pop("seconds"), "holds no whole checkpoint"),
        (
            lambda meta: meta["ledgers"][-1]["in_progress"][0].__setitem__(1, 9),
            "holds no whole checkpoint",
        ),
    ],
)
def test_files_of_another_kind_are_refused(change, message, half_way):
    rewritten(half_way, change)
    assert message in refused(half_way)


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + bytes(100)])
def test_foreign_files_are_refused(data, tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(data)
    assert "is not a fastes checkpoint file, or it is damaged" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "is not a fastes checkpoint file, or it is damaged" in refused(path)


def test_a_checkpoint_is_not_begun_over_another_file(tmp_path):
    (tmp_path / "run").write_bytes(b"a week of work")
    with pytest.raises(FileExistsError, match="is there already: go on from it with resume"):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == b"a week of work"


def test_two_do_not_go_on_from_one_file(half_way):
    looked = []

    def meanwhile(_):
        if not looked:
            looked.append(1)
            with pytest.raises(BlockingIOError, match="half way is being worked on by another"):
                fastes.resume(half_way)

    kept = checkpoint.read(half_way)
    checkpoint.extend(kept, 400)
    longer = kept.go_on(1, meanwhile)
    assert looked
    for ours, theirs in zip(fastes.resume(half_way).results, longer, strict=True):
        same(ours, theirs)


def test_the_lock_goes_over_to_each_new_file(half_way):
    def replaced():
        shutil.copy(half_way, half_way.with_suffix(".new"))
        half_way.with_suffix(".new").replace(half_way)

    with files.Held(half_way) as held:
        replaced()
        held.renew()
        with pytest.raises(BlockingIOError):
            fastes.resume(half_way)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "locked", lambda file: replaced() or True)
        with pytest.raises(BlockingIOError):
            fastes.resume(half_way)
    fastes.resume(half_way)


@pytest.mark.parametrize(
    ("options", "error"),
    [({"threads": 0}, ValueError), ({"diagnostics": [0], "samples": 2**32 - 1}, MemoryError)],
)
def test_what_is_refused_leaves_no_file(options, error, tmp_path):
    with pytest.raises(error):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, checkpoint=tmp_path / "run", **options)
    huge = fastes.EnsembleSampling(4 * 10**9, engine="eager")
    with pytest.raises(MemoryError, match="a run with K="):
        fastes.simulate(BANDIT, huge, 5, checkpoint=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_results_do_not_take_the_place_of_their_checkpoint(half_way):
    before = half_way.read_bytes()
    for option in ("--out", "--csv"):
        done = CliRunner().invoke(main, ["resume", str(half_way), option, str(half_way)])
        assert done.exit_code == 2
        assert f"{option}, FILE must be different files" in done.stderr
    assert half_way.read_bytes() == before


def test_a_file_keeps_its_permissions(half_way):
    half_way.chmod(0o600)
    fastes.resume(half_way, T=400)
    assert half_way.stat().st_mode & 0o777 == 0o600


def test_an_interrupt_while_the_last_is_written_loses_nothing(tmp_path, monkeypatch):
    saved = []

    def interrupted(*arguments, save=files.save_arrays, **options):
        saved.append(1)
        if len(saved) == 2:  # the first is that of the beginning
            raise KeyboardInterrupt
        save(*arguments, **options)

    monkeypatch.setattr(checkpoint, "save_arrays", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fastes.simulate(BANDIT, fastes.Greedy(), 50, 2, checkpoint=tmp_path / "run")
    assert checkpoint.read(tmp_path / "run").ledgers[0].done.all()


@pytest.mark.parametrize("T", [0, 299, 2**70, "400", 2.5])
def test_a_horizon_is_never_made_shorter(T, half_way):
    with pytest.raises(ValueError, match="T must be an integer from 300 to 4294967295, got"):
        fastes.resume(half_way, T=T)


@pytest.mark.parametrize("threads", [0, -3, 1.5])
def test_bad_threads_are_refused_even_where_nothing_is_left_to_do(threads, half_way):
    with pytest.raises(ValueError, match="threads must be an integer from 1 to 65536, got"):
        fastes.resume(half_way, threads=threads)


@pytest.mark.parametrize("every", [0, -1.0, np.inf, np.nan, "soon"])
def test_a_bad_interval_is_refused(every, tmp_path):
    with pytest.raises(ValueError, match="every must be a finite number above 0"):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, checkpoint=tmp_path / "run", every=every)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_last_good_checkpoint(half_way, monkeypatch):
    before = half_way.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            fastes.resume(half_way, T=500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert caught.value.filename == str(half_way)
    assert half_way.read_bytes() == before
    assert not list(half_way.parent.glob(".*"))  # nothing is left over


def test_a_folder_that_cannot_be_written_leaves_the_last_good_checkpoint(half_way, monkeypatch):
    def denied(*arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", "a temporary name")

    before = half_way.read_bytes()
    monkeypatch.setattr(files.tempfile, "mkstemp", denied)  # root may write anywhere
    with pytest.raises(PermissionError, match="Permission denied") as caught:
        fastes.resume(half_way)
    assert caught.value.filename == str(half_way)
    assert half_way.read_bytes() == before


# Processes

WORDS = ["--K", "40", "--d", "4", "--M", "7", "--runs", "4", "--seed", "2"]


def fastes_command(*words):
    return [sys.executable, "-m", "fastes", *words]


def output_of(*words):
    done = subprocess.run(fastes_command(*words), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def begun(process, path, before=None):
    """Wait until a process has written a checkpoint, other than that of before, with runs begun.

    Return that file's number, or None if the process ended.
    """
    while process.poll() is None:
        now = number_of(path)
        if now not in (None, before) and any(e.in_progress for e in checkpoint.read(path).ledgers):
            return now
        time.sleep(0.01)
    return None


def number_of(path):
    return path.stat().st_ino if path.exists() else None


@functools.cache
def expected(T):
    bandit = fastes.LinearBandit.random(K=40, d=4, seed=2)
    return fastes.simulate(bandit, fastes.EnsembleSampling(7), T=T, runs=4, seed=2).summary()


def like(one, other):
    apart = ("seconds", "steps_per_second", "threads")
    assert {k: v for k, v in one.items() if k not in apart} == {
        k: v for k, v in other.items() if k not in apart
    }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_a_last_checkpoint_and_says_how_to_go_on(number, tmp_path):
    path, T = tmp_path / "a run.ckpt", 2_000_000
    words = [*WORDS, "--T", str(T), "--checkpoint", str(path), "--every", "0.1s"]
    words = fastes_command("simulate", *words)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begun(process, path)
    process.send_signal(number)
    asked = time.monotonic()
    out, said = process.communicate()
    assert time.monotonic() - asked < 5.0  # a second, on a machine that does nothing else
    assert process.returncode == 1
    assert said == f"Error: stopped; to go on: fastes resume '{path}'\n"
    assert out == ""
    like(output_of("resume", str(path), "--json"), expected(T))


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_never_was(kills, tmp_path):
    path, rng = tmp_path / "run.ckpt", random.Random(kills)
    T = 2_000_000 * kills
    words = ["simulate", *WORDS, "--T", str(T), "--checkpoint", str(path)]
    for _ in range(kills):
        before = number_of(path)
        process = subprocess.Popen(
            fastes_command(*words, "--json", "--every", "0.05s"), stdout=subprocess.DEVNULL
        )
        assert begun(process, path, before)
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL  # it was in the middle of its work
        words = ["resume", str(path)]
    like(output_of(*words, "--json"), expected(T))
    for left in tmp_path.glob(".*"):
        assert left.name.startswith(".run-")  # a temporary file of a process that was killed


def test_sigterm_in_python_writes_a_last_checkpoint(tmp_path):
    path = tmp_path / "run.ckpt"
    program = (
        "import fastes\n"
        "bandit = fastes.LinearBandit.random(K=40, d=4, seed=2)\n"
        "fastes.simulate(bandit, fastes.EnsembleSampling(7), T=10**9, runs=1,"
        f" checkpoint={str(path)!r}, every=0.3)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    begun(process, path)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    assert checkpoint.read(path).ledgers[0].in_progress


def test_a_checkpoint_belongs_to_its_kernels():
    assert jit.fingerprint() in str(jit.cache_folder())
