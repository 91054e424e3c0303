"""The study of how many models logistic ensemble sampling needs: runs, tables, and the page."""

import numpy as np
import pytest
from ensemble_size.collect import read
from glm_ensemble_size import __main__ as study
from glm_ensemble_size.draw import PAGE, figure, filled, smallest_table

SMALL = [study.Problem(rewards, 2, rate) for rewards in study.REWARDS for rate in (0.5, 0.1)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return both tables of a study of small problems."""
    folder = tmp_path_factory.mktemp("study")
    words = [str(folder), "--runs", "6", "--data", str(folder / "data"), "--threads", "1"]
    study.main(words, SMALL, sizes=(2, 4), horizons=(10, 25))
    return read(folder / "data/regret.csv"), read(folder / "data/smallest.csv")


def test_every_ensemble_stands_beside_one_of_fresh_models(tables):
    regret, smallest = tables
    assert len(regret) == len(SMALL) * 4 * 2  # two sizes, fresh models, TS; two horizons
    assert len(smallest) == len(SMALL) * 2
    for row in regret:
        if row["M"] == study.HUGE:
            assert (row["ratio"], row["ratio_se"]) == (1, 0)
    assert all(2 <= row["M"] for row in smallest)


def test_a_value_of_zero_pays_at_the_rate_and_the_linear_noise_tells_as_much():
    clicks, linear = study.Problem("clicks", 3, 0.1).bandit(), study.Problem("linear", 3, 0.1)
    theta = np.r_[np.zeros(3), clicks.prior_mean[-1]]
    assert 1 / (1 + np.exp(-clicks.actions @ theta)) == pytest.approx(np.full(study.K, 0.1))
    assert clicks.actions[:, :3] == pytest.approx(linear.bandit().actions)
    assert 1 / linear.bandit().noise ** 2 == pytest.approx(0.1 * 0.9)  # Fisher information


def test_a_ratio_has_the_error_of_paired_runs():
    rng = np.random.default_rng(1)
    to = rng.gamma(4.0, size=400)
    regret = 1.5 * to + rng.normal(size=400)
    found, error = study.ratio(regret, to)
    drawn = rng.integers(400, size=(2000, 400))
    again = regret[drawn].mean(axis=1) / to[drawn].mean(axis=1)
    assert found == pytest.approx(1.5, abs=4 * error)
    assert error == pytest.approx(again.std(), rel=0.15)


def test_where_no_ensemble_suffices_the_table_says_beyond_which():
    row = {"rewards": "clicks", "d": 2, "rate": 0.5, "T": 10, "largest": 64}
    rows = [{**row, "M": np.inf, "low": 12.0, "high": np.inf}]
    rows += [{**rows[0], "rewards": "linear", "M": 3.0, "low": 2.0, "high": 5.0}]
    assert "| 2 | 10 | >64 (12 to >64) | 3 (2 to 5) |" in smallest_table(rows)


def test_the_figure_is_drawn(tables):
    assert [ax.get_title() for ax in figure(tables[0]).axes] == ["clicks, $d=2$", "linear, $d=2$"]


def test_the_page_shows_the_tables_of_the_data_on_file():
    page = PAGE.read_text(encoding="utf-8")
    known = [read(study.DATA / f"{name}.csv") for name in ("regret", "smallest")]
    assert filled(page, *known) == page
