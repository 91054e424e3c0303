import json
import os
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import fastes
from fastes.files.atomic import _umask, atomic_write
from fastes.files.kinds import FileFormatError
from fastes.results.diagnostics import Diagnostics, Measurements
from fastes.results.regret import Regret

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
    (agent,) = single.to_dict()["agents"]
    assert [agent["regret"][name] for name in ("se", "median", "q05", "q95")] == [None] * 4
    json.dumps(single.to_dict(), allow_nan=False)
    assert repr(single).endswith("at T=10, 1 run)")


def test_the_values_are_those_of_the_regret(result):
    (summary,) = result.to_dict()["agents"]
    usual = {"perturbations": "normal", "symmetric": False, "inflation": 1.0}
    usual |= {"belief": "auto", "variance": "fisher", "discount": 1.0}
    usual |= {"noise": "known", "noise_shape": 2.0, "noise_scale": 1.0, "least_noise": 0.1}
    assert summary["parameters"] == {"M": 10, "engine": "deferred", **usual}
    final = result.regret.final
    expected = [
        final.mean(),
        final.std(ddof=1) / np.sqrt(8),
        *np.quantile(final, [0.5, 0.05, 0.95]),
    ]
    np.testing.assert_allclose(list(summary["regret"].values()), expected)
    assert summary["steps_per_second"] == pytest.approx(800 / summary["seconds"])
    assert summary["curve"]["t"][-1] == 100
    assert result.to_dict()["versions"]["fastes"] == fastes.__version__


def test_a_saved_result_comes_back(result, tmp_path):
    result.save(tmp_path / "result.npz")
    again = fastes.load(tmp_path / "result.npz")
    assert again.configuration == result.configuration
    assert (again.t == result.t).all()
    assert (again.regret.per_run == result.regret.per_run).all()
    assert (again.counts == result.counts).all()
    assert again.to_dict() == result.to_dict()


def test_a_saved_comparison_comes_back(comparison, tmp_path):
    comparison.save(tmp_path / "both.npz")
    again = fastes.load(tmp_path / "both.npz")
    assert isinstance(again, fastes.Comparison)
    assert again.to_dict() == comparison.to_dict()


def test_paired_differences_have_the_standard_error_of_the_differences(comparison):
    es, ts = comparison.results
    gaps = es.regret.final - ts.regret.final
    (difference,) = comparison.differences()
    assert difference.mean == pytest.approx(gaps.mean())
    assert difference.se == pytest.approx(gaps.std(ddof=1) / np.sqrt(8))
    assert (difference.agent, difference.baseline) == ("ES, M=10", "TS")
    curve = es.regret.per_run - ts.regret.per_run
    np.testing.assert_allclose(difference.regret.mean, curve.mean(axis=0), atol=1e-12)
    assert (difference.t == es.t).all()


def test_a_comparison_is_a_sequence_by_position_label_and_name(comparison):
    es, ts = comparison
    assert len(comparison) == 2
    assert comparison[0] is comparison["ES, M=10"] is comparison["es"] is es
    assert comparison[-1] is comparison["TS"] is ts
    with pytest.raises(KeyError, match="labelled 'LinUCB'; there are 'ES, M=10', 'TS'"):
        comparison["LinUCB"]
    with pytest.raises(IndexError):
        comparison[2]


def test_differences_are_of_the_runs_that_both_have(comparison):
    es, ts = comparison
    rows = np.array([1, 4, 7])
    some = replace(es, regret=Regret(es.regret.per_run[rows]), run_numbers=rows)
    (difference,) = fastes.Comparison((some, ts)).differences()
    gaps = es.regret.per_run[rows] - ts.regret.per_run[rows]
    assert (difference.regret.per_run == gaps).all()


@pytest.mark.parametrize("baseline", ["es", "ES, M=10", 0, -2])
def test_differences_are_against_a_baseline(baseline, comparison):
    (difference,) = comparison.differences(baseline)
    assert (difference.agent, difference.baseline) == ("TS", "ES, M=10")


@pytest.mark.parametrize("baseline", ["linucb", 2, -3, 1.5, fastes.Greedy()])
def test_a_baseline_is_one_of_the_agents(baseline, comparison):
    with pytest.raises(ValueError, match="baseline must be one of 'ES, M=10', 'TS', got"):
        comparison.differences(baseline)


def test_an_empty_comparison_is_refused():
    with pytest.raises(ValueError, match="a comparison needs at least one result, got none"):
        fastes.Comparison(())


def test_the_summary_is_the_table_of_the_command_line(comparison, capsys):
    comparison.summary()
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    for words in ("K=20 arms", "regret at T", "90% of runs", "ES, M=10 minus TS, run by run"):
        assert words in printed


def test_notebooks_show_tables(result, comparison):
    for shown in (result, comparison, BANDIT):
        html = shown._repr_html_()
        assert html.count("<table>") == html.count("</table>") == 1
    assert "ES, M=10 minus TS" in comparison._repr_html_()
    assert ">TS</th>" in comparison._repr_html_()


def test_runs_with_other_fixed_thetas_are_not_paired():
    both = [
        fastes.simulate(BANDIT, fastes.Greedy(), T=20, runs=3, theta=theta)
        for theta in ([0.0, 0.0, 1.0], [5.0, 0.0, 0.0])
    ]
    with pytest.raises(ValueError, match="must have equal theta"):
        fastes.Comparison(tuple(both))


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
    with pytest.raises(ValueError, match="must have equal noise"):
        fastes.Comparison((result, other))


def diagnostics_of(**measurements):
    """Return diagnostics of three runs at as many times, zero but for what is given."""
    parts = dict.fromkeys(Measurements._fields, np.zeros((3, 3))) | measurements
    return Diagnostics(np.arange(3), 2, Measurements(**parts), None)


def test_a_mean_of_measurements_counts_what_is_infinite_or_not_known():
    per_run = np.array([[1.0, np.inf, np.nan], [2.0, 3.0, np.nan], [6.0, np.nan, 9.0]])
    mean = diagnostics_of(entropy=per_run).mean("entropy")
    np.testing.assert_allclose(mean.value, [3.0, np.inf, 9.0])
    np.testing.assert_allclose(mean.se, [np.sqrt(7 / 3), np.nan, np.nan])
    assert mean.infinite.tolist() == [0, 1, 0]
    assert mean.unknown.tolist() == [0, 1, 2]


def test_a_mean_over_the_runs_that_are_known():
    per_run = np.array([[1.0, 5.0, np.nan], [2.0, 3.0, 4.0], [6.0, np.nan, 9.0]])
    mean = diagnostics_of(entropy=per_run).mean("entropy")
    np.testing.assert_allclose(mean.value, [3.0, 4.0, 6.5])
    np.testing.assert_allclose(mean.se, [np.sqrt(7 / 3), 1.0, 2.5])


def test_a_huge_measurement_at_one_time_leaves_the_errors_at_others():
    per_run = np.array([[1.0, 1e200, 0.0], [2.0, 2e200, 0.0], [6.0, 6e200, 0.0]])
    mean = diagnostics_of(entropy=per_run).mean("entropy")
    np.testing.assert_allclose(mean.se, [np.sqrt(7 / 3), 1e200 * np.sqrt(7 / 3), 0.0])


def test_the_information_ratio_is_one_of_means_with_the_error_of_the_delta_method():
    regret = np.array([[1.0, 2.0, 1e170], [2.0, 1.0, 1e170], [3.0, 7.0, 1e170]])
    information = np.array([[0.5, 0.0, 0.5], [1.0, np.nan, 1.0], [3.0, -1.0, 1.5]])
    found = diagnostics_of(main_regret=regret, information=information)
    ratio = found.mean("information_ratio")
    residuals = regret[:, 0] ** 2 - 14 / 4.5 * information[:, 0]
    assert ratio.value[0] == pytest.approx(14 / 4.5)
    assert ratio.se[0] == pytest.approx(np.sqrt(residuals @ residuals / 6) / 1.5)
    assert np.isnan(ratio.value[1])  # information that is not above zero: no ratio
    assert ratio.value[2] == np.inf  # beyond floats
    assert ratio.unknown.tolist() == [0, 3, 0]
    with pytest.raises(ValueError, match="must be one of"):
        found.values("information_ratio")  # a single run's is noise


def test_the_error_of_the_information_ratio_is_what_it_says():
    # 40 runs, 1000 times: mean square of the error over its estimate, 5 of its standard errors.
    rng = np.random.default_rng(1)
    information = rng.gamma(2.0, size=(40, 1000))
    regret = np.sqrt(3 * information * rng.gamma(5.0, 0.2, size=information.shape))
    parts = dict.fromkeys(Measurements._fields, np.zeros((40, 1000)))
    parts |= {"main_regret": regret, "information": information}
    ratio = Diagnostics(np.arange(1000), 2, Measurements(**parts), None).mean("information_ratio")
    z = (ratio.value - 3.0) / ratio.se
    assert abs(np.mean(z * z) - 1) < 5 * np.sqrt(2 / 1000) + 0.1


def test_diagnostics_as_a_data_frame_have_a_row_for_each_run_and_time():
    pytest.importorskip("pandas")
    per_run = np.arange(9.0).reshape(3, 3)
    frame = diagnostics_of(entropy=per_run, main_regret=per_run).to_dataframe()
    assert list(frame.columns) == ["run", "t", *Measurements._fields, "step_regret"]
    assert frame["run"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert frame["t"].tolist() == [0, 1, 2] * 3
    assert frame["entropy"].tolist() == frame["step_regret"].tolist() == list(range(9))


def test_a_data_frame_of_diagnostics_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"install it with pip install 'fastes\[pandas\]'"):
        diagnostics_of().to_dataframe()


def test_what_is_not_paired_is_not_compared(result):
    other = fastes.simulate(BANDIT, fastes.Greedy(), T=100, runs=8, seed=6)
    message = "must have equal seed, got 5 for ES, M=10 and 6 for Greedy"
    with pytest.raises(ValueError, match=message):
        fastes.Comparison((result, other))


def test_csv_has_a_row_for_every_time(comparison, tmp_path):
    comparison.to_csv(tmp_path / "curves.csv")
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert lines[0] == "agent,t,runs,mean,se,median,q05,q95"
    assert len(lines) == 1 + sum(len(result.t) for result in comparison.results)
    agent, *figures = lines[-1].split(",")
    assert agent == "TS"
    final = comparison.results[1].regret.final
    expected = [
        final.mean(),
        final.std(ddof=1) / np.sqrt(8),
        *np.quantile(final, [0.5, 0.05, 0.95]),
    ]
    np.testing.assert_allclose([float(x) for x in figures], [100, 8, *expected])


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
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["ES, M=10", "TS"]
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
    fastes.Greedy().start(BANDIT).save(tmp_path / "agent.npz")
    with pytest.raises(FileFormatError, match="is a fastes agent, not a problem"):
        fastes.LinearBandit.load(tmp_path / "agent.npz")
    result.save(tmp_path / "result.npz")
    with pytest.raises(FileFormatError, match="is a fastes result, not a problem"):
        fastes.LinearBandit.load(tmp_path / "result.npz")


def test_a_file_of_a_newer_format_is_refused(tmp_path, result, monkeypatch):
    monkeypatch.setattr("fastes.files.archive.FORMAT", 99)
    result.save(tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="has format 99; this version of fastes reads 2"):
        fastes.load(tmp_path / "new.npz")


def test_nothing_is_ever_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    np.savez(tmp_path / "bomb.npz", meta=np.array([Bomb()], dtype=object))
    with pytest.raises(FileFormatError):
        fastes.load(tmp_path / "bomb.npz")


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
    result.save(tmp_path / "r.npz")
    assert zipfile.is_zipfile(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz", allow_pickle=False) as file:
        assert json.loads(str(file["meta"]))["results"][0]["seed"] == 5
