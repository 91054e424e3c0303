"""The study of how large an ensemble must be: its parts, its tables, and what the page shows."""

import numpy as np
import pytest
from ensemble_size import __main__ as command
from ensemble_size import states
from ensemble_size.collect import at_horizons, collect, curves, file_of, read
from ensemble_size.draw import DRAWN, PAGE
from ensemble_size.parts import PARTS, Problem, between
from ensemble_size.smallest import RULES, smallest, with_interval
from ensemble_size.tables import Numbers, all_tables, filled

import fastes

WORDS = {"K": 8, "d": 2, "redraw": "run"}
SMALL = Problem("arms", "K100", 2, 8, (1, 4), (10, 25), 20, WORDS, variants=("es",))


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Give a study of one small problem, simulated."""
    monkeypatch.setattr(command, "PARTS", {"arms": lambda: [SMALL]})
    words = [str(tmp_path), "--part", "arms", "--data", str(tmp_path / "data"), "--agent", "es"]
    command.main(words)
    return tmp_path, words


def test_parts_have_names_of_their_own_and_sizes_that_grow():
    problems = [problem for part in PARTS.values() for problem in part()]
    assert len({(problem.part, problem.name) for problem in problems}) == len(problems)
    for problem in problems:
        assert list(problem.sizes) == sorted(set(problem.sizes))
        assert list(problem.horizons) == sorted(set(problem.horizons))
    assert between(3, 8) == (3, 4, 6, 8)


def test_a_study_says_what_it_costs_runs_and_goes_on(tiny, capsys):
    folder, words = tiny
    capsys.readouterr()
    command.main([*words, "--dry-run"])
    assert "in all" in capsys.readouterr().out
    assert fastes.load(file_of(folder, SMALL, "es")).progress().done > 0
    before = (folder / "data/regret.csv").read_bytes()
    command.main(words)
    assert (folder / "data/regret.csv").read_bytes() == before
    assert "   0.0 core-minutes to do" in capsys.readouterr().out


def test_another_scale_is_refused_in_the_same_folder(tiny):
    with pytest.raises(ValueError, match="runs"):
        command.main([*tiny[1], "--scale", "2"])


def test_regret_and_gaps_are_those_of_a_simulation(tiny):
    folder, _ = tiny
    bandit = fastes.LinearBandit(fastes.actions.Redrawn(8, 2))
    agents = [fastes.EnsembleSampling(4), fastes.ThompsonSampling()]
    es, ts = (r.regret.final for r in fastes.compare(bandit, agents, T=25, runs=20))
    rows = read(folder / "data/regret.csv")
    (row,) = (r for r in rows if (r["agent"], r["M"], r["T"]) == ("es", 4, 25))
    assert row["mean"] == pytest.approx(es.mean(), rel=1e-5)
    assert row["gap"] == pytest.approx((es - ts).mean(), rel=1e-5)
    assert row["gap_se"] == pytest.approx((es - ts).std(ddof=1) / np.sqrt(20), rel=1e-5)
    assert row["worst"] == pytest.approx(es.max(), rel=1e-5)
    assert {r["runs"] for r in rows} == {20}


def test_shorter_horizons_are_read_on_the_way(tiny):
    folder, _ = tiny
    found = curves(folder, SMALL)["es", 4, None]
    bandit = fastes.LinearBandit(fastes.actions.Redrawn(8, 2))
    whole = fastes.simulate(bandit, fastes.EnsembleSampling(4), T=10, runs=20)
    np.testing.assert_allclose(found[:, 0], whole.regret.final)
    coarse = fastes.simulate(bandit, fastes.EnsembleSampling(4), T=25, runs=2, points=4)
    known = list(coarse.t)
    i = next(i for i in range(len(known) - 1) if known[i + 1] > known[i] + 1)
    middle = (known[i] + known[i + 1]) / 2
    halves = coarse.regret.per_run[:, i : i + 2].mean(axis=1)
    np.testing.assert_allclose(at_horizons(coarse, (middle,))[:, 0], halves)


def test_the_smallest_size_is_where_the_excess_crosses_zero():
    assert smallest([2, 8], [1.0, -1.0], 0.0) == pytest.approx(4.0)
    assert smallest([2, 8], [-1.0, -1.0], 0.0) == 2.0
    assert smallest([2, 8], [1.0, 0.5], 0.0) == np.inf
    assert smallest([2, 4, 8], [1.0, 0.0, 3.0], 0.0) == 4.0  # the first


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_an_interval_around_what_it_finds(rule):
    generator = np.random.default_rng(0)
    ts = np.tile(generator.gamma(9.0, 3.0, size=300), (5, 1))
    regret = ts + np.array([[90.0], [45.0], [20.0], [8.0], [-5.0]]) * generator.random((5, 300))
    M, low, high = with_interval([2, 4, 8, 16, 32], regret, ts, 300, 5, rule)
    assert 2 <= low <= M <= high <= 32
    assert low < high


def test_hard_problems_of_one_number_of_arms_are_one_curve(tmp_path):
    problems = [
        Problem(
            "hard",
            f"K3-M{M}",
            2,
            3,
            (M,),
            (20,),
            10,
            given=lambda M=M: fastes.LinearBandit.hard_for_ensembles(3, M),
            variants=("es",),
        )
        for M in (2, 8, 32)
    ]
    for problem in problems:
        fastes.sweep(problem.study("es", 1.0), file_of(tmp_path, problem, "es"))
    collect(tmp_path, problems, tmp_path)
    rows = read(tmp_path / "smallest.csv")
    assert [row["rule"] for row in rows] == ["relative", "step", "tail", "root"]
    assert {(row["problem"], row["largest"]) for row in rows} == {("K3", 32)}


def test_states_of_ensembles_are_measured_beside_those_of_thompson_sampling(tmp_path, monkeypatch):
    monkeypatch.setattr(states, "SIZES", (2,))
    states.measure(tmp_path, 0.01, 1)
    rows = read(tmp_path / "states.csv")
    assert [(row["agent"], row["t"]) for row in rows[:2]] == [("ts", 0), ("ts", 10)]
    assert {row["M"] for row in rows} == {None, 2}
    assert rows[0]["ensemble_variance"] is None


@pytest.fixture(scope="module")
def numbers():
    return Numbers(command.DATA)


def test_the_tables_of_the_page_are_those_of_the_numbers(numbers):
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, all_tables(numbers)) == page, "run python -m ensemble_size.draw"


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_can_be_drawn_and_is_on_the_page(name, numbers, tmp_path):
    DRAWN[name](numbers).savefig(tmp_path / "figure.png")
    assert f"figures/{name}.png)" in PAGE.read_text(encoding="utf-8")
