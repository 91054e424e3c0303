"""`fastes plot`: which figure, of what, how it looks; and what is refused in one sentence."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from made_results import diagnosed, made

import fastes
from fastes.cli import main
from fastes.results.files import save_results


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of results: of two agents, of another problem, of many sizes, diagnosed."""
    path = tmp_path_factory.mktemp("plots")
    save_results(path / "two.npz", [made(), made("ts")])
    save_results(path / "other.npz", [made(K=50), made("ts", K=50)])
    save_results(path / "sizes.npz", [*(made(M=M) for M in (2, 8, 32)), made("ts")])
    save_results(path / "diagnosed.npz", [diagnosed(made()), diagnosed(made("ts"))])
    study = fastes.Study(agent=["es", "ts"], M=[2, 5], K=[12, 30], d=3, T=60, runs=9)
    fastes.sweep(study, path / "study.db")
    return path


def plot(folder, *words, code=0):
    """Run the command on files of the folder; return what it printed, or its error."""
    known = {path.name for path in folder.iterdir()}
    line = [str(folder / word) if word in known else str(word) for word in words]
    done = CliRunner().invoke(main, ["plot", *line, "--out", str(folder / "figure.svg")])
    assert done.exit_code == code, done.output
    return done.stderr if code else done.stdout


def seen(folder):
    """Return the texts of the figure: in SVG each is a comment beside its glyphs."""
    return re.findall(r"<!-- (.*?) -->", (folder / "figure.svg").read_text(), re.DOTALL)


def test_different_problems_have_a_panel_each(folder):
    assert plot(folder, "two.npz", "other.npz").endswith(": ES, M=30; TS\n")
    texts = seen(folder)
    assert {"K=20, d=3", "K=50, d=3", "T=200, 10 runs"} <= set(texts)
    assert texts.count("TS") == 1
    assert "band: mean ± two standard errors" in texts


def test_where_keeps_what_has_the_value(folder):
    told = plot(folder, "two.npz", "other.npz", "--where", "K=50", "--where", "agent=ts")
    assert told.endswith(": TS\n")
    assert "K=50, d=3, T=200, 10 runs" in seen(folder)
    told = plot(folder, "sizes.npz", "--where", "M=2", "--where", "M=8")
    assert told.endswith(": ES, M=2; ES, M=8\n")
    told = plot(folder, "study.db", "--x", "M", "--where", "K=12")
    assert "K=12, d=3, T=60, 9 runs" in seen(folder)


def test_facets_titles_and_sizes(folder):
    plot(folder, "sizes.npz", "--facet", "M", "--title", "Of three sizes", "--size", "8x4")
    texts = seen(folder)
    assert {"M=2", "M=8", "M=32", "Of three sizes"} <= set(texts)
    svg = (folder / "figure.svg").read_text()
    assert 'width="576pt" height="288pt"' in svg
    plot(folder, "study.db", "--facet", "K")
    assert {"K=12, d=3", "K=30, d=3", "models M"} <= set(seen(folder))


def test_logarithmic_axes(folder):
    plot(folder, "two.npz")
    assert "50" in seen(folder)
    plot(folder, "two.npz", "--logx", "--logy")
    assert {"1", "10", "100"} <= set(seen(folder))
    assert "50" not in seen(folder)


def test_differences_from_a_baseline(folder):
    for words in ([], ["--baseline", "ts"], ["--baseline", "TS"]):
        plot(folder, "sizes.npz", "--figure", "differences", *words)
        assert "regret minus that of TS" in seen(folder)
    plot(folder, "sizes.npz", "--figure", "differences", "--baseline", "ES, M=8")
    assert "regret minus that of ES, M=8" in seen(folder)
    plot(folder, "two.npz", "other.npz", "--figure", "differences", "--facet", "K")
    assert {"K=20, d=3", "K=50, d=3"} <= set(seen(folder))
    plot(folder, "study.db", "--figure", "differences", "--where", "K=12", "--baseline", "ts")
    assert "regret minus that of TS" in seen(folder)


@pytest.mark.parametrize("figure", ["regret", "bounds", "divergence", "size"])
@pytest.mark.parametrize("look", [[], ["--facet", "agent"], ["--title", "T", "--size", "6x5"]])
def test_every_figure_takes_every_look(folder, figure, look):
    plot(folder, "diagnosed.npz", "--figure", figure, *look)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["two.npz", "--where", "K=21"], "where asks for K=21, but K is 20"),
        (["two.npz", "--where", "Q=21"], "where must name one of agent, M, engine, K, d, noise"),
        (["two.npz", "--where", "K"], "'K' is not of the form NAME=VALUE, such as K=50"),
        (["two.npz", "--facet", "Q"], "facet must be one of agent, M, engine, K, d, noise"),
        (["study.db", "--facet", "M"], "facet must be another axis than x, got 'M' for both"),
        (["study.db", "--where", "M=3"], "where asks for M=3, but M is 2 or 5 or none"),
        (["study.db", "--x", "agent", "--logx"], "logx needs an axis of numbers above zero"),
        (["two.npz", "--size", "big"], "'big' is not a size in inches such as 6x4"),
        (["two.npz", "--size", "6"], "'6' is not a size in inches such as 6x4"),
        (["two.npz", "--size", "1x1"], "size must be at least 1.5x"),
        (["two.npz", "--size", "nanx4"], "'nanx4' is not a size in inches"),
        (["two.npz", "--x", "M"], "two.npz is a result"),
        (["two.npz", "--baseline", "ts"], "--baseline needs --figure differences"),
        (["two.npz", "--figure", "differences", "--logy"], "logy cannot be used for differences"),
        (["two.npz", "--figure", "differences", "--baseline", "x"], "baseline must be one of"),
        (["two.npz", "--figure", "size", "--facet", "M"], "facet must not be M"),
        (
            ["two.npz", "other.npz", "--figure", "differences"],
            "results in a comparison must have equal K",
        ),
        (["two.npz", "--figure", "divergence"], "holds no diagnostics"),
        (["study.db", "two.npz"], "a study must be the only file, got 2 files"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(folder, words, message):
    said = plot(folder, *words, code=2)
    assert message in said
    assert "Traceback" not in said


def test_a_figure_that_is_refused_leaves_the_old_one(folder):
    plot(folder, "two.npz")
    before = (folder / "figure.svg").read_bytes()
    plot(folder, "two.npz", "--size", "1x1", code=2)
    assert (folder / "figure.svg").read_bytes() == before


def test_help_names_every_figure():
    shown = CliRunner().invoke(main, ["plot", "--help"]).stdout
    for word in ("differences", "--where", "--facet", "--logx", "--title", "--size", "--baseline"):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_nothing_is_drawn_of_zero_regret_on_a_logarithmic_axis(tmp_path):
    save_results(tmp_path / "still.npz", [made(K=1, regret=np.zeros((3, 50)))])
    assert "never above zero" in plot(tmp_path, "still.npz", "--logy", code=2)
    plot(tmp_path, "still.npz")
