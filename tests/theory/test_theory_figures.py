"""Figures of theory: each bound is drawn with what it bounds."""

from dataclasses import replace

import numpy as np
import pytest
from made_results import diagnosed, made, made_on
from matplotlib.figure import Figure

import fastes
from fastes.theory import bounds
from fastes.theory.constants import constants
from fastes.theory.figures import (
    draw_bounds,
    draw_divergence,
    draw_final_regret,
    draw_final_regret_and_bounds,
    draw_regret_and_bounds,
)

RESULTS = [
    *(diagnosed(made(M=M, points=6)) for M in (5, 50)),
    diagnosed(made("ts", points=6)),
]
OTHER = diagnosed(made(K=50, points=6))
TABLE = {
    **{"K": 30, "d": 5, "T": 250, "term_a": 80.0, "trivial": {"value": 400.0, "se": 1.0}},
    "rows": [
        {
            **{"M": M, "theorem1": 9e4 / M, "information": 7e4 / M, "fresh": 5e4 / M},
            **{"first_order": 8e4 / M, "reuse": 6e4 / M if M > 250 else None, "best": 5e4 / M},
        }
        for M in (10, 100, 1000)
    ],
}


def drawn(draw, results, **look):
    figure = Figure()
    draw(results, ax=figure, **look)
    figure.draw_without_rendering()
    return figure


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_bounds_are_thin_and_say_for_which_agent_they_are():
    figure = drawn(draw_regret_and_bounds, RESULTS)
    (ax,) = figure.axes
    found = lines(ax)
    known = RESULTS[0].diagnostics.constants
    for M in (5, 50):
        measured, bound = found[f"ES, M={M}"], found[f"best bound for ES, M={M}"]
        assert bound.get_color() == measured.get_color()
        assert bound.get_linewidth() < measured.get_linewidth()
        expected = [bounds.best_bound(known, int(t), M) for t in bound.get_xdata()]
        np.testing.assert_allclose(bound.get_ydata(), expected)
        assert ax.get_ylim()[1] > max(expected)
    assert set(found) - {"_nolegend_"} == set(entries(figure))
    assert "bound for TS: term (a)" in found


def test_the_divergence_is_drawn_with_the_bound_on_it_and_with_no_other():
    figure = drawn(draw_divergence, RESULTS[:2])
    (ax,) = figure.axes
    found = lines(ax)
    assert entries(figure) == [
        *("ES, M=5", "ES, M=50", "bound on KL for ES, M=5", "bound on KL for ES, M=50")
    ]
    opened = [x for x in ax.get_lines() if x.get_markerfacecolor() == "none"]
    for result, M, kl in zip(RESULTS, (5, 50), opened, strict=False):
        measured, bound = found[f"ES, M={M}"], found[f"bound on KL for ES, M={M}"]
        assert bound.get_color() == measured.get_color() == kl.get_color()
        t, mean = result.diagnostics.t, result.diagnostics.mean
        np.testing.assert_allclose(bound.get_ydata(), bounds.divergence_bound(20, t, M))
        np.testing.assert_allclose(measured.get_ydata(), mean("hellinger_squared").value)
        np.testing.assert_allclose(kl.get_ydata(), mean("kl_phat_p").value)
    assert "open: $E" in figure.legends[0].get_title().get_text()


def test_a_mean_that_leaves_out_runs_is_not_drawn():
    figure = drawn(draw_divergence, [diagnosed(made(M=5), infinite=1)])
    assert "open: " not in figure.legends[0].get_title().get_text()
    assert len(lines(figure.axes[0])) == 2


def test_a_divergence_that_is_nowhere_above_zero_is_not_drawn():
    nothing = diagnosed(made("ts"), divergence=-1e-6)
    figure = drawn(draw_divergence, [RESULTS[0], nothing])
    assert "TS" not in entries(figure)
    with pytest.raises(ValueError, match="no result has a positive divergence to draw"):
        drawn(draw_divergence, [nothing])


BANDIT = fastes.LinearBandit.random(20, 3)


def plain(agent="es", **facts):
    """Return a result that has a problem, and no diagnostics."""
    return made_on(BANDIT, agent=agent, **facts)


def test_results_without_diagnostics_have_bounds_all_the_same():
    figure = drawn(draw_regret_and_bounds, [plain(M=5), plain("ts")])
    assert entries(figure)[2:] == [
        *("best bound for ES, M=5", "Theorem 1 for ES, M=5"),
        *("bound for TS: term (a)", "random play"),
    ]
    found = lines(figure.axes[0])
    best, paper = (found[f"{name} for ES, M=5"] for name in ("best bound", "Theorem 1"))
    assert best.get_linestyle() != paper.get_linestyle()
    known = constants(BANDIT)
    assert paper.get_ydata()[-1] == bounds.theorem1(known, 200, 5)
    with pytest.raises(ValueError, match="holds no diagnostics"):
        drawn(draw_divergence, [made()])


def test_bounds_are_drawn_against_the_number_of_models():
    symmetric = plain(M=8, symmetric=True)
    figure = drawn(draw_final_regret_and_bounds, [plain(M=8), plain(M=2), symmetric, plain("ts")])
    (ax,) = figure.axes
    found, known = lines(ax), constants(BANDIT)
    for name, bound in (("best bound", bounds.best_bound), ("Theorem 1", bounds.theorem1)):
        line = found[f"{name} for ES"]
        assert list(line.get_xdata()) == [2, 8]
        assert list(line.get_ydata()) == [bound(known, 200, M) for M in (2, 8)]
    assert set(found["bound for TS: term (a)"].get_ydata()) == {bounds.term_a(known, 200)}
    assert ax.get_yscale() == "log"
    # Symmetric ensembles, and those that learn the noise or forget, are not those of the paper.
    learns = plain(M=8, noise="learned", regret=np.ones((3, 50)))
    for other in (symmetric, learns, plain(M=8, discount=0.9)):
        figure = drawn(draw_final_regret_and_bounds, [other])
        assert not any("for ES" in text for text in lines(figure.axes[0]))


def test_results_with_a_fixed_theta_have_no_bounds():
    for draw in (draw_divergence, draw_regret_and_bounds, draw_final_regret_and_bounds):
        with pytest.raises(ValueError, match="do not apply to ES, M=30: theta was fixed"):
            drawn(draw, [diagnosed(made(theta="fixed, ab"))])
        c = made().configuration._replace(truth="noise 2.0")
        with pytest.raises(ValueError, match="the truth differed from the belief"):
            drawn(draw, [diagnosed(replace(made(), configuration=c))])


@pytest.mark.parametrize("draw", [draw_divergence, draw_regret_and_bounds, draw_final_regret])
def test_different_problems_have_a_panel_each(draw):
    figure = drawn(draw, [*RESULTS, OTHER])
    assert [ax.get_title() for ax in figure.axes] == ["K=20, d=3", "K=50, d=3"]
    with pytest.raises(ValueError, match="cannot show 2 panels"):
        draw([*RESULTS, OTHER], Figure().subplots())


def test_final_regret_is_drawn_against_m_and_across_for_those_without():
    results = [made(M=8), made(M=2), made("ts"), made("linucb", alpha=1.0)]
    figure = drawn(draw_final_regret, results)
    (ax,) = figure.axes
    found = lines(ax)
    assert list(found["ES"].get_xdata()) == [2, 8]
    assert list(found["ES"].get_ydata()) == [results[1].regret.mean[-1], results[0].regret.mean[-1]]
    level = found["TS"]
    assert set(level.get_ydata()) == {results[2].regret.mean[-1]}
    assert level.get_transform() != ax.transData  # from side to side
    assert len(ax.patches) == 2  # the levels' bands
    note = figure.legends[0].get_title().get_text()
    assert note == "bars and bands: mean ± two standard errors"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "8"]
    with pytest.raises(ValueError, match="facet must not be M"):
        drawn(draw_final_regret, results, facet="M")
    with pytest.raises(ValueError, match="needs results of ensemble sampling"):
        drawn(draw_final_regret, results[2:])


def test_horizons_are_not_compared():
    figure = drawn(draw_final_regret, [made(M=2), made(M=2, T=100), made(M=8)])
    assert [ax.get_title() for ax in figure.axes] == ["T=100", "T=200"]


def test_the_bounds_of_a_table_say_for_whom_they_are():
    figure = drawn(lambda table, ax: draw_bounds(table, ax), TABLE)
    assert figure.get_suptitle() == "K=30, d=5, T=250"
    assert entries(figure) == [
        "bound for ES: best of all",
        "bound for ES: Theorem 1",
        "bound for ES: information",
        "bound for ES: Theorem A, fresh models",
        "bound for ES: Theorem B, first order",
        "bound for ES: Theorem C, reuse of models",
        "bound for TS: term (a)",
        "random play",
    ]
    ax = Figure().subplots()
    assert draw_bounds(TABLE, ax) is ax
    with pytest.raises(TypeError, match=r"ax must be matplotlib Axes, got 'x.png'"):
        draw_bounds(TABLE, "x.png")


HOSTILE = {
    "all one": [made(K=1, d=1, T=1, runs=1, M=1), made("ts", K=1, d=1, T=1, runs=1)],
    "one run": [made(runs=1), made("ts", runs=1)],
    "huge": [made(scale=1e300), made("ts", scale=1e303)],
    "tiny": [made(scale=1e-200), made("ts", scale=1e-200)],
    "two steps": [made(T=2), made("ts", T=2)],
}


@pytest.mark.parametrize("results", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("draw", [draw_divergence, draw_regret_and_bounds, draw_final_regret])
def test_nothing_warns_whatever_the_shape(results, draw):
    entropy = 0.0 if results[0].configuration.K == 1 else 1.0
    diagnoses = [diagnosed(result, entropy=entropy) for result in results]
    drawn(draw, diagnoses, facet="agent", logx=True, logy=True)


def test_a_problem_without_regret_has_no_place_on_a_logarithmic_axis():
    still = diagnosed(made(K=1, d=1, regret=np.zeros((3, 50))), entropy=0.0)
    with pytest.raises(ValueError, match="cannot show ES, M=30, which is never above zero"):
        drawn(draw_regret_and_bounds, [still])
    table = {**TABLE, "term_a": 0.0, "trivial": {"value": 0.0, "se": 0.0}}
    drawn(lambda table, ax: draw_bounds(table, ax), table)
