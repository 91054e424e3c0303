"""What is in a report: the numbers of the results, in the styles of figures."""

import re
from dataclasses import replace

import numpy as np
import pytest
from made_results import diagnosed, made, made_on
from pages import charts, data, page_of, sections, tables

import fastes
from fastes.files.kinds import FileFormatError
from fastes.results.comparison import Comparison, difference
from fastes.results.curve_styles import curve_styles
from fastes.results.files import save_results
from fastes.results.tables import PER_STEP, REGRET, RUNS, result_tables, rounded
from fastes.studies.execution import create_file, plan
from fastes.theory import bounds
from fastes.theory.constants import constants
from fastes.theory.inequalities import diagnostics_of, distance_at_most

AGENTS = [made(M=4), made(M=32), made("ts"), made("greedy")]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.db"
    axes = {"agent": ["es", "ts", "greedy"], "M": [2, 8], "K": [5, 12], "d": 3, "T": 40}
    return fastes.sweep(fastes.Study(**axes, runs=6, points=10), path)


def curves(chart, role="curve"):
    return [trace for trace in chart["traces"] if trace["role"] == role]


def test_regret_in_the_page_is_that_of_the_results(tmp_path):
    (chart,) = charts(page_of(AGENTS, tmp_path), "cumulative regret")
    assert [trace["label"] for trace in chart["traces"]] == ["ES, M=4", "ES, M=32", "TS", "Greedy"]
    for trace, result in zip(chart["traces"], AGENTS, strict=True):
        mean, se = result.regret.mean, result.regret.se
        assert trace["x"] == result.t.tolist()
        assert trace["y"] == mean.tolist()  # every point, to the bit
        assert trace["low"] == (mean - 2 * se).tolist()
        assert trace["high"] == (mean + 2 * se).tolist()
    assert chart["spread"] == "Bands: mean ± two standard errors over runs."
    assert chart["title"] == "K=20, d=3, T=200, 10 runs"


@pytest.mark.parametrize(("baseline", "base"), [(None, 3), ("ts", 2), ("ES, M=4", 0), (1, 1)])
def test_differences_are_paired(baseline, base, tmp_path):
    page = page_of(AGENTS, tmp_path, baseline=baseline)
    label = AGENTS[base].label
    (chart,) = charts(page, f"regret minus that of {label}")
    others = [result for result in AGENTS if result.label != label]
    for trace, result in zip(curves(chart), others, strict=True):
        found = difference(result, AGENTS[base])
        assert trace["y"] == found.regret.mean.tolist()
        assert trace["high"] == (found.regret.mean + 2 * found.regret.se).tolist()
        assert f"{result.label} minus {label}, run by run: " in page
    (zero,) = curves(chart, "reference")
    assert (zero["x"], set(zero["y"])) == (AGENTS[0].t.tolist(), {0.0})


def test_an_unknown_baseline_is_refused_before_a_file_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"baseline must be one of 'ES, M=4', .* got 'x'"):
        fastes.report(Comparison(tuple(AGENTS)), tmp_path / "r.html", baseline="x")
    assert not (tmp_path / "r.html").exists()


def test_the_table_is_that_of_the_results(tmp_path):
    table = tables(page_of(AGENTS, tmp_path))[0]
    (grid,) = [part for part in result_tables(AGENTS) if not isinstance(part, str)]
    assert (table["header"], table["rows"]) == (grid.header, grid.rows)
    for row, result in zip(table["rows"], AGENTS, strict=True):
        low, median, high = np.quantile(result.regret.final, [0.05, 0.5, 0.95])
        assert row[2:4] == [rounded(median), f"{rounded(low)} to {rounded(high)}"]


def test_one_run_has_no_errors_and_no_quantiles(tmp_path):
    page = page_of([made(runs=1)], tmp_path)
    (chart,) = charts(page, "cumulative regret")
    assert chart["traces"][0]["low"] is None
    assert chart["spread"] == "A single run has no standard error."
    assert "median" not in tables(page)[0]["header"]
    assert "Differences" not in page


def test_styles_are_those_of_figures_in_all_charts(tmp_path):
    styles = curve_styles([result.configuration.agent for result in AGENTS])
    want = {r.label: s.line()["color"] for r, s in zip(AGENTS, styles, strict=True)}
    found = data(page_of(AGENTS, tmp_path, baseline="ES, M=4"))
    for trace in [trace for chart in found for trace in curves(chart)]:
        assert trace["line"]["colour"] == want[trace["key"]]
    assert len({trace["line"]["dash"] for trace in found[0]["traces"]}) == 4
    assert len({trace["line"]["symbol"] for trace in found[0]["traces"]}) == 4


def test_many_agents_share_a_chart_or_have_several(tmp_path):
    many = [*(made(M=M) for M in range(1, 31)), made("ts")]
    (chart,) = charts(page_of(many, tmp_path), "cumulative regret")
    looks = {(trace["line"]["colour"], trace["line"]["dash"]) for trace in chart["traces"]}
    assert len(looks) == 31
    apart = [made(K=K) for K in range(5, 45)]  # more panels than a figure may have
    found = charts(page_of(apart, tmp_path), "cumulative regret")
    assert len(found) == 40
    assert len({chart["title"] for chart in found}) == 40


@pytest.mark.parametrize("K", [20, 1000])
def test_arms_played(K, tmp_path):
    counts = np.arange(K)[::-1].copy()
    page = page_of([replace(made(K=K, T=K - 1, runs=K // 2), counts=counts)], tmp_path)
    (chart,) = charts(page, "share of all plays")
    (trace,) = chart["traces"]
    ranks = np.array(trace["x"])
    assert (ranks[0], ranks[-1]) == (1, K)
    assert len(ranks) <= 200
    assert trace["y"] == (np.cumsum(counts) / counts.sum())[ranks - 1].tolist()


SETS = [
    (fastes.LinearBandit(np.eye(2)), "K=2 arms, d=2", "given"),
    (fastes.LinearBandit.random(4, 2, seed=7), "K=4 arms, d=2", "sphere, drawn with seed 7"),
    (fastes.actions.Redrawn(4, 2), "K=4 arms, d=2", "redrawn every run, sphere"),
    (fastes.actions.Fresh(4, 2, "uniform"), "K=4 arms, d=2", "fresh every step, uniform"),
    (fastes.actions.Subset(np.eye(3), 2), "K=2 arms, d=3", "of a pool of 3, drawn every step"),
    (fastes.actions.Given(np.ones((5, 4, 2))), "K=4 arms, d=2", "given, 5 sets"),
    (fastes.actions.Ball(2), "d=2", "the ball"),
]


@pytest.mark.parametrize("from_file", [False, True])
@pytest.mark.parametrize(("actions", "sizes", "arms"), SETS, ids=[arms for _, _, arms in SETS])
def test_a_report_says_which_arms_are_on_offer(actions, sizes, arms, from_file, tmp_path):
    given = isinstance(actions, fastes.LinearBandit)
    bandit = actions if given else fastes.LinearBandit(actions)
    result = made_on(bandit)
    if from_file:
        result.save(tmp_path / "r.npz")
        result = fastes.load(tmp_path / "r.npz")
    page = page_of([result], tmp_path)
    (facts,) = [dict(t["rows"]) for t in tables(page) if t["rows"][0][0] == "problem"]
    assert (facts["problem"], facts["arms"]) == (f"{sizes}, noise 1", arms)
    assert "None" not in page
    assert ("Arms played" in page) == (bandit.action_set.counted_arms > 0)


def test_diagnostics_are_beside_their_bounds(tmp_path):
    results = [diagnosed(made(M=10)), diagnosed(made("ts"), divergence=0.2)]
    page = page_of(results, tmp_path)
    found, M = diagnostics_of(results[0]), 10
    (kl,) = charts(page, "E[KL(p̂ ‖ p)], nats")
    curve, (limit,) = curves(kl)[0], curves(kl, "bound")
    assert curve["y"] == found.mean("kl_phat_p").value.tolist()
    assert limit["y"] == bounds.divergence_bound(20, found.t, M).tolist()
    assert (limit["key"], limit["line"]) == (curve["key"], curve["line"])
    (regret,) = charts(page, "cumulative regret, and bounds")
    best, theorem1 = curves(regret, "bound")
    assert best["y"][-1] == pytest.approx(bounds.best_bound(found.constants, 200, M))
    assert theorem1["y"][-1] == pytest.approx(bounds.theorem1(found.constants, 200, M))
    assert len(best["x"]) == len(best["y"])
    assert best["x"][-1] == 200
    term_a, play = curves(regret, "reference")
    assert term_a["y"][-1] == bounds.term_a(found.constants, 200)
    assert play["y"][-1] == 200 * found.constants.trivial.value
    (ratio,) = charts(page, "information ratio E[G²] / E[I]")
    (limit,) = curves(ratio, "reference")
    assert set(limit["y"]) == {found.constants.iota**2 * found.constants.d}
    (error,) = charts(page, "E[D], the approximation error")
    most = found.constants.eta0_at_most * np.sqrt(distance_at_most(found))
    assert curves(error, "bound")[0]["y"] == most.tolist()
    divergences = [table for table in tables(page) if "KL(phat||p)" in table["header"]]
    assert [[row[0] for row in table["rows"]] for table in divergences] == [
        [str(t) for t in found.t] for _ in results
    ]


VARIANTS = [
    ("es", {"M": 10, "symmetric": True}),
    ("es", {"M": 10, "inflation": 2.0}),
    ("es", {"M": 10, "perturbations": "signs"}),
    ("es++", {"M": 10}),
]


@pytest.mark.parametrize(("agent", "parameters"), VARIANTS)
def test_bounds_on_ensemble_sampling_do_not_apply_to_variants(agent, parameters, tmp_path):
    known = made(M=10).configuration._replace(agent=agent, parameters=parameters)
    varied = diagnosed(replace(made(M=10), configuration=known))
    page = page_of([varied, diagnosed(made("greedy"))], tmp_path)
    for y in ("E[KL(p̂ ‖ p)], nats", "E[Hel²(p̂, p)]", "cumulative regret, and bounds"):
        (chart,) = charts(page, y)
        assert curves(chart, "bound") == []


def test_where_a_divergence_is_infinite_none_is_drawn_and_the_table_says_so(tmp_path):
    page = page_of([diagnosed(made(), infinite=3)], tmp_path)
    assert charts(page, "E[KL(p̂ ‖ p)], nats") == []
    assert "inf in 3" in page


def test_a_fixed_theta_has_no_bounds(tmp_path):
    page = page_of([diagnosed(made(theta="fixed 0123"))], tmp_path)
    assert not any(trace["role"] != "curve" for chart in data(page) for trace in chart["traces"])
    assert "not for a fixed theta" in page


def test_a_study_against_each_axis_with_bounds(study, tmp_path):
    page = page_of(study, tmp_path)
    found = {(s.agent.label, s.problem.K): r for s, r in study.results()}
    titles = [title for _, title in sections(page)]
    assert {"Regret against models M", "Regret against K", "Regret against time"} <= set(titles)
    assert "Regret against agent" not in titles
    against_m, against_k = charts(page, "regret at T=40")
    by_label = {trace["label"]: trace for trace in against_m["traces"]}
    curve, limit = by_label["ES, K=12"], by_label["bound for ES, K=12"]
    pair = [found["ES, M=2", 12], found["ES, M=8", 12]]
    assert curve["x"] == limit["x"] == [2, 8] == against_m["ticks"]
    assert curve["y"] == [float(result.regret.mean[-1]) for result in pair]
    known = constants(pair[0].bandit)
    assert limit["y"] == [bounds.best_bound(known, 40, M) for M in (2, 8)]
    assert by_label["TS, K=12"]["x"] == [2, 8]  # a level: it has no M
    assert by_label["bound for TS, K=12"]["y"] == [bounds.term_a(known, 40)] * 2
    assert "bound for Greedy, K=12" not in by_label
    assert {trace["label"] for trace in curves(against_k)} == {
        *("ES, M=2", "ES, M=8", "TS", "Greedy"),
    }
    assert against_k["ticks"] == [5, 12]
    over_time = charts(page, "cumulative regret")
    assert sum(len(chart["traces"]) for chart in over_time) == len(study.results()) == 8
    regrets = [[c.text(r) for c in (RUNS, REGRET, PER_STEP)] for _, r in study.results()]
    assert [row[3:] for row in tables(page)[0]["rows"]] == regrets
    assert not any(curves(chart, "bound") for chart in data(page_of(study, tmp_path, bounds=False)))


def test_a_study_has_bounds_at_the_settings_that_they_are_on(tmp_path):
    axes = {"agent": ["es", "ts"], "M": 4, "inflation": [1, 2], "K": 5, "d": 3, "T": 40}
    found = fastes.sweep(fastes.Study(**axes, runs=3, points=10), tmp_path / "study.db")
    (against,) = charts(page_of(found, tmp_path), "regret at T=40")
    limits = [[y is None for y in limit["y"]] for limit in curves(against, "bound")]
    assert limits == [[False, True]] * 2


def test_a_study_says_how_far_it_is(study, tmp_path):
    assert "study.db: 8 of 8 tasks done." in page_of(study, tmp_path)
    path = tmp_path / "part.db"
    create_file(path, plan(study.study))
    page = page_of(str(path), tmp_path)
    assert "part.db: 0 of 8 tasks done." in page
    assert "There are no results yet." in page


def test_several_files_are_one_report(study, tmp_path):
    save_results(tmp_path / "a.npz", [made(M=4)])
    save_results(tmp_path / "b.npz", [made("ts")])
    save_results(tmp_path / "c.npz", [made("ts", K=7)])
    page = page_of([*(tmp_path / f"{name}.npz" for name in "abc"), study], tmp_path)
    assert len(charts(page, "regret minus that of TS")) == 1
    assert len(charts(page, "regret minus that of Greedy")) == 2  # of the study, by K
    titles = [title for level, title in sections(page) if level == 2]
    assert titles == ["Regret", "Study study.db", "What was run, and how to repeat it"]
    assert [len(table["rows"]) for table in tables(page)[:2]] == [2, 1]


def test_it_says_how_each_result_was_made(study, tmp_path):
    stopped = replace(made("ts"), configuration=made("ts").configuration._replace(runs=9))
    page = page_of([made(), stopped], tmp_path)
    assert "some of 10 runs are missing for TS" in page
    facts = dict(tables(page)[-1]["rows"])
    assert facts["versions"] == "fastes 0, kernels 0, numpy 0, numba 0"
    assert (facts["seed"], facts["steps, T"]) == ("0", "200")
    facts = dict(tables(page_of(study, tmp_path))[-1]["rows"])
    assert facts["K"] == "5, 12"
    assert facts["to repeat it"] == f"fastes rerun {study.path}"
    assert f"fastes {fastes.__version__}" in facts["versions"]


@pytest.mark.parametrize("given", [[], 3, [3]])
def test_what_a_report_cannot_be_of_is_refused(given, tmp_path):
    with pytest.raises(
        (TypeError, ValueError), match=r"a report needs at least|files must be|not iterable"
    ):
        fastes.report(given, tmp_path / "r.html")


def test_a_problem_is_no_result(tmp_path):
    fastes.LinearBandit.random(5, 2).save(tmp_path / "p.npz")
    with pytest.raises(FileFormatError, match=r"p.npz is not a result or study: see fastes show"):
        fastes.report(tmp_path / "p.npz", tmp_path / "r.html")


def test_the_page_asks_for_nothing_from_elsewhere(tmp_path):
    page = page_of(AGENTS, tmp_path)
    head = page[: page.index("<style>")]
    assert "default-src 'none'" in head
    assert "unsafe-eval" not in page
    outside = re.sub(r'<script type="text/plain" id="library">.*?</script>', "", page)
    assert not re.search(r"https?://|//[a-z]+\.|<link|<iframe|<img|@import|url\(", outside)
