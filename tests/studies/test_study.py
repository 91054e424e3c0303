"""Studies: read, laid out as a grid, and cut into tasks of about equal cost."""

import json
import re

import numpy as np
import pytest
from bandits import BANDITS
from hypothesis import given
from hypothesis import strategies as st
from sweeps import SMALL, run

import fastes
from fastes.checks import memory
from fastes.checks.lists import progression
from fastes.problem.sizes import problem_bytes
from fastes.simulation import plan
from fastes.studies import calibration as cost
from fastes.studies import execution as sweep
from fastes.studies import store, study, tasks
from fastes.studies.axes import AXES


def test_a_grid_is_all_combinations_each_once():
    settings = fastes.Study(**SMALL).settings
    assert len(settings) == 2 * 2 + 2  # TS has no M
    assert [(s.agent.name, s.axes["M"], s.problem.K) for s in settings] == [
        *(("es", M, K) for M in (2, 5) for K in (12, 30)),
        *(("ts", None, K) for K in (12, 30)),
    ]


def test_a_description_makes_the_same_study_again():
    one = fastes.Study(**SMALL, seed=3, noise="0.5,1")
    other = fastes.Study(**json.loads(json.dumps(one.description())))
    assert other.settings == one.settings
    assert other.fingerprint == one.fingerprint
    assert fastes.Study(**SMALL).fingerprint != one.fingerprint


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("3", [3]),
        ("3, 5", [3, 5]),
        ("2,4,...,32", [2, 4, 8, 16, 32]),
        ("2,4,8,...,32", [2, 4, 8, 16, 32]),
        ("5,10,...,25", [5, 10, 15, 20, 25]),
        ("1,10,100,...,100000", [1, 10, 100, 1000, 10_000, 100_000]),
        ("0.1,0.2,0.3,...,0.5", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("8,4,...,1", [8, 4, 2, 1]),
        ("1e3,1e4,...,1e6", [1000, 10_000, 100_000, 1_000_000]),
        ("4,6,9,...,13.5", [4, 6, 9, 13.5]),
    ],
)
def test_progressions(words, values):
    assert progression("K", words) == values


@pytest.mark.parametrize(
    "words",
    [
        *("", "x", "2,...,8", "...,8", "2,4,...", "2,4,...,31", "2,4,...,8,9", "2,3,5,...,9"),
        *("1,,2", "2,2,...,2", "0,0,...,5", "nan", "inf", "2,4,...,1", "0,2,...,7"),
        *("1,1.0000001,...,1e9", "1e99999999", "1" * 5000, "1/3", "1__000", "_1", "1_"),
    ],
)
def test_what_is_no_progression_is_refused(words):
    with pytest.raises(ValueError, match=r"K must be numbers such as 10,100 or 2,4,8,...,64, got"):
        progression("K", words)


@given(st.integers(1, 50), st.integers(2, 9), st.integers(3, 20))
def test_a_progression_goes_on_as_it_began(first, ratio, n):
    values = [first * ratio**i for i in range(n)]
    assert progression("M", f"{values[0]},{values[1]},...,{values[-1]}") == values


def test_a_study_shows_itself_on_one_line():
    assert repr(fastes.Study(agent="ts", T=9, runs=1)) == "Study(1 setting of 1 run)"
    assert repr(fastes.Study(M=range(2, 90), problem=fastes.LinearBandit.random(100, 30))) == (
        "Study(88 settings of 100 runs; varied: M)"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"Q": 1}, "unknown study parameter 'Q': known are agent, M, engine"),
        ({"K": 0}, "K must be an integer from 1 to 4294967295, got 0"),
        ({"K": [10, 1.5]}, "K must be an integer from 1 to 4294967295, got 1.5"),
        ({"K": []}, "K must have at least one value, got none"),
        ({"T": 2**33}, "T must be an integer from 1 to 4294967295, got 8589934592"),
        ({"agent": "sarsa"}, "agent must be one of es, ts, .*uniform, got 'sarsa'"),
        (
            {"agent": "ts", "M": 3},
            "M belongs to agent 'es', 'es\\+\\+' or 'lin-es', which",
        ),
        ({"alpha": 2}, "alpha belongs to agent 'linucb' or 'd-linucb', which is not in the study"),
        ({"noise": [1, 0]}, "noise must be a finite number above 0, got 0"),
        ({"noise": float("nan")}, "noise must be a finite number, got nan"),
        ({"prior_cov": -1}, "prior_cov must be a finite number of at least 0, got -1"),
        ({"arms": "basis"}, "basis arms are the d unit vectors: K must equal d, got 100 and 10"),
        ({"runs": 0}, "runs must be an integer from 1 to 4294967295, got 0"),
        ({"runs": [1, 2]}, r"runs must be an integer from 1 to 4294967295, got \[1, 2\]"),
        ({"seed": -1}, "seed must be an integer from 0 to"),
        ({"points": 0}, "points must be an integer from 1 to"),
        (
            {"M": "1,2,...,1000", "K": "1,2,...,1000"},
            "a study must have at most 100,000 combinations of values, got 1,000,000",
        ),
    ],
)
def test_bad_studies_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        fastes.Study(**words)


def test_a_study_is_read_from_toml(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('agent = ["es", "ts"]\nM = "2,4,...,16"\nK = 50\nnoise = 0.5\nruns = 7\n')
    read = study.Study.read(path)
    assert len(read.settings) == 5
    problem = read.settings[0].problem
    assert (problem.K, problem.noise, read.runs) == (50, 0.5, 7)
    for text, message in [
        ("M = [", "study.toml is not a TOML file"),
        ("Q = 1", "study.toml: unknown study parameter 'Q'"),
        ("K = -1", "study.toml: K must be an integer"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            study.Study.read(path)


@given(
    st.lists(st.floats(1e-6, 1e3), min_size=6, max_size=6),
    st.floats(1e-3, 100),
    st.integers(1, 500),
)
def test_tasks_are_balanced_and_cover_every_run_once(costs, seconds, runs):
    grid = fastes.Study(**{**SMALL, "runs": runs})
    pieces = tasks.split_into_tasks(grid, costs, seconds)
    assert [task.number for task in pieces] == list(range(len(pieces)))
    covered = sorted((t.setting, i) for t in pieces for i in range(t.first, t.last))
    assert covered == [(s, i) for s in range(6) for i in range(runs)]
    for task in pieces:
        assert task.cost == pytest.approx(costs[task.setting] * (task.last - task.first))
        # At most half as long again as asked for, and one run more by rounding; or one run.
        assert task.cost <= 1.5 * seconds + 2 * costs[task.setting]
    assert [task.cost for task in pieces] == sorted((t.cost for t in pieces), reverse=True)


def test_runs_that_go_in_step_stay_together():
    words = {"agent": "ts", "K": 5000, "d": 50, "T": 100, "runs": 100}
    pieces = tasks.split_into_tasks(fastes.Study(**words), [10.0], 1.0)
    assert [task.last - task.first for task in pieces] == [34, 33, 33]


def test_the_calibration_sees_what_takes_longer(monkeypatch):
    monkeypatch.setattr(cost, "_MOST_SECONDS", np.inf)  # whatever else the machine does
    grid = fastes.Study(agent="ts", K=[20, 20_000], d=[4, 60], T=300, runs=40)
    sizes = [(s.problem.K, s.problem.d) for s in grid.settings]
    costs = dict(zip(sizes, cost.calibrate(grid), strict=True))
    assert costs[20_000, 60] > 2 * costs[20, 4] > 0  # a hundred times, on a machine at rest


def test_settings_that_are_not_measured_cost_what_those_like_them_do(monkeypatch):
    monkeypatch.setattr(cost, "_MOST_SECONDS", -1.0)
    monkeypatch.setattr(cost, "_seconds_a_step", lambda grid, setting: setting.problem.K * 1e-6)
    grid = fastes.Study(agent=["es", "ts"], M=3, K=[1, 7, 10], T=[10, 20])
    assert np.allclose(cost.calibrate(grid), [1e-4, 2e-4] * 6)  # the last of each agent
    monkeypatch.setattr(cost, "_MOST_SECONDS", 9.0)
    expected = [s.problem.K * s.T * 1e-6 for s in grid.settings]
    assert np.allclose(cost.calibrate(grid), expected)


def test_of_a_large_study_few_settings_are_played_beforehand(tmp_path, monkeypatch):
    # What took a time in the square of a hundred thousand settings would take hours.
    played = []

    def seconds_a_step(grid, setting):
        played.append(setting)
        return 1e-6 * setting.problem.K

    monkeypatch.setattr(cost, "_seconds_a_step", seconds_a_step)
    grid = fastes.Study(agent=["es", "ts"], M="1,2,...,50", K="1,2,...,99", T=1, runs=1)
    planned = sweep.plan(grid)
    assert len(played) == 50
    assert len(planned.tasks) == len(grid.settings) == 99 * 51
    for kind in ("es", "ts"):
        known = {1e-6 * s.problem.K for s in played if s.agent.name == kind}
        pairs = zip(grid.settings, planned.costs, strict=True)
        assert {cost for setting, cost in pairs if setting.agent.name == kind} <= known
    store.create(tmp_path / "a.db", grid, planned.tasks)
    assert fastes.load(tmp_path / "a.db").results() == []


def test_what_does_not_fit_is_refused_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with pytest.raises(MemoryError, match="a run with K=5,000, d=20, T=10, M=2 needs"):
        run(tmp_path / "a.db", {"M": 2, "K": [10, 5000], "d": 20, "T": 10})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("agent", ["es", "ts", "linucb"])
@pytest.mark.parametrize(
    "problem",
    [
        {},
        {"K": 30, "d": 200},
        {"arms": "basis", "K": 40, "d": 40},
        {"arms": "ball", "d": 300},
        {"redraw": "run", "d": 120},
        {"redraw": "step", "d": 120, "delay": 7},
        {"available": 9, "K": 300},
        {"problem": BANDITS["full"]},
        {"problem": BANDITS["fewer arms than dimensions"]},
    ],
    ids=str,
)
def test_the_memory_of_a_setting_is_that_of_the_plan_and_of_its_problem(
    agent, problem, monkeypatch
):
    grid = fastes.Study(agent=agent, **problem, T=50, runs=1)
    (setting,) = grid.settings
    experiment = grid.experiment(setting)
    bandit, planned = experiment.bandit, {}
    monkeypatch.setattr(memory, "require", lambda what, needed: planned.update({what[:5]: needed}))
    plan.make_plan(experiment, *experiment.agents, runs=1, threads=1)
    once = 8 * len(experiment.times)
    arms = bandit.action_set.counted_arms
    made = problem_bytes(arms, bandit.d, drawn="problem" not in problem)
    assert sweep._bytes(setting) == planned["a run"] - once + made
    assert made >= 4 * 8 * arms * bandit.d


@pytest.mark.parametrize(
    ("runs", "covered"),
    [
        ([(0, 0, 4), (0, 4, 9), (1, 0, 9)], True),
        ([(0, 0, 4), (1, 0, 9)], False),
        ([(0, 0, 4), (0, 5, 9), (1, 0, 9)], False),
        ([(0, 0, 5), (0, 4, 9), (1, 0, 9)], False),
        ([(0, 0, 9), (0, 0, 9), (1, 0, 9)], False),
        ([(0, 0, 9), (1, 0, 9), (2, 0, 9)], False),
        ([(0, 0, 9), (-1, 0, 9)], False),
        ([(0, 0, 9)], False),
        ([], False),
    ],
)
def test_tasks_that_do_not_cover_a_study_are_noticed(runs, covered):
    grid = fastes.Study(agent="ts", K=[5, 6], d=2, T=5, runs=9)
    cut = [tasks.Task(number, *each, 1.0) for number, each in enumerate(runs)]
    assert tasks.covers(grid, cut) is covered


def test_every_axis_is_in_the_docstring():
    listed = re.search(r"-{5,}\n(.*?)\n {8}The axes:", fastes.Study.__doc__, re.S)[1]
    assert [name.strip() for name in listed.replace("\n", " ").split(",")] == list(AXES)
