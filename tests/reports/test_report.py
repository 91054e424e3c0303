"""What is in a report: the numbers of the results, in the styles of figures."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from made_results import diagnosed, made
from pages import charts, data, page_of, sections, tables

import fastes
from fastes.files.kinds import FileFormatError
from fastes.reports.benchmarks import read_record
from fastes.reports.charts import line_of
from fastes.results.comparison import Comparison, difference
from fastes.results.curve_styles import curve_styles, on_dark
from fastes.results.files import save_results
from fastes.studies.execution import create_file, plan
from fastes.theory import bounds
from fastes.theory.constants import constants
from fastes.theory.inequalities import diagnostics_of

AGENTS = [made(M=4), made(M=32), made("ts"), made("greedy")]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.db"
    words = {"agent": ["es", "ts", "greedy"], "M": [2, 8], "K": [5, 12], "d": 3, "T": 40}
    return fastes.sweep(fastes.Study(**words, runs=6, points=10), path)


def test_regret_in_the_page_is_that_of_the_results(tmp_path):
    (chart,) = charts(page_of(AGENTS, tmp_path), "cumulative regret")
    assert [trace["label"] for trace in chart["traces"]] == ["ES, M=4", "ES, M=32", "TS", "Greedy"]
    for trace, result in zip(chart["traces"], AGENTS, strict=True):
        mean, se = result.regret.mean, result.regret.se
        assert trace["x"] == result.t.tolist()
        assert trace["y"] == mean.tolist()  # every point, to the bit
        assert trace["low"] == (mean - 2 * se).tolist()
        assert trace["high"] == (mean + 2 * se).tolist()
        assert trace["marks"] == "band"
    assert chart["spread"] == "Bands: mean ± two standard errors over runs."
    assert chart["title"] == "K=20, d=3, T=200, 10 runs"


@pytest.mark.parametrize(("baseline", "base"), [(None, 3), ("ts", 2), ("ES, M=4", 0), (1, 1)])
def test_differences_are_paired(baseline, base, tmp_path):
    page = page_of(AGENTS, tmp_path, baseline=baseline)
    label = AGENTS[base].label
    (chart,) = charts(page, f"regret minus that of {label}")
    others = [result for result in AGENTS if result.label != label]
    curves = [trace for trace in chart["traces"] if trace["role"] == "curve"]
    (table,) = [t for t in tables(page) if t["caption"].startswith("Paired differences")]
    for trace, row, result in zip(curves, table["rows"], others, strict=True):
        found = difference(result, AGENTS[base])
        assert trace["y"] == found.regret.mean.tolist()
        assert trace["high"] == (found.regret.mean + 2 * found.regret.se).tolist()
        assert row[:2] == [result.label, label]
        assert row[3:5] == [repr(found.mean), repr(found.se)]
    assert [t["y"] for t in chart["traces"] if t["role"] == "reference"] == [[0.0]]


def test_an_unknown_baseline_is_refused_before_a_file_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"baseline must be one of 'ES, M=4', .* got 'x'"):
        fastes.report(Comparison(tuple(AGENTS)), tmp_path / "r.html", baseline="x")
    assert not (tmp_path / "r.html").exists()


def test_quantiles_are_those_of_the_runs(tmp_path):
    (table,) = [t for t in tables(page_of(AGENTS, tmp_path)) if "quantiles" in t["caption"]]
    assert table["header"][4:9] == [
        *("5% quantile", "25% quantile", "median", "75% quantile", "95% quantile"),
    ]
    for row, result in zip(table["rows"], AGENTS, strict=True):
        want = np.quantile(result.regret.final, [0.05, 0.25, 0.5, 0.75, 0.95])
        assert row[4:9] == [repr(float(value)) for value in want]


def test_of_one_run_there_are_no_errors_and_no_quantiles(tmp_path):
    page = page_of([made(runs=1)], tmp_path)
    (chart,) = charts(page, "cumulative regret")
    assert chart["traces"][0]["low"] is None
    assert chart["spread"] == "A single run has no standard error."
    (table,) = [t for t in tables(page) if "quantiles" in t["caption"]]
    assert table["rows"][0][3:9] == [""] * 6
    assert "Differences" not in page


def test_styles_are_those_of_figures_and_the_same_in_all_charts_of_a_section(tmp_path):
    page = page_of(AGENTS, tmp_path, baseline="ES, M=4")
    styles = curve_styles([result.configuration.agent for result in AGENTS])
    want = {r.label: line_of(s.line()) for r, s in zip(AGENTS, styles, strict=True)}
    for chart in data(page):
        for trace in chart["traces"]:
            if trace["role"] == "curve":
                assert trace["line"] == want[trace["key"]], (chart["y"], trace["label"])
    assert want["TS"]["dark"] == on_dark(want["TS"]["colour"])
    assert len({line["dash"] for line in want.values()}) == 4


def test_many_agents_share_a_chart_or_have_several(tmp_path):
    many = [*(made(M=M) for M in range(1, 31)), made("ts")]
    (chart,) = charts(page_of(many, tmp_path), "cumulative regret")
    assert len({trace["line"]["colour"] for trace in chart["traces"]}) == 31
    apart = [made(K=K) for K in range(5, 45)]  # more panels than a figure may have
    found = charts(page_of(apart, tmp_path), "cumulative regret")
    assert len(found) == 40
    assert len({chart["title"] for chart in found}) == 40


def test_arms_played(tmp_path):
    counts = np.arange(20)[::-1].copy()
    result = replace(made(T=19, runs=10), counts=counts)
    page = page_of([result], tmp_path)
    (chart,) = charts(page, "share of all plays")
    assert chart["traces"][0]["x"] == list(range(1, 21))
    assert chart["traces"][0]["y"] == (np.cumsum(counts) / counts.sum()).tolist()
    (table,) = [t for t in tables(page) if "most played" in t["caption"]]
    assert [row[2:4] for row in table["rows"]] == [[str(i), str(19 - i)] for i in range(10)]
    assert "at most" not in page


def test_what_is_not_drawn_is_said(tmp_path):
    K = 1000
    result = replace(made(K=K, T=100), counts=np.full(K, 1))
    page = page_of([result], tmp_path)
    (chart,) = charts(page, "share of all plays")
    assert len(chart["traces"][0]["x"]) <= 200
    assert (chart["traces"][0]["x"][0], chart["traces"][0]["x"][-1]) == (1, K)
    assert "Of up to 1,000 numbers of arms at most 200 are drawn" in page


def test_diagnostics_are_beside_their_bounds(tmp_path):
    results = [diagnosed(made(M=10)), diagnosed(made("ts"), divergence=0.2)]
    page = page_of(results, tmp_path)
    found, M = diagnostics_of(results[0]), 10
    (kl,) = charts(page, "E[KL(p̂ ‖ p)], nats")
    by_role = {trace["role"]: trace for trace in kl["traces"] if "ES" in trace["label"]}
    assert by_role["curve"]["y"] == found.mean("kl_phat_p").value.tolist()
    assert by_role["bound"]["y"] == bounds.divergence_bound(20, found.t, M).tolist()
    assert by_role["bound"]["owner"] == by_role["curve"]["key"]
    assert by_role["bound"]["line"] == by_role["curve"]["line"]
    (regret,) = charts(page, "cumulative regret, and bounds on it")
    best = next(trace for trace in regret["traces"] if trace["role"] == "bound")
    assert best["y"][-1] == pytest.approx(bounds.best_bound(found.constants, 200, M))
    (ratio,) = charts(page, "information ratio E[G²] / E[I]")
    (limit,) = [trace for trace in ratio["traces"] if trace["role"] == "reference"]
    assert limit["y"] == [found.constants.iota**2 * found.constants.d]
    (error,) = charts(page, "E[D], the approximation error")
    distance = found.mean("hellinger_squared").value
    drawn = next(trace for trace in error["traces"] if trace["role"] == "bound")
    assert drawn["y"] == (found.constants.eta.value * np.sqrt(distance)).tolist()


VARIANTS = [
    ("es", {"M": 10, "symmetric": True}),
    ("es", {"M": 10, "inflation": 2.0}),
    ("es", {"M": 10, "perturbations": "signs"}),
    ("es++", {"M": 10}),
]


@pytest.mark.parametrize(("agent", "parameters"), VARIANTS)
def test_bounds_on_ensemble_sampling_are_for_no_variant_of_it(agent, parameters, tmp_path):
    known = made(M=10).configuration._replace(agent=agent, parameters=parameters)
    varied = diagnosed(replace(made(M=10), configuration=known))
    page = page_of([varied, diagnosed(made("greedy"))], tmp_path)
    for y in ("E[KL(p̂ ‖ p)], nats", "E[Hel²(p̂, p)]", "cumulative regret, and bounds on it"):
        (chart,) = charts(page, y)
        assert not [trace for trace in chart["traces"] if trace["role"] == "bound"]


def test_a_study_has_bounds_at_the_settings_that_they_are_on(tmp_path):
    words = {"agent": ["es", "ts"], "M": 4, "inflation": [1, 2], "K": 5, "d": 3, "T": 40}
    found = fastes.sweep(fastes.Study(**words, runs=3, points=10), tmp_path / "study.db")
    (against,) = charts(page_of(found, tmp_path), "regret at T=40")
    limits = [trace for trace in against["traces"] if trace["role"] == "bound"]
    assert [[y is None for y in limit["y"]] for limit in limits] == [[False, True]] * 2


def test_where_a_divergence_is_infinite_none_is_drawn_and_the_table_says_so(tmp_path):
    page = page_of([diagnosed(made(), infinite=3)], tmp_path)
    assert charts(page, "E[KL(p̂ ‖ p)], nats") == []
    assert "infinite in 3 runs" in page


def test_a_fixed_theta_has_no_bounds(tmp_path):
    page = page_of([diagnosed(made(theta="fixed 0123"))], tmp_path)
    assert not any(trace["role"] != "curve" for chart in data(page) for trace in chart["traces"])
    assert "a result with a fixed theta has none" in page


def test_a_study_against_each_axis_with_bounds(study, tmp_path):
    page = page_of(study, tmp_path)
    found = {(s.agent.label, s.problem.K): r for s, r in study.results()}
    titles = [title for _, title in sections(page)]
    assert {"Regret against models M", "Regret against K", "Regret against time"} <= set(titles)
    assert "Regret against agent" not in titles
    against_m, against_k = charts(page, "regret at T=40")
    by_label = {trace["label"]: trace for trace in against_m["traces"]}
    curve, limit = by_label["ES, K=12"], by_label["bound on ES, K=12"]
    pair = [found["ES, M=2", 12], found["ES, M=8", 12]]
    assert curve["x"] == limit["x"] == [2, 8]
    assert curve["y"] == [float(result.regret.mean[-1]) for result in pair]
    known = constants(pair[0].bandit)
    assert limit["y"] == [bounds.best_bound(known, 40, M) for M in (2, 8)]
    assert by_label["TS, K=12"]["x"] == [None]  # a level: it has no M
    assert by_label["bound on TS, K=12"]["y"] == [bounds.term_a(known, 40)]
    assert "bound on Greedy, K=12" not in by_label
    assert {trace["label"] for trace in against_k["traces"] if trace["role"] == "curve"} == {
        *("ES, M=2", "ES, M=8", "TS", "Greedy"),
    }
    assert against_k["ticks"] == [5, 12]
    over_time = charts(page, "cumulative regret")
    assert sum(len(chart["traces"]) for chart in over_time) == len(study.results()) == 8
    assert not any(
        t["role"] == "bound"
        for c in data(page_of(study, tmp_path, bounds=False))
        for t in c["traces"]
    )


def test_a_study_says_how_far_it_is(study, tmp_path):
    assert "8 of 8 tasks are done." in page_of(study, tmp_path)
    path = tmp_path / "part.db"
    create_file(path, plan(study.study))
    page = page_of(str(path), tmp_path)
    assert "0 of 8 tasks are done." in page
    assert "There are no results yet." in page


def test_benchmarks_over_commits_by_processor(tmp_path):
    files = []
    for i, cpu in enumerate(["fast", "fast", "slow"]):
        ratios = {"scan/a": [2.0 + i, 4.0 + i, 3.0 + i], "scan/b": [8.0]}
        record = {"commit": f"c0ffee{i}", "date": f"2026-01-0{3 - i}", "cpu": cpu}
        record |= {"versions": {"numpy": "2"}, "ratios": ratios, "seconds": {"scan/a": 1e-6}}
        files.append(tmp_path / f"{i}.json")
        files[-1].write_text(json.dumps(record))
    page = page_of(files, tmp_path)
    (chart,) = data(page)
    a, b = chart["traces"]
    assert chart["names"] == a["x"] == ["2026-01-02 c0ffee1", "2026-01-03 c0ffee0"]  # by date
    assert (a["label"], a["y"], a["low"], a["high"]) == ("a", [4.0, 3.0], [3.5, 2.5], [4.5, 3.5])
    assert (b["low"], b["high"]) == ([8.0, 8.0], [8.0, 8.0])
    assert "one record of this processor" in page
    assert [title for _, title in sections(page)][:3] == ["Benchmarks", "slow", "fast"]


@pytest.mark.parametrize(
    "change", [{"ratios": {"a": [0.0]}}, {"ratios": {"a": []}}, {"commit": 3}, {"more": 1}]
)
def test_a_wrong_record_is_refused(change, tmp_path):
    record = {"commit": "c0", "date": "", "cpu": "", "versions": {}, "ratios": {}, "seconds": {}}
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record | change))
    with pytest.raises(FileFormatError, match="is no record of benchmarks"):
        read_record(path)


def test_several_files_are_one_report(study, tmp_path):
    save_results(tmp_path / "a.npz", [made(M=4)])
    save_results(tmp_path / "b.npz", [made("ts")])
    save_results(tmp_path / "c.npz", [made("ts", K=7)])
    page = page_of([*(tmp_path / f"{name}.npz" for name in "abc"), study], tmp_path)
    assert len(charts(page, "regret minus that of TS")) == 1
    assert len(charts(page, "regret minus that of Greedy")) == 2  # of the study, by K
    titles = [title for level, title in sections(page) if level == 2]
    assert titles == ["Regret", "Study study.db", "What was run, and how to run it again"]
    (table,) = [t for t in tables(page) if t["caption"].startswith("Regret at T, and its")]
    assert table["header"][:3] == ["agent", "K", "runs"]


@pytest.mark.parametrize("given", [[], 3, [3]])
def test_what_a_report_cannot_be_of_is_refused(given, tmp_path):
    with pytest.raises((TypeError, ValueError), match=r"a report (is of|must be of)|not iterable"):
        fastes.report(given, tmp_path / "r.html")


def test_a_problem_is_no_result(tmp_path):
    fastes.LinearBandit.random(5, 2).save(tmp_path / "p.npz")
    with pytest.raises(FileFormatError, match=r"p.npz holds no result: fastes show"):
        fastes.report(tmp_path / "p.npz", tmp_path / "r.html")


def test_the_page_asks_for_nothing_from_elsewhere(tmp_path):
    page = page_of(AGENTS, tmp_path)
    head = page[: page.index("<style>")]
    assert "default-src 'none'" in head
    assert "unsafe-eval" not in page
    outside = re.sub(r'<script type="text/plain" id="library">.*?</script>', "", page)
    assert not re.search(r"https?://|//[a-z]+\.|<link|<iframe|<img|@import|url\(", outside)
