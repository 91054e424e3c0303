"""Archives: every part named, sealed, and of the size that is described."""

import io
import json
import time
import zipfile

import numpy as np
import pytest
from crafted import crafted

import fastes
from fastes.files.archive import load_arrays, save_arrays
from fastes.files.kinds import FileFormatError
from fastes.simulation.checkpoint_file import read_checkpoint

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
    with pytest.raises(TypeError, match="only arrays of booleans, integers, reals and text"):
        save_arrays(tmp_path / "x.npz", "problem", {}, {"a": array})


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_at_once(tmp_path):
    file = tmp_path / "r.npz"
    fastes.simulate(fastes.LinearBandit.random(5, 2), fastes.Greedy(), T=10).save(file)
    rewritten(file, lambda members: members.__setitem__("regret_0.npy", npy(np.zeros(5 * 10**7))))
    assert file.stat().st_size < 10**6
    began = time.process_time()
    with pytest.raises(FileFormatError):
        fastes.load(file)
    assert time.process_time() - began < 0.2  # to unpack 400 MB takes longer


@pytest.fixture
def result(tmp_path):
    bandit = fastes.LinearBandit.random(5, 2)
    options = {"theta": [0.1, 0.2], "keep": ["actions", "rewards"]}
    fastes.simulate(bandit, fastes.Greedy(), T=10, runs=3, **options).save(tmp_path / "r.npz")
    return tmp_path / "r.npz"


def _set(name, value):
    return lambda meta, arrays: meta["results"][0].__setitem__(name, value)


def _spoil(name, spoil):
    return lambda meta, arrays: arrays.__setitem__(name, spoil(arrays[name]))


@pytest.mark.parametrize(
    "change",
    [
        _set("T", 10**30),
        _set("T", 11),
        _set("runs", 10**9),
        _set("runs", 0),
        _set("K", -1),
        _set("K", 6),
        _set("points", 0),
        _set("seed", 1.5),
        _set("noise", -1.0),
        _set("seconds", 0),
        _set("parameters", [1]),
        _set("versions", {}),
        _set("versions", None),
        _set("agent", 3),
        _set("theta", None),
        _spoil("regret_0", lambda x: -x),
        _spoil("regret_0", lambda x: x * np.nan),
        _spoil("regret_0", lambda x: x[:, :-1]),
        _spoil("regret_0", lambda x: x[:, :, None]),
        _spoil("regret_0", lambda x: x.astype(np.int64)),
        _spoil("counts_0", lambda x: -x),
        _spoil("counts_0", lambda x: x + 1),
        _spoil("counts_0", lambda x: x.astype(float)),
        _spoil("t_0", lambda x: x[::-1]),
        _spoil("t_0", lambda x: x * 0),
        _spoil("run_numbers_0", lambda x: x[::-1]),
        _spoil("run_numbers_0", lambda x: x - 5),
        _spoil("actions_0", lambda x: x + np.uint8(200)),
        _spoil("rewards_0", lambda x: x / 0.0),
        _spoil("rewards_0", lambda x: x[:1]),
        lambda meta, arrays: meta["results"].append(meta["results"][0]),
        lambda meta, arrays: meta.pop("diagnostics"),
        lambda meta, arrays: [arrays.pop(name) for name in [*arrays] if name.startswith("problem")],
        lambda meta, arrays: [arrays.pop(name) for name in [*arrays] if name.startswith("theta")],
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_result_that_is_whole_but_impossible_is_refused(change, result):
    crafted(result, change)
    with pytest.raises(FileFormatError, match=r"r\.npz holds no whole result"):
        fastes.load(result)


@pytest.fixture
def checkpoint(tmp_path):
    bandit, file = fastes.LinearBandit.random(5, 2), tmp_path / "run.ckpt"
    agent = fastes.EnsembleSampling(3)
    fastes.simulate(bandit, agent, T=10, runs=3, theta=[0.1, 0.2], checkpoint=file)
    return file


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta.__setitem__("points", 0),
        lambda meta, arrays: meta.__setitem__("T", 10**30),
        lambda meta, arrays: meta.__setitem__("T", -1),
        lambda meta, arrays: meta.__setitem__("runs", 10**9),
        lambda meta, arrays: meta.__setitem__("keep", ["thoughts"]),
        lambda meta, arrays: meta.__setitem__("keep", ["actions"]),
        lambda meta, arrays: arrays.pop("theta"),
        lambda meta, arrays: arrays.__setitem__("noise", np.array(np.nan)),
        lambda meta, arrays: arrays.__setitem__("actions", arrays["actions"] * np.inf),
        _spoil("partial0_regret", lambda x: x * np.nan),
        _spoil("partial0_counts", lambda x: x - 10**6),
        _spoil("partial0_counts", lambda x: x.astype(float)),
        _spoil("partial0_done", lambda x: x.astype(float)),
        _spoil("partial0_done", lambda x: x[:1]),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_checkpoint_that_is_whole_but_impossible_is_refused(change, checkpoint):
    crafted(checkpoint, change)
    with pytest.raises(FileFormatError, match=r"run\.ckpt holds no whole checkpoint"):
        read_checkpoint(checkpoint)


def test_a_checkpoint_that_lost_its_theta_does_not_go_on_without_it(checkpoint):
    rewritten(checkpoint, lambda members: members.pop("theta.npy"))
    with pytest.raises(FileFormatError, match="damaged or incomplete"):
        fastes.resume(checkpoint)


@pytest.mark.parametrize("spoil", [lambda x: x * np.nan, lambda x: x + np.inf])
@pytest.mark.parametrize("name", ["state_posterior_mu", "state_posterior_S", "state_xi"])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_saved_agent_must_be_finite(name, spoil, tmp_path):
    live = fastes.EnsembleSampling(3).start(fastes.LinearBandit.random(5, 2))
    live.observe([live.act(), live.act()], [0.1, 0.2])
    live.save(tmp_path / "a.npz")
    crafted(tmp_path / "a.npz", _spoil(name, spoil))
    with pytest.raises(FileFormatError, match=r"a\.npz holds no whole agent"):
        fastes.LiveAgent.load(tmp_path / "a.npz")
