"""Figures of results: nothing on them may mislead."""

import numpy as np
import pytest
from made_results import made
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from fastes.results.figures import plot_differences, plot_regret, save_figure
from fastes.results.panels import MOST_CURVES, MOST_PANELS

ELEVEN = [made(M=2**i) for i in range(1, 10)] + [made("ts"), made("greedy")]
TWENTY = [made(M=M) for M in (*range(1, 10), *range(10, 101, 10))] + [made("ts")]
BAND = "band: mean ± two standard errors"


def drawn(results, draw=plot_regret, **look):
    """Return the figure of results, rendered."""
    figure = Figure()
    draw(results, ax=figure, **look)
    figure.draw_without_rendering()
    return figure


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def entries(figure):
    (legend,) = figure.legends
    return texts(legend)


def curves(ax):
    """Return the lines of axes that have labels: not zero lines."""
    return [line for line in ax.get_lines() if len(line.get_xdata()) > 2]


def are_distinct(lines):
    """Return whether no two lines share their dashes or their marker."""
    dashes = {str(line._dash_pattern) for line in lines}  # scaled by the line's width
    return len(dashes) == len({line.get_marker() for line in lines}) == len(lines)


# Curves and their styles


def test_eleven_agents_differ_in_dashes_and_marker():
    figure = drawn(ELEVEN)
    (ax,) = figure.axes
    lines = curves(ax)
    assert entries(figure) == [result.label for result in ELEVEN]
    assert are_distinct(lines)
    assert len({line.get_color() for line in lines}) == 8  # six shades of ES
    assert ax.bbox.height > 2.2 * figure.dpi  # the legend takes nothing of it
    for line, result in zip(lines, ELEVEN, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), result.regret.mean)


def test_more_than_twelve_differ_in_dashes_or_colour():
    figure = drawn(TWENTY)
    (ax,) = figure.axes
    assert entries(figure) == [result.label for result in TWENTY]
    looks = {(line.get_color(), str(line._dash_pattern)) for line in curves(ax)}
    assert len(looks) == len(TWENTY)
    with pytest.raises(ValueError, match=f"at most {MOST_CURVES} different curves, got 61: select"):
        drawn([made(M=M) for M in range(1, 62)])


def test_panels_of_one_problem_are_on_one_scale():
    many = [made("es++", M=M, inflation=i) for M in (2, 4, 8) for i in range(1, 6)]
    figure = drawn([*many, made("ts")], facet="M")
    assert [ax.get_title() for ax in figure.axes] == ["M=2", "M=4", "M=8"]
    for ax in figure.axes:
        assert len(curves(ax)) == 6  # Thompson sampling, which has no M, is on every one
        assert are_distinct(curves(ax))
    assert len(entries(figure)) == 6
    # They are of one problem, and so their regrets are on one scale.
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    highest = max(result.regret.mean.max() for result in many)
    assert figure.axes[0].get_ylim()[1] > highest


def test_panels_on_one_scale_hold_all_that_is_drawn():
    low, high = made(scale=1e-3), made("ts", scale=10)
    figure = drawn([low, high], facet="agent", logy=True)
    for ax in figure.axes:
        assert ax.get_ylim()[0] < low.regret.mean.min()
        assert ax.get_ylim()[1] > high.regret.mean.max()


def test_curves_on_all_panels_have_different_styles():
    many = [made("es++", M=M) for M in range(2, 6)]
    many += [made("linucb", alpha=alpha) for alpha in range(1, 9)]
    figure = drawn(many, facet="agent")
    assert [ax.get_title() for ax in figure.axes] == ["ES++", "LinUCB"]
    assert len(entries(figure)) == 12
    assert are_distinct([*curves(figure.axes[0]), *curves(figure.axes[1])])


def test_a_figure_of_too_many_panels_is_refused():
    many = [made(K=K) for K in range(1, MOST_PANELS + 2)]
    with pytest.raises(ValueError, match="would have 25 panels, more than 24"):
        drawn(many)


def test_labels_that_would_be_equal_say_in_what_they_differ():
    assert entries(drawn([made(), made(seed=1)])) == ["ES, M=30, seed=0", "ES, M=30, seed=1"]
    assert entries(drawn([made(), made()])) == ["ES, M=30"]  # the same result twice
    twins = [made(), made(regret=np.ones((10, 50)))]
    assert entries(drawn(twins)) == ["ES, M=30, no. 1", "ES, M=30, no. 2"]


# Legends, titles, bands


@pytest.mark.parametrize("results", [ELEVEN[:1], ELEVEN, TWENTY, [made(), made(K=50)]])
@pytest.mark.parametrize("look", [{}, {"size": (3.4, 5)}], ids=str)
def test_a_legend_lies_over_no_data_and_nothing_is_cut_off(results, look):
    figure = drawn(results, **look)
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert not any(ax.get_tightbbox().overlaps(box) for ax in figure.axes)
    whole = figure.bbox.padded(1)
    for artist in (*figure.axes, legend, figure._suptitle):
        assert all(whole.contains(x, y) for x, y in artist.get_tightbbox().corners())


@pytest.mark.parametrize("results", [ELEVEN[-2:], ELEVEN, TWENTY])
def test_a_legend_on_axes_of_one_s_own_is_beside_them(results):
    figure = Figure()
    ax = figure.subplots()
    assert plot_regret(results, ax) is ax
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    assert box.x0 > ax.bbox.x1
    assert figure.bbox.padded(1).contains(box.x1, box.y0)
    assert ax.get_legend().get_title().get_text() == BAND
    assert ax.get_title() == "K=20, d=3, T=200, 10 runs"


def test_a_title_says_what_was_simulated_and_a_band_what_it_is():
    result = made(K=1000, T=2000, runs=50)
    figure = drawn([result, made("ts", K=1000, T=2000, runs=50)])
    assert figure.get_suptitle() == "K=1,000, d=3, T=2,000, 50 runs"
    assert figure.legends[0].get_title().get_text() == BAND
    (band, _) = figure.axes[0].collections
    expected = result.regret.mean[-1] + 2 * result.regret.se[-1]
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(expected)


def test_a_single_run_has_no_band_and_claims_none():
    figure = drawn([made(runs=1), made("ts", runs=1)])
    assert not figure.axes[0].collections
    assert figure.legends[0].get_title().get_text() in ("", "None")
    assert figure.get_suptitle().endswith("1 run")


def test_a_single_point_has_bars():
    result = made(T=1)
    figure = drawn([result, made("ts", T=1)])
    assert figure.legends[0].get_title().get_text() == "bars: mean ± two standard errors"
    (bar, _) = figure.axes[0].collections
    (segment,) = bar.get_segments()
    assert np.ptp(segment[:, 1]) == pytest.approx(4 * result.regret.se[-1])
    assert figure.axes[0].get_ylim()[1] > segment[:, 1].max()


def test_a_title_of_one_s_own_leaves_the_facts():
    title = "An essay on bandits"
    assert drawn([made()], title=title).get_suptitle() == f"{title}\nK=20, d=3, T=200, 10 runs"
    ax = Figure().subplots()
    plot_regret([made()], ax, title=title)
    assert ax.get_title() == f"{title}\nK=20, d=3, T=200, 10 runs"


def test_numbers_of_runs_and_steps_that_differ_are_told():
    figure = drawn([made(runs=5), made("ts", runs=10, T=100)])
    assert figure.get_suptitle() == "K=20, d=3, T=100 to 200, 5 to 10 runs"


# What cannot be compared


TWO_PROBLEMS = [made(), made("ts"), made(K=50), made("ts", K=50)]


def test_different_problems_have_a_panel_each():
    figure = drawn(TWO_PROBLEMS)
    assert [ax.get_title() for ax in figure.axes] == ["K=20, d=3", "K=50, d=3"]
    assert figure.get_suptitle() == "T=200, 10 runs"
    assert entries(figure) == ["ES, M=30", "TS"]
    colours = [[line.get_color() for line in curves(ax)] for ax in figure.axes]
    assert colours[0] == colours[1]
    assert not figure.axes[0].get_shared_y_axes().joined(*figure.axes)


@pytest.mark.parametrize(
    ("other", "titles"),
    [
        ({"problem": "ab" * 8}, ["problem 000000", "problem ababab"]),
        ({"theta": "fixed, ab"}, ["theta from the prior", "theta fixed"]),
    ],
)
def test_panels_that_look_alike_are_told_apart(other, titles):
    assert [ax.get_title() for ax in drawn([made(), made(**other)]).axes] == titles


def test_different_problems_on_one_axes_are_refused():
    with pytest.raises(ValueError, match=r"cannot show 2 panels \(K=20, d=3; K=50, d=3\): leave"):
        plot_regret(TWO_PROBLEMS, Figure().subplots())
    ax = Figure().subplots()
    plot_regret(TWO_PROBLEMS[:2], ax)
    before = len(ax.lines)
    with pytest.raises(ValueError, match="cannot show 2 panels"):
        plot_regret(TWO_PROBLEMS[2:], ax)
    assert len(ax.lines) == before


def test_what_is_drawn_onto_axes_later_looks_as_if_drawn_at_once():
    ax = Figure().subplots()
    for result in ELEVEN:
        result.plot(ax)
    ELEVEN[0].plot(ax)  # it is there already
    assert texts(ax.get_legend()) == [result.label for result in ELEVEN]
    (at_once,) = drawn(ELEVEN).axes
    assert len(curves(ax)) == len(ax.collections) == 11
    for line, other in zip(curves(ax), curves(at_once), strict=True):
        assert line.get_color() == other.get_color()
        np.testing.assert_array_equal(line.get_ydata(), other.get_ydata())
    with pytest.raises(ValueError, match="at most 60 different curves, got 61"):
        plot_regret([made("es++", M=M) for M in range(1, 51)], ax)
    assert len(curves(ax)) == 11
    ax.clear()
    made("uniform", K=50).plot(ax)
    assert texts(ax.get_legend()) == ["Uniform"]


def test_a_curve_is_added_to_a_finished_figure():
    figure = drawn([made()])
    (ax,) = figure.axes
    made("ts").plot(ax)
    assert not figure.legends
    assert texts(ax.get_legend()) == ["ES, M=30", "TS"]
    assert ax.get_title() == ""  # the figure's says it


# Choices


def test_where_keeps_what_has_the_value():
    assert entries(drawn(ELEVEN, where={"M": [2, 64]})) == ["ES, M=2", "ES, M=64"]
    assert entries(drawn(ELEVEN, where={"M": "2, 64,none"})) == [
        *("ES, M=2", "ES, M=64"),
        *("TS", "Greedy"),
    ]
    assert entries(drawn(TWO_PROBLEMS, where={"K": 50, "agent": "ts"})) == ["TS"]
    assert entries(drawn(TWO_PROBLEMS, where={"noise": "1", "K": "5e1", "agent": "es"})) == [
        "ES, M=30"
    ]


def test_a_flag_is_asked_for_as_the_command_line_writes_it():
    both = [made(M=30, symmetric=flag) for flag in (False, True)]
    for wanted in ("yes", True, "yes,yes"):
        assert entries(drawn(both, where={"symmetric": wanted})) == ["ES, M=30, symmetric"]
    assert len(entries(drawn(both, where={"symmetric": "no,yes"}))) == 2
    with pytest.raises(ValueError, match="where asks for symmetric=1, but symmetric is no or yes"):
        drawn(both, where={"symmetric": "1"})


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"K": 51}, "where asks for K=51, but K is 20 or 50"),
        ({"K": "20,51"}, "where asks for K=51, but K is 20 or 50"),
        ({"agent": "ES"}, "where asks for agent=ES, but agent is es or ts"),
        ({"Q": 1}, "where must name one of agent, M, engine, K, .*, got 'Q'"),
        ({"agent": "ts", "M": 30}, "no result has agent=ts and M=30"),
    ],
)
def test_where_says_what_there_is(where, message):
    with pytest.raises(ValueError, match=message):
        drawn(TWO_PROBLEMS, where=where)


def test_facets_are_a_panel_for_each_value():
    figure = drawn([made(M=8), made(M=2), made("ts")], facet="M")
    assert [ax.get_title() for ax in figure.axes] == ["M=2", "M=8"]
    assert entries(figure) == ["ES", "TS"]
    assert figure.get_suptitle() == "K=20, d=3, T=200, 10 runs"
    # Values of different parameters, and both in need of panels.
    mixed = [made(M=2), made("linucb", alpha=1), made("ts")]
    assert [ax.get_title() for ax in drawn(mixed, facet="agent").axes] == ["ES", "LinUCB", "TS"]


@pytest.mark.parametrize(
    ("look", "message"),
    [
        ({"facet": "Q"}, "facet must be one of agent, M, .*, got 'Q'"),
        ({"size": (1, 1)}, r"size must be at least 3.0x\d.\d inches for this figure .*got 1x1"),
    ],
)
def test_looks_that_are_impossible_are_refused(look, message):
    with pytest.raises(ValueError, match=message):
        drawn(TWO_PROBLEMS, **look)


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (
            {"sise": (4, 3)},
            "unknown keyword 'sise' of a figure: the keywords are where, facet, logx,",
        ),
        ({"where": "K=50"}, "where must map names to values, such as {'K': 50}, got 'K=50'"),
        ({"size": 4}, "size must be a width and a height up to 100 inches, got 4"),
        ({"size": (4, -3)}, r"size must be a width and a height up to 100 inches, got \(4, -3\)"),
        ({"size": ("wide", 3)}, "size must be a width and a height"),
    ],
)
def test_a_look_that_is_no_look_is_refused(look, message):
    with pytest.raises((TypeError, ValueError), match=message):
        made().plot(Figure(), **look)


def test_a_size_belongs_to_a_figure():
    with pytest.raises(ValueError, match="size applies to a new figure only: leave it out if ax"):
        plot_regret([made()], Figure().subplots(), size=(4, 3))
    assert tuple(drawn([made()], size=(4, 3)).get_size_inches()) == (4, 3)


def test_axes_are_logarithmic_where_that_is_asked_for():
    (ax,) = drawn([made(), made("ts")], logx=True, logy=True).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    (ax,) = drawn([made(), made("ts")]).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    assert ax.get_xlim()[0] == ax.get_ylim()[0] == 0
    with pytest.raises(ValueError, match="cannot show TS, which is never above zero"):
        drawn([made(), made("ts", regret=np.zeros((4, 50)))], logy=True)


@pytest.mark.parametrize("wrong", ["x.png", 3, [1]])
def test_what_is_no_axes_is_refused(wrong):
    sentence = (
        f"ax must be matplotlib Axes, got {wrong!r}: to save a figure, use fastes plot or "
        "ax.figure.savefig"
    )
    for call in (made().plot, lambda ax: plot_differences([made(), made("ts")], ax=ax)):
        with pytest.raises(TypeError) as refused:
            call(wrong)
        assert str(refused.value) == sentence


def test_a_refused_figure_leaves_none_of_pyplot_s_open():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    with pytest.raises(ValueError, match="size must be"):
        plot_regret([made()], size=(1, 1))
    assert not pyplot.get_fignums()
    ax = plot_regret(TWO_PROBLEMS)
    assert len(ax.figure.axes) == 2
    assert pyplot.get_fignums()
    pyplot.close("all")


# Differences


def test_differences_are_paired_run_by_run():
    results = [made(), made("ts"), made("greedy")]
    figure = drawn(results, plot_differences)
    ours = curves(figure.axes[0])[0]
    gaps = results[0].regret.per_run - results[2].regret.per_run
    np.testing.assert_allclose(ours.get_ydata(), gaps.mean(axis=0))
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    high = gaps.mean(axis=0) + 2 * gaps.std(axis=0, ddof=1) / np.sqrt(10)
    assert np.isclose(band[:, 1, None], high).any(axis=0).all()
    assert entries(figure) == ["ES, M=30", "TS", "no difference"]
    assert figure.axes[0].get_ylabel() == "regret minus that of Greedy"
    zero = figure.axes[0].get_lines()[-1]
    assert list(zero.get_ydata()) == [0, 0]


@pytest.mark.parametrize("baseline", ["ts", "TS"])
def test_a_baseline_is_named_by_its_agent_or_its_label(baseline):
    figure = drawn([made(), made("ts"), made(M=2)], plot_differences, baseline=baseline)
    assert figure.axes[0].get_ylabel() == "regret minus that of TS"
    assert entries(figure) == ["ES, M=30", "ES, M=2", "no difference"]
    labelled = drawn([made(), made("ts"), made(M=2)], plot_differences, baseline="ES, M=2")
    assert entries(labelled) == ["ES, M=30", "TS", "no difference"]


@pytest.mark.parametrize("baseline", ["es", "ES", "nobody"])
def test_a_baseline_is_one_of_the_results(baseline):
    message = f"baseline must be one of 'ES, M=30', 'ES, M=2', 'TS', got '{baseline}'"
    with pytest.raises(ValueError, match=message):
        drawn([made(), made(M=2), made("ts")], plot_differences, baseline=baseline)


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"K": 21}, "K"),
        ({"seed": 1}, "seed"),
        ({"T": 100}, "T"),
        ({"theta": "fixed, ab"}, "theta"),
        ({"points": 20}, "points"),
    ],
)
def test_results_that_are_not_paired_have_no_differences(other, name):
    with pytest.raises(ValueError, match=f"results in a comparison must have equal {name}"):
        drawn([made(), made("ts", **other)], plot_differences)


def test_differences_on_several_problems_are_paired_on_each():
    figure = drawn(TWO_PROBLEMS, plot_differences, facet="K")
    assert [ax.get_title() for ax in figure.axes] == ["K=20, d=3", "K=50, d=3"]
    assert figure._supylabel.get_text() == "regret minus that of TS"
    with pytest.raises(ValueError, match="logy cannot be used for differences"):
        drawn(TWO_PROBLEMS, plot_differences, facet="K", logy=True)
    with pytest.raises(ValueError, match="differences from TS need at least one other result"):
        drawn([made("ts")], plot_differences)


# Hostile shapes: any warning is an error


HOSTILE = {
    "all one": [made(K=1, d=1, T=1, runs=1, M=1), made("ts", K=1, d=1, T=1, runs=1)],
    "all one, no regret": [made(K=1, d=1, T=1, M=1, regret=[[0.0]])],
    "no regret": [made(regret=np.zeros((5, 50))), made("ts", regret=np.zeros((5, 50)))],
    "one run": [made(runs=1), made("ts", runs=1)],
    "huge": [made(scale=1e150), made("ts", scale=1e150)],
    "near the largest number": [made(scale=1e303), made("ts", scale=1e300)],
    "tiny": [made(scale=1e-200), made("ts", scale=1e-200)],
    "rounded below zero": [made(scale=-1e-17), made("ts", scale=-1e-17)],
    "long": [made(T=10**12, points=200), made("ts", T=10**12, points=200)],
    "two steps": [made(T=2), made("ts", T=2)],
    "a long name": [made("agent_of_a_very_long_name_indeed", zeta=1e-9, omega=10**9), made("ts")],
}


@pytest.mark.parametrize("look", [{"facet": "agent"}, {"logx": True}, {"logy": True}], ids=str)
@pytest.mark.parametrize("results", HOSTILE.values(), ids=HOSTILE)
def test_nothing_warns_whatever_the_shape(results, look):
    drawings = [plot_regret]
    if len(results) > 1 and "logy" not in look:
        drawings.append(plot_differences)
    for draw in drawings:
        positive = all((result.regret.mean > 0).any() for result in results)
        if look.get("logy") and not positive:
            with pytest.raises(ValueError, match="never above zero"):
                drawn(results, draw, **look)
        else:
            drawn(results, draw, title="A title that is long " * 5, **look)


def test_what_is_wider_than_the_figure_has_a_column_to_itself():
    figure = drawn(HOSTILE["a long name"])
    assert figure.legends[0].get_window_extent().width <= figure.bbox.width


def test_save_figure_lets_a_function_draw_on_a_figure(tmp_path):
    save_figure(lambda figure: plot_regret(TWO_PROBLEMS, figure), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    colours = {to_hex(line.get_color()) for line in curves(drawn(TWO_PROBLEMS).axes[0])}
    assert len(colours) == 2
    assert all(colour in text for colour in colours)
