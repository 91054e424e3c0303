import json
import os
import zipfile

import numpy as np
import pytest

import fastes
from fastes.files.archive import FileFormatError
from fastes.files.atomic import _umask, atomic_write
from fastes.results.diagnostics import Diagnostics, Measurements

BANDIT = fastes.LinearBandit.random(K=20, d=3, noise=0.5)


@pytest.fixture(scope="module")
def result():
    return fastes.simulate(BANDIT, fastes.EnsembleSampling(10), T=100, runs=8, seed=5)


@pytest.fixture(scope="module")
def comparison():
    agents = [fastes.EnsembleSampling(10), fastes.ThompsonSampling()]
    return fastes.compare(BANDIT, agents, T=100, runs=8, seed=5)


def test_figures_are_numpy_s(result):
    per_run = result.regret.per_run
    np.testing.assert_allclose(result.regret.mean, per_run.mean(axis=0))
    np.testing.assert_allclose(result.regret.se, per_run.std(axis=0, ddof=1) / np.sqrt(8))
    np.testing.assert_allclose(result.regret.median, np.median(per_run, axis=0))
    np.testing.assert_allclose(result.regret.quantile(0.05), np.quantile(per_run, 0.05, axis=0))
    assert (result.regret.final == per_run[:, -1]).all()


def test_a_single_run_has_no_standard_error():
    single = fastes.simulate(BANDIT, fastes.Greedy(), T=10)
    assert np.isnan(single.regret.se).all()
    assert single.summary()["regret"]["se"] is None
    json.dumps(single.summary(), allow_nan=False)


def test_the_summary_has_the_fields_of_the_contract(result):
    summary = result.summary()
    contract = "agent engine K d M T runs seed noise regret curve seconds steps_per_second version"
    assert set(contract.split()) <= set(summary)
    assert set(summary["regret"]) == {"mean", "se", "median", "q05", "q95"}
    assert set(summary["curve"]) == {"t", "mean", "se"}
    assert summary["M"] == 10
    final = result.regret.final
    expected = [
        final.mean(),
        final.std(ddof=1) / np.sqrt(8),
        *np.quantile(final, [0.5, 0.05, 0.95]),
    ]
    np.testing.assert_allclose(list(summary["regret"].values()), expected)
    assert summary["steps_per_second"] == pytest.approx(800 / summary["seconds"])
    assert summary["curve"]["t"][-1] == 100
    assert summary["version"] == fastes.__version__


def test_a_saved_result_comes_back(result, tmp_path):
    result.save(tmp_path / "result.npz")
    again = fastes.load(tmp_path / "result.npz")
    assert again.configuration == result.configuration
    assert (again.t == result.t).all()
    assert (again.regret.per_run == result.regret.per_run).all()
    assert (again.counts == result.counts).all()
    assert again.summary() == result.summary()


def test_a_saved_comparison_comes_back(comparison, tmp_path):
    comparison.save(tmp_path / "both.npz")
    again = fastes.load(tmp_path / "both.npz")
    assert isinstance(again, fastes.Comparison)
    assert again.summary() == comparison.summary()


def test_paired_differences_have_the_standard_error_of_the_differences(comparison):
    es, ts = comparison.results
    gaps = es.regret.final - ts.regret.final
    (difference,) = comparison.differences()
    assert difference.mean == pytest.approx(gaps.mean())
    assert difference.se == pytest.approx(gaps.std(ddof=1) / np.sqrt(8))
    assert (difference.x, difference.y) == ("ES, M=10", "TS")


def test_runs_with_other_fixed_thetas_are_not_paired():
    both = [
        fastes.simulate(BANDIT, fastes.Greedy(), T=20, runs=3, theta=theta)
        for theta in ([0.0, 0.0, 1.0], [5.0, 0.0, 0.0])
    ]
    with pytest.raises(ValueError, match="needs equal theta"):
        fastes.Comparison(tuple(both)).differences()


@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e170])
def test_standard_errors_neither_overflow_nor_vanish(scale):
    bandit = fastes.LinearBandit(scale * BANDIT.actions, noise=scale)
    regret = fastes.simulate(bandit, fastes.ThompsonSampling(), T=30, runs=5).regret
    assert 0.01 < regret.se[-1] / scale < 100


def test_results_cannot_be_changed(result):
    with pytest.raises(ValueError, match="read-only"):
        result.regret.per_run[0, 0] = 0.0


def test_runs_on_other_problems_are_not_paired(result):
    louder = fastes.LinearBandit(BANDIT.actions, noise=0.6)
    other = fastes.simulate(louder, fastes.Greedy(), T=100, runs=8, seed=5)
    with pytest.raises(ValueError, match="needs equal"):
        fastes.Comparison((result, other)).differences()


def test_a_mean_of_measurements_leaves_out_what_is_not_known():
    per_run = np.array([[1.0, np.inf, np.nan], [2.0, 3.0, np.nan], [6.0, 5.0, 9.0]])
    parts = Measurements(*[per_run] * len(Measurements._fields))
    mean = Diagnostics(np.arange(3), 2, parts, None).mean("entropy")
    np.testing.assert_allclose(mean.value, [3.0, 4.0, 9.0])
    np.testing.assert_allclose(mean.se, [np.sqrt(7 / 3), 1.0, np.nan])
    assert mean.left_out.tolist() == [0, 1, 2]


def test_what_is_not_paired_is_not_compared(result):
    other = fastes.simulate(BANDIT, fastes.Greedy(), T=100, runs=8, seed=6)
    with pytest.raises(ValueError, match="needs equal seed, got 5 for ES, M=10 and 6 for Greedy"):
        fastes.Comparison((result, other)).differences()


def test_csv_has_a_row_for_every_time(comparison, tmp_path):
    comparison.to_csv(tmp_path / "curves.csv")
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert lines[0] == "agent,t,mean,se,median,q05,q95"
    assert len(lines) == 1 + sum(len(result.t) for result in comparison.results)
    agent, *figures = lines[-1].split(",")
    assert agent == "TS"
    final = comparison.results[1].regret.final
    expected = [
        final.mean(),
        final.std(ddof=1) / np.sqrt(8),
        *np.quantile(final, [0.5, 0.05, 0.95]),
    ]
    np.testing.assert_allclose([float(x) for x in figures], [100, *expected])


def test_a_dataframe_has_a_row_for_every_run_and_time(comparison):
    frame = comparison.to_dataframe()
    assert list(frame.columns) == ["agent", "run", "t", "regret"]
    assert len(frame) == sum(result.regret.per_run.size for result in comparison.results)
    last = frame[(frame.agent == "TS") & (frame.t == 100)].regret
    assert (last.to_numpy() == comparison.results[1].regret.final).all()


def test_a_dataframe_without_pandas_says_how_to_get_it(result, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'fastes\[pandas\]'"):
        result.to_dataframe()


def test_plots_are_drawn(comparison, tmp_path):
    import matplotlib as mpl

    mpl.use("Agg")
    axes = comparison.plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ES, M=10", "TS"]
    for line, one in zip(axes.get_lines(), comparison.results, strict=True):
        assert (line.get_ydata() == one.regret.mean).all()
    assert comparison.results[0].plot(axes) is axes
    mpl.pyplot.close("all")


def test_damaged_files_are_refused_in_one_sentence(result, tmp_path):
    path = tmp_path / "result.npz"
    result.save(path)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 512):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match=r"result\.npz is not a fastes result file, or"):
            fastes.load(path)
    rng = np.random.default_rng(1)
    for position in rng.integers(0, len(whole), size=400):
        flipped = bytearray(whole)
        flipped[position] ^= 0xFF
        path.write_bytes(bytes(flipped))
        try:
            again = fastes.load(path)
        except FileFormatError:
            continue
        # Some bytes of a zip file mean nothing. Then all is as it was.
        assert (again.regret.per_run == result.regret.per_run).all()


def test_foreign_files_are_refused(tmp_path, result):
    np.savez(tmp_path / "foreign.npz", x=np.arange(3))
    with pytest.raises(FileFormatError, match="is not a fastes result"):
        fastes.load(tmp_path / "foreign.npz")
    BANDIT.save(tmp_path / "problem.npz")
    with pytest.raises(FileFormatError, match="holds a fastes problem, not a result"):
        fastes.load(tmp_path / "problem.npz")
    result.save(tmp_path / "result.npz")
    with pytest.raises(FileFormatError, match="holds a fastes result, not a problem"):
        fastes.LinearBandit.load(tmp_path / "result.npz")


def test_a_file_of_a_newer_format_is_refused(tmp_path, result, monkeypatch):
    monkeypatch.setattr("fastes.files.archive.FORMAT", 99)
    result.save(tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="has format 99, this version of fastes reads 1"):
        fastes.load(tmp_path / "new.npz")


def test_nothing_is_ever_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    np.savez(tmp_path / "bomb.npz", meta=np.array([Bomb()], dtype=object))
    with pytest.raises(FileFormatError):
        fastes.load(tmp_path / "bomb.npz")


def test_a_file_whose_arrays_do_not_fit_is_refused(tmp_path, result):
    result.save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz") as file:
        arrays = {name: file[name] for name in file.files}
    shorter = arrays["t_0"].copy()
    shorter[-1] -= 1
    for change in ({"regret_0": arrays["regret_0"][:, :-1]}, {"t_0": shorter}):
        np.savez(tmp_path / "result.npz", **{**arrays, **change})
        with pytest.raises(FileFormatError, match="do not fit each other"):
            fastes.load(tmp_path / "result.npz")
    del arrays["t_0"]
    np.savez(tmp_path / "result.npz", **arrays)
    with pytest.raises(FileFormatError, match="lacks parts of a result"):
        fastes.load(tmp_path / "result.npz")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_and_not_rewritten(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")
    with path.open() as reader, atomic_write(path) as temporary:
        temporary.write_text("new")
    with path.open() as reader, atomic_write(path) as temporary:  # whoever reads sees a whole file
        temporary.write_text("newer")
        assert reader.read() == "new"
    assert path.read_text() == "newer"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with atomic_write(pipe) as given:
        assert given == pipe


def test_a_saved_file_is_an_ordinary_npz(result, tmp_path):
    result.save(tmp_path / "name without suffix")
    assert zipfile.is_zipfile(tmp_path / "name without suffix")
    with np.load(tmp_path / "name without suffix", allow_pickle=False) as file:
        assert json.loads(str(file["meta"]))["results"][0]["seed"] == 5
