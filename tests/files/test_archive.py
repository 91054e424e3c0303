"""Archives: every part named, sealed, and of the size that is described."""

import contextlib
import copy
import io
import json
import os
import random
import tracemalloc
import zipfile

import numpy as np
import pytest
from checkpoints import partials, recorded
from crafted import crafted

import fastes
from fastes.files.archive import load_arrays, save_arrays
from fastes.files.kinds import FileFormatError, kind_of
from fastes.saved.contents import contents

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2], np.int64), "c": np.array("x")}


@pytest.fixture
def file(tmp_path):
    save_arrays(tmp_path / "file.npz", "problem", {"n": 3}, ARRAYS)
    return tmp_path / "file.npz"


def rewritten(file, change):
    """Change the members of an archive, name by bytes, and write it whole again."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)
    return out.getvalue()


def described(members):
    return json.loads(str(np.load(io.BytesIO(members["meta.npy"]))))


def test_what_is_saved_comes_back(file):
    meta, arrays = load_arrays(file, "problem")
    assert meta["n"] == 3
    assert meta["version"] == fastes.__version__
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)


@pytest.mark.parametrize(
    "change",
    [
        lambda members: members.pop("a.npy"),
        lambda members: members.pop("seal.npy"),
        lambda members: members.__setitem__("d.npy", npy([1.0])),
        lambda members: members.__setitem__("a.npy", npy(ARRAYS["a"] + 1e-9)),
        lambda members: members.__setitem__("a.npy", npy(ARRAYS["a"].reshape(3, 2))),
        lambda members: members.__setitem__("b.npy", npy(ARRAYS["b"].astype(np.int32))),
        lambda members: members.__setitem__("b.npy", members["a.npy"]),
        lambda members: members.__setitem__("a.npy", npy(np.zeros(10**6))),
        lambda members: members.__setitem__(
            "meta.npy", npy(json.dumps({**described(members), "n": 4}))
        ),
        lambda members: members.__setitem__("meta.npy", npy("{")),
        lambda members: members.__setitem__("meta.npy", npy("[1, 2]")),
    ],
    ids=[
        "lost",
        "unsealed",
        "more",
        "other",
        "shape",
        "type",
        "twice",
        "huge",
        "meta",
        "cut",
        "list",
    ],
)
def test_a_part_that_is_lost_or_changed_is_noticed(change, file):
    rewritten(file, change)
    with pytest.raises(FileFormatError, match="is not a fastes problem file, or it is damaged"):
        load_arrays(file, "problem")


def test_a_member_that_is_there_twice_is_refused(file):
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a.npy", npy(ARRAYS["a"]))
    with pytest.raises(FileFormatError):
        load_arrays(file, "problem")


@pytest.mark.parametrize("array", [np.array([1j]), np.array([None]), np.array(["2020"], "M8[D]")])
def test_only_numbers_and_text_are_written(array, tmp_path):
    with pytest.raises(TypeError, match="only arrays of booleans, integers, reals or text"):
        save_arrays(tmp_path / "x.npz", "problem", {}, {"a": array})


@pytest.mark.parametrize(("name", "kind"), [("meta", "<U9"), ("seal", "<U9"), ("a", "<f8")])
def test_a_member_that_promises_more_than_it_holds_takes_no_room(name, kind, file):
    header = io.BytesIO()
    promised = {"descr": kind, "fortran_order": False, "shape": (10**11, 3)}
    np.lib.format.write_array_header_1_0(header, promised)
    rewritten(file, lambda members: members.__setitem__(f"{name}.npy", header.getvalue()))
    with pytest.raises(FileFormatError):
        load_arrays(file, "problem")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_at_once(file):
    rewritten(file, lambda members: members.__setitem__("a.npy", npy(np.zeros(5 * 10**6))))
    assert file.stat().st_size < 10**5
    assert refused_in(file, load_arrays, "problem") < 10**6  # of 40 MB


def refused_in(file, read, *rest):
    """Return the bytes that it takes at most to refuse a file."""
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=file.name):
            read(file, *rest)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# Files that are sealed and wrong, as a hostile or a confused program would write them.

STRANGE = (None, True, -1, 0, 0.5, 1e308, 2**31, 2**62, 10**30, "x", "es", "\x1b", [], [5], {})
SPOILED = (
    lambda x: x[:0],
    lambda x: x[..., :1],
    lambda x: x[..., None],
    lambda x: x.ravel()[0],
    lambda x: x.astype(str),
    lambda x: x * 1.0,
    lambda x: x * np.nan,
    lambda x: -1 - x.astype(np.int64),
    lambda x: x.astype(np.int64) + 2**40,
    lambda x: np.concatenate([x, x]),
)


def ways(value, way=()):
    """Yield the way to each part of a description; of a list, to its first item only."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for key, part in items:
        yield (*way, key)
        if isinstance(part, dict | list):
            yield from ways(part, (*way, key))


def put(way, *value):
    """Return the change of one part of a description: to a value, or that it is lost."""

    def change(meta, arrays):
        for key in way[:-1]:
            meta = meta[key]
        if value:
            meta[way[-1]] = copy.deepcopy(value[0])
        else:
            del meta[way[-1]]

    return change


def spoil(name, *how):
    """Return the change of one array, or that it is lost."""

    def change(meta, arrays):
        found = arrays.pop(name)
        for each in how:
            try:
                arrays[name] = np.asarray(each(found))
            except (ValueError, TypeError, IndexError):
                arrays[name] = np.array("x")

    return change


def changes(file):
    """Return many changes of a file, and those that once went wrong."""
    meta, arrays = load_arrays(file, kind_of(file))
    known = [put(("fastes",), ["x"]), put(("agent",), 5), *(put((name,), []) for name in meta)]
    if "theta" in arrays:
        known += [spoil("theta", how) for how in (lambda x: x[:0], lambda x: x[0, 0])]
    described = [
        put(way, *value) for way in ways(meta) for value in ((), *zip(STRANGE, strict=True))
    ]
    spoiled = [spoil(name, *how) for name in arrays for how in ((), *zip(SPOILED, strict=True))]
    rng = random.Random(1)
    return [*known, *rng.sample(described, 30), *rng.sample(spoiled, 30)]


def play(live):
    for _ in range(12):
        arm = live.act()
        live.observe(arm, 0.5)


def label(file):
    return [result.label for result in fastes.load(file)]


def play_on(file):
    play(fastes.load(file))


OTHER = fastes.LinearBandit(np.random.default_rng(0).normal(size=(6, 3)), 0.1, np.eye(3), 0.5)
BALL = fastes.LinearBandit(fastes.actions.Ball(3))
OPTIONS = {"theta": [0.1, 0.2, 0.3], "diagnostics": [0, 5], "samples": 32, "keep": "actions"}


def result(file):
    truth = fastes.Truth(noise=2.0)
    fastes.compare(OTHER, [fastes.Greedy()] * 2, 10, 3, truth=truth, **OPTIONS).save(file)


def agent(bandit, *kind):
    def save(file):
        live = fastes.EnsembleSampling(*kind).start(bandit)
        play(live)
        live.save(file)

    return save


def half_way(file):
    agents = [fastes.EnsembleSampling(5), fastes.ThompsonSampling()]
    options = {**OPTIONS, "delay": 3}
    _, copies = recorded(file.parent, fastes.compare, OTHER, agents, 60, 2, **options)
    begun = [copy for copy in copies if any(each.in_progress for each in partials(copy))]
    begun[-1].replace(file)


FILES = {
    "r.npz": (result, label),
    "p.npz": (OTHER.save, fastes.load),
    "sequence.npz": (agent(OTHER, 10**6), play_on),
    "counts.npz": (agent(OTHER, 9), play_on),
    "eager.npz": (agent(OTHER, 9, "eager"), play_on),
    "rows.npz": (agent(BALL, 3), play_on),
    "c.ckpt": (half_way, fastes.resume),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_sealed_and_wrong_is_refused_in_a_sentence_or_does_no_harm(
    name, tmp_path, monkeypatch
):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    (write, use), file, refusals = FILES[name], tmp_path / name, []
    write(file)
    whole, every = file.read_bytes(), changes(file)
    for change in every:
        file.write_bytes(whole)
        crafted(file, change)
        for read in (contents, use):
            with contextlib.suppress(FloatingPointError, MemoryError):
                try:
                    read(file)
                except (FileFormatError, fastes.OwnAgentError) as error:
                    refusals.append(str(error))
    assert len(refusals) > len(every) / 3
    assert all(str(file) in sentence and sentence.isprintable() for sentence in refusals)


def test_a_batch_that_is_none_is_refused_before_it_takes_room(tmp_path):
    file = tmp_path / "c.ckpt"
    half_way(file)
    whole = file.read_bytes()
    for batch in ([0, 2**40, 5], [-1, 2, 5], [0, 1, 2**40], [0, 2, 5, 1]):
        file.write_bytes(whole)
        crafted(file, put(("partials", -1, "in_progress"), [batch]))
        assert refused_in(file, fastes.resume) < 10**7


@pytest.fixture
def checkpoint(tmp_path):
    bandit, file = fastes.LinearBandit.random(5, 2), tmp_path / "run.ckpt"
    agent = fastes.EnsembleSampling(3)
    fastes.simulate(bandit, agent, T=10, runs=3, theta=[0.1, 0.2], checkpoint=file)
    return file


def test_a_checkpoint_that_lost_its_theta_does_not_go_on_without_it(checkpoint):
    rewritten(checkpoint, lambda members: members.pop("theta.npy"))
    with pytest.raises(FileFormatError, match="damaged or incomplete"):
        fastes.resume(checkpoint)
