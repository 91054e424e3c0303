"""Checkpoints on disk: damage is noticed, and the last good one is never lost."""

import errno
import random
import resource
import shutil
import signal
import tracemalloc
import zipfile

import numpy as np
import pytest
from checkpoints import BANDIT, assert_same, partials, recorded, resumed
from click.testing import CliRunner
from crafted import crafted
from fastes.kernels.jit import cache

import fastes
from fastes.cli import main
from fastes.files import archive, atomic, locks
from fastes.files.kinds import FileFormatError
from fastes.simulation import checkpoint, checkpoint_file
from fastes.simulation.checkpoint_file import read_checkpoint


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory):
    """Return the bytes of a checkpoint of a simulation half way."""
    agents = [fastes.EnsembleSampling(5), fastes.ThompsonSampling()]
    folder = tmp_path_factory.mktemp("half way")
    _, copies = recorded(folder, fastes.compare, BANDIT, agents, T=300, runs=2)
    begun = [any(partial.in_progress for partial in partials(copy)) for copy in copies]
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
            read_checkpoint(half_way)
        except FileFormatError:
            found += 1
            continue
        for ours, theirs in zip(resumed(half_way).results, expected, strict=True):
            assert_same(ours, theirs)
    assert found > 120  # the rest are dates and the like in the archive's own tables


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: meta.update(format=9), "has format 9; this version of fastes reads 2"),
        (lambda meta: meta.update(fastes="result"), "is a fastes result, not a checkpoint"),
        (
            lambda meta: meta.update(kernels="0123", version="9.9"),
            "was written by fastes 9.9 with other kernels than this fastes",
        ),
        (lambda meta: meta.pop("T"), "is not a valid checkpoint: 'T'"),
        (lambda meta: meta.update(runs=7), "does not fit 7 runs"),
        (lambda meta: meta.update(runs=0), "is not a valid checkpoint: runs must be"),
        (lambda meta: meta["agents"][0].update(agent="x"), "is not a valid checkpoint: 'x'"),
        (lambda meta: meta["partials"][0].pop("seconds"), "is not a valid checkpoint"),
        (
            lambda meta: meta["partials"][-1]["in_progress"][0].__setitem__(1, 9),
            "is not a valid checkpoint: the last run of a batch must be",
        ),
        (
            lambda meta: meta["partials"][-1].update(in_progress=[]),
            "is not a valid checkpoint: it has 2 states for",
        ),
    ],
)
def test_files_of_another_kind_are_refused(change, message, half_way):
    crafted(half_way, lambda meta, arrays: change(meta))
    assert message in refused(half_way)


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta["partials"][-1].update(in_progress=[[0, 10**6, 5]]),
        lambda meta: meta["partials"][-1]["in_progress"].extend([[0, 10**6, 5], [10**6, 0, 5]]),
        lambda meta: meta.update(points=10**6, T=10**6),
        lambda meta: meta.update(points=10**6, T=4 * 10**9),
    ],
)
def test_a_small_file_takes_little_memory(change, half_way):
    crafted(half_way, lambda meta, arrays: change(meta))
    tracemalloc.start()
    message = refused(half_way)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "is not a valid checkpoint" in message
    assert peak < 4_000_000


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + bytes(100)])
def test_foreign_files_are_refused(data, tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(data)
    assert "is not a fastes checkpoint file, or it is damaged" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "is not a fastes checkpoint file, or it is damaged" in refused(path)


def test_a_checkpoint_is_not_begun_over_another_file(tmp_path):
    (tmp_path / "run.ckpt").write_bytes(b"a week of work")
    with pytest.raises(FileExistsError, match="already exists: name a new file"):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, checkpoint=tmp_path / "run.ckpt")
    assert (tmp_path / "run.ckpt").read_bytes() == b"a week of work"


@pytest.mark.parametrize("put", [shutil.copy, shutil.move])
@pytest.mark.parametrize("kind", ["foreign", "checkpoint"])
def test_another_file_in_its_place_stays_and_nothing_is_lost(put, kind, tmp_path, monkeypatch):
    path, other, agent = tmp_path / "run.ckpt", tmp_path / "other.ckpt", fastes.Greedy()
    if kind == "checkpoint":
        fastes.simulate(BANDIT, agent, 5, seed=1, checkpoint=other)
    else:
        other.write_bytes(b"a week of work")
    theirs, written = other.read_bytes(), []

    def put_in_place(*arguments, write=checkpoint_file.save_arrays, **options):
        write(*arguments, **options)
        written.append(1)
        if len(written) == 1:
            put(other, path)

    monkeypatch.setattr(checkpoint_file, "save_arrays", put_in_place)
    with pytest.raises(
        FileExistsError, match=r"run\.ckpt was written by another process"
    ) as caught:
        fastes.simulate(BANDIT, agent, 50, 2, checkpoint=path)
    assert path.read_bytes() == theirs
    (kept,) = {*tmp_path.iterdir()} - {path, other}
    assert str(kept) in str(caught.value)
    assert_same(fastes.resume(kept), fastes.simulate(BANDIT, agent, 50, 2))


def test_two_do_not_go_on_from_one_file(half_way):
    looked = []

    def meanwhile(_):
        if not looked:
            looked.append(1)
            with pytest.raises(BlockingIOError, match="half way is in use by another"):
                fastes.resume(half_way)

    longer = fastes.resume(half_way, T=400, threads=1, progress=meanwhile).results
    assert looked
    for ours, theirs in zip(fastes.resume(half_way).results, longer, strict=True):
        assert_same(ours, theirs)


def test_a_file_is_locked_before_it_is_read(half_way, monkeypatch):
    def read(path):
        with pytest.raises(BlockingIOError):
            locks.LockedFile(path).renew()
        return read_checkpoint(path)

    monkeypatch.setattr(checkpoint, "read_checkpoint", read)
    fastes.resume(half_way)


def test_the_lock_goes_over_to_each_new_file(half_way):
    def replaced():
        shutil.copy(half_way, half_way.with_suffix(".new"))
        half_way.with_suffix(".new").replace(half_way)

    with locks.LockedFile(half_way) as held:
        replaced()
        held.renew()
        with pytest.raises(BlockingIOError):
            fastes.resume(half_way)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(locks, "locked", lambda file: replaced() or True)
        with pytest.raises(BlockingIOError):
            fastes.resume(half_way)
    fastes.resume(half_way)


@pytest.mark.parametrize(
    ("options", "error"),
    [({"threads": 0}, ValueError), ({"diagnostics": [0], "samples": 2**32 - 1}, MemoryError)],
)
def test_what_is_refused_leaves_no_file(options, error, tmp_path):
    with pytest.raises(error):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, checkpoint=tmp_path / "run.ckpt", **options)
    huge = fastes.EnsembleSampling(4 * 10**9, engine="eager")
    with pytest.raises(MemoryError, match="a run with K="):
        fastes.simulate(BANDIT, huge, 5, checkpoint=tmp_path / "run.ckpt")
    assert not list(tmp_path.iterdir())


def test_results_do_not_take_the_place_of_their_checkpoint(half_way):
    before = half_way.read_bytes()
    for option in ("--out", "--csv"):
        done = CliRunner().invoke(main, ["resume", str(half_way), option, str(half_way)])
        assert done.exit_code == 2
        assert f"{half_way} is an input of this command" in done.stderr
    assert half_way.read_bytes() == before


def test_a_file_keeps_its_permissions(half_way):
    half_way.chmod(0o600)
    fastes.resume(half_way, T=400)
    assert half_way.stat().st_mode & 0o777 == 0o600


def test_an_interrupt_while_the_last_is_written_loses_nothing(tmp_path, monkeypatch):
    saved = []

    def interrupted(*arguments, save=archive.save_arrays, **options):
        saved.append(1)
        if len(saved) == 2:  # the first is that of the beginning
            raise KeyboardInterrupt
        save(*arguments, **options)

    monkeypatch.setattr(checkpoint_file, "save_arrays", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fastes.simulate(BANDIT, fastes.Greedy(), 50, 2, checkpoint=tmp_path / "run.ckpt")
    assert partials(tmp_path / "run.ckpt")[0].done.all()


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
        fastes.simulate(BANDIT, fastes.Greedy(), 5, checkpoint=tmp_path / "run.ckpt", every=every)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_last_good_checkpoint(half_way, monkeypatch):
    resumed(half_way, T=500)  # compiled by then
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
    monkeypatch.setattr(atomic.tempfile, "mkstemp", denied)  # root may write anywhere
    with pytest.raises(PermissionError, match="Permission denied") as caught:
        fastes.resume(half_way)
    assert caught.value.filename == str(half_way)
    assert half_way.read_bytes() == before


def test_a_checkpoint_belongs_to_its_kernels():
    assert cache.fingerprint() in str(cache.cache_folder())
