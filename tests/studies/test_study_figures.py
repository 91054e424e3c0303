"""Figures of studies: every curve has its own style, and there are the panels asked for."""

import numpy as np
import pytest
from made_results import made
from matplotlib.figure import Figure
from sweeps import SMALL, run

import fastes
from fastes.studies.figures import draw_against, usual_x


def results_of(**words):
    """Return the settings of a study, each with a result."""
    pairs = []
    for setting in fastes.Study(**{"T": 50, **words}).settings:
        axes = setting.axes
        given = {name: axes[name] for name in ("M", "alpha") if axes[name] is not None}
        problem = {"K": axes["K"], "d": axes["d"], "T": axes["T"]}
        pairs.append((setting, made(axes["agent"], points=3, **problem, **given)))
    return pairs


LARGE = results_of(agent=["es", "ts", "greedy"], M=[2, 8, 32], K=[10, 100, 1000], d=[2, 5, 10])


def drawn(results, x=None, **look):
    figure = Figure()
    draw_against(results, x, figure, **look)
    figure.draw_without_rendering()
    return figure


def lines(ax):
    return {x.get_label(): x for x in ax.get_lines() if not x.get_label().startswith("_")}


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize(("x", "facet"), [("M", "K"), ("K", "d"), ("d", "agent"), ("agent", "M")])
def test_a_study_of_three_axes_is_readable(x, facet):
    figure, (whole,) = drawn(LARGE, x, facet=facet), drawn(LARGE, x).axes
    assert len({ax.get_title() for ax in figure.axes}) == len(figure.axes) == 3
    for ax in (*figure.axes, whole):
        seen = lines(ax).values()
        looks = {(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in seen}
        assert 2 <= len(looks) == len(seen)


def test_agents_without_m_are_levels_with_bands():
    results = results_of(agent=["es", "ts", "linucb"], M=[2, 8], alpha=[0.5, 1.0])
    figure = drawn(results, "M")
    (ax,) = figure.axes
    assert entries(figure) == ["ES", "TS", "LinUCB, alpha=0.5", "LinUCB, alpha=1"]
    found = lines(ax)
    assert list(found["ES"].get_xdata()) == [2, 8]
    (_, ts) = next(pair for pair in results if pair[0].axes["agent"] == "ts")
    assert set(found["TS"].get_ydata()) == {ts.regret.mean[-1]}
    bands = [patch.get_extents().transformed(ax.transData.inverted()) for patch in ax.patches]
    assert len(bands) == 3
    assert bands[0].height == pytest.approx(4 * ts.regret.se[-1])
    (bars,) = ax.collections
    lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    errors = [r.regret.se[-1] for setting, r in results if setting.axes["agent"] == "es"]
    np.testing.assert_allclose(lengths, 4 * np.array(errors))
    note = figure.legends[0].get_title().get_text()
    assert note == "bars and bands: mean ± two standard errors"
    assert figure.get_suptitle() == "K=100, d=10, T=50, 10 runs"


def test_a_panel_of_levels_only_has_the_axis_of_the_others():
    figure = drawn(results_of(agent=["es", "ts"], M=[2, 8]), "M", facet="agent")
    assert [ax.get_title() for ax in figure.axes] == ["ES", "TS"]
    ticks = [[text.get_text() for text in ax.get_xticklabels()] for ax in figure.axes]
    assert ticks[0] == ticks[1] == ["2", "8"]


@pytest.mark.parametrize(
    ("words", "x"),
    [
        ({"agent": ["es", "ts"], "M": [2, 4], "K": [10, 20]}, "M"),
        ({"agent": ["es", "ts"], "K": [10, 20]}, "K"),
        ({"agent": ["es", "ts"]}, "agent"),
        ({}, "agent"),
    ],
)
def test_without_x_it_is_m_or_a_number_that_is_varied(words, x):
    results = results_of(**words)
    assert usual_x(results) == x
    drawn(results)


def test_where_and_facet_choose_among_settings():
    figure = drawn(LARGE, "M", where={"K": "10,100", "agent": "es"}, facet="K")
    assert [ax.get_title() for ax in figure.axes] == ["K=10", "K=100"]
    assert entries(figure) == ["ES, d=2", "ES, d=5", "ES, d=10"]


@pytest.mark.parametrize(
    ("look", "message"),
    [
        ({"x": "Q"}, "x must be one of agent, M, .*, got 'Q'"),
        ({"x": "alpha"}, "no agent of the study has alpha"),
        ({"x": "M", "facet": "M"}, "facet must be another axis than x, got 'M' for both"),
        (
            {"x": "M", "facet": "alpha"},
            "facet must be a fact of some curve, but no curve has",
        ),
        ({"x": "M", "where": {"K": 3}}, "where asks for K=3, but K is 10 or 100 or 1000"),
        ({"x": "agent", "logx": True}, "logx needs an axis of numbers above zero, got x=agent"),
    ],
)
def test_what_makes_no_sense_is_refused(look, message):
    with pytest.raises(ValueError, match=message):
        drawn(LARGE, **look)


def test_a_study_without_results_is_refused():
    with pytest.raises(ValueError, match="the study has no results yet"):
        drawn([])


def test_a_sweep_plots_itself(tmp_path):
    sweep = run(tmp_path / "a.db")
    figure = Figure()
    ax = sweep.plot(ax=figure, facet="K")
    assert ax is figure.axes[0]
    assert [each.get_title() for each in figure.axes] == ["K=12, d=3", "K=30, d=3"]
    mean = {s.axes["M"]: r.regret.mean[-1] for s, r in sweep.results() if s.axes["K"] == 12}
    assert list(lines(ax)["ES"].get_ydata()) == [mean[2], mean[5]]
    assert figure.get_suptitle() == f"T=60, {SMALL['runs']} runs"
    with pytest.raises(TypeError, match=r"ax must be matplotlib Axes, got 'x.png'"):
        sweep.plot("M", "x.png")


def test_names_stand_beside_each_other_and_are_not_joined():
    figure = drawn(results_of(agent=["es", "ts"], K=[10, 20, 40], M=3), "agent")
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_xticklabels()] == ["ES", "TS"]
    found = list(lines(ax).values())
    assert all(line.get_linestyle() == "None" for line in found)
    assert len({line.get_xdata()[0] for line in found}) == 3


def test_a_theta_that_stays_is_beside_those_that_drift():
    drifts = ["ar:0.9", "none", "abrupt:5,9"]
    (ax,) = drawn(results_of(agent=["es", "ts"], truth_drift=drifts, M=3), "truth_drift").axes
    assert [text.get_text() for text in ax.get_xticklabels()] == drifts
    assert len(lines(ax)) == 2


@pytest.mark.parametrize("x", ["M", "K", "T", "agent"])
def test_a_single_setting_draws_without_warnings(x):
    results = [(setting, made(M=1, regret=np.zeros((1, 1)), T=1)) for setting, _ in results_of(T=1)]
    drawn(results, x)
    drawn(results, x, title="One point")
