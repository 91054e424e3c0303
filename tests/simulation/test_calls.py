"""Wrong calls get a sentence that names the argument; right ones draw their progress."""

import contextlib
import sys
import types

import numba
import numpy as np
import pytest

import fastes
from fastes.agents import AGENTS
from fastes.simulation import bars

BANDIT = fastes.LinearBandit.random(20, 3)
TS = fastes.ThompsonSampling()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fastes.compare(BANDIT, TS, 10), TypeError, "agents must be a list of agents"),
        (lambda: fastes.compare(BANDIT, [], 10), ValueError, "agents must have at least one agent"),
        (lambda: fastes.compare(BANDIT, [TS, 3], 10), TypeError, "agent must be an agent such as"),
        (lambda: fastes.compare(BANDIT, [TS], 10, foo=1), TypeError, "argument 'foo'"),
        (lambda: fastes.simulate(BANDIT, [TS], 10), TypeError, "agent must be an agent such as"),
        (
            lambda: fastes.simulate(None, TS, 10),
            TypeError,
            "bandit must be a problem such as a LinearBandit, got None",
        ),
        (
            lambda: fastes.simulate(TS, BANDIT, 10),
            TypeError,
            "bandit must be a problem such as a LinearBandit, got Th",
        ),
        (
            lambda: fastes.simulate(BANDIT, TS, 10, progress=3),
            TypeError,
            "progress must be True or",
        ),
        (lambda: TS.start(None), TypeError, "bandit must be a problem such as a LinearBandit"),
        (
            lambda: TS.start(np.eye(3)),
            TypeError,
            "bandit must be a problem such as a LinearBandit, got array",
        ),
        (lambda: fastes.rerun("r.npz"), TypeError, "result must be a Result or a Comparison"),
        (
            lambda: fastes.Study(problem=3),
            TypeError,
            "problem must be one such as a LinearBandit, or its file",
        ),
        (lambda: fastes.sweep(BANDIT, "a.db"), TypeError, "study must be a Study, got Linear"),
    ],
)
def test_a_wrong_call_is_one_sentence(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1


def test_a_whole_float_is_an_integer_as_on_the_command_line():
    bandit = fastes.LinearBandit.random(2e1, np.float32(3))
    found = fastes.simulate(bandit, fastes.EnsembleSampling(5.0), T=1e1, runs=2.0, seed=1e3)
    same = fastes.simulate(BANDIT.random(20, 3), fastes.EnsembleSampling(5), 10, 2, seed=1000)
    np.testing.assert_array_equal(found.regret.per_run, same.regret.per_run)
    c = found.configuration
    assert [type(each) for each in (c.T, c.runs, c.seed, c.K, c.parameters["M"])] == [int] * 5
    assert fastes.Study(T=[1e3]) == fastes.Study(T=1000)
    for T in (1.5, float("inf"), float("nan"), 1e30, -1e1, True, "1e1"):
        with pytest.raises(ValueError, match="T must be an integer from 1 to"):
            fastes.simulate(BANDIT, TS, T)


@pytest.mark.parametrize("progress", [True, False, None])
def test_nothing_is_drawn_where_nobody_looks(progress, capfd):
    fastes.simulate(BANDIT, TS, 10, progress=progress)
    assert capfd.readouterr() == ("", "")


def test_progress_tells_the_agent_with_its_parameters_and_all_steps():
    seen = []
    agents = [fastes.EnsembleSampling(5), TS]
    fastes.compare(BANDIT, agents, 50, 4, progress=seen.append)
    assert {now.agent for now in seen} == {"ES, M=5", "TS"}
    assert seen[-1][:5] == ("TS", 200, 200, 400, 400)
    assert [now.overall_steps for now in seen] == sorted(now.overall_steps for now in seen)


def test_progress_is_right_after_resume(tmp_path):
    file, seen = tmp_path / "run.ckpt", []
    fastes.compare(BANDIT, [fastes.Greedy(), TS], 50, 4, checkpoint=file)
    fastes.resume(file, T=80, progress=seen.append)
    first = next(now for now in seen if now.agent == "Greedy")
    assert first.steps >= 200  # what was done before counts
    assert first.overall_total == 2 * 4 * 80
    assert seen[-1].overall_steps == 640


@pytest.fixture
def notebook(monkeypatch):
    """Pretend to be a notebook. Return the HTML that is shown, the last one last."""
    shown = []

    def display(html, display_id):
        shown.append(html)
        return types.SimpleNamespace(update=shown.append)

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=1)
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(bars, "_NOTEBOOK_SECONDS", 0.0)
    return shown


def test_a_notebook_gets_a_bar_of_its_own(notebook, tmp_path):
    fastes.compare(BANDIT, [fastes.Greedy(), TS], 50, 4, progress=True)
    assert "<progress value='200' max='200'></progress>" in notebook[-1]
    assert "<progress value='400' max='400'></progress>" in notebook[-1]
    assert "<td>TS</td>" in notebook[-1]
    fastes.sweep(fastes.Study(agent="ts", K=5, d=2, T=5, runs=3), tmp_path / "a.db", progress=True)
    assert "<td>1 of 1</td>" in notebook[-1]


@pytest.mark.parametrize(
    ("progress", "terminal", "kept", "told"),
    [
        (None, True, True, True),
        (True, True, True, True),
        (False, True, True, False),  # as the command does with --quiet
        (None, False, True, False),
        (None, True, False, False),  # there is a warning, and it is not once
    ],
)
def test_a_first_call_says_that_it_compiles(progress, terminal, kept, told, monkeypatch):
    printed = []
    shown = types.SimpleNamespace(print=printed.append)
    monkeypatch.setattr(bars, "_on_terminal", lambda: terminal)
    monkeypatch.setattr(bars, "_terminal_bars", lambda: contextlib.nullcontext(lambda shown: None))
    monkeypatch.setattr(bars, "terminal", lambda: shown)
    monkeypatch.setattr(bars, "cache_is_kept", lambda: kept)

    def play(bandit, seed):
        numba.njit(lambda: 1)()  # in every run
        return fastes.Greedy().start(bandit, seed)

    fastes.simulate(BANDIT, types.SimpleNamespace(start=play), 2, 2, progress=progress)
    assert printed == ["compiling for this machine (once, ten to thirty seconds)"] * told


def test_a_notebook_says_that_it_compiles(notebook, capsys):
    for progress in (None, True):
        with bars.progress_report(progress):
            numba.njit(lambda: 1)()
        assert capsys.readouterr().err.startswith("compiling for this machine")


def test_ipython_in_a_terminal_is_a_terminal(monkeypatch):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert not bars._in_notebook()


def test_every_agent_is_in_the_docstring():
    for kind in AGENTS.values():
        assert f"`{kind.__name__}`" in fastes.simulate.__doc__
