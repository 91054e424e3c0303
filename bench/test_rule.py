"""The rule by which a ratio is slower, the records, and the figures to reach."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from bench import history, sensitivity
from bench import map as sizes
from bench.__main__ import main
from bench.measure import Target, in_units, ratio_of
from bench.session import ROOT, check_out
from bench.table import print_table


def in_turns(rng, slower, noise):
    """Return whether there is an alarm, and after how many turns that was known.

    What a pair does not share has the standard deviation `noise`, in the logarithm.
    """
    turns = []

    def measure():
        turns.append(1)
        return 5.0 * slower, 5.0 * np.exp(noise * rng.standard_normal())

    return history.fall_in_turns(measure).is_alarm, len(turns)


@pytest.mark.parametrize(("noise", "share"), [(0.05, 0.995), (0.1, 0.95), (0.15, 0.65)])
def test_a_fall_of_a_fifth_is_an_alarm_unless_the_machine_is_busy(noise, share):
    rng = np.random.default_rng(0)
    assert sum(in_turns(rng, 1.2, noise)[0] for _ in range(1000)) > 1000 * share


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_noise_is_no_alarm_and_soon_given_up(noise):
    rng = np.random.default_rng(1)
    alarms, turns = zip(*(in_turns(rng, 1.0, noise) for _ in range(1000)), strict=True)
    assert not any(alarms)
    assert np.mean(turns) < 8


def test_a_fall_by_hand():
    fall = history.fall_of([4.0, 4.0, 4.0, 4.0], [2.0, 2.0, 2.0, 2.0])
    assert (fall.before, fall.now) == (pytest.approx(4), pytest.approx(2))
    assert fall.standard_errors == pytest.approx(math.log(2) / history.LEAST_SPREAD * 2)
    assert fall.is_alarm
    assert not history.fall_of([4.0] * 9, [3.8] * 9).is_alarm  # less than 8%
    assert not history.fall_of([4.0, 4.0], [2.0, 8.0]).is_alarm
    assert not history.fall_of([2.0] * 9, [4.0] * 9).is_alarm


def test_what_fell_by_more_than_5_per_cent_looks_slower():
    before = {"a": [4.0, 4.0], "b": [4.0], "c": [4.0], "gone": [4.0]}
    now = {"a": [3.0, 3.6], "b": [3.9], "c": [2.0], "new": [1.0]}
    assert history.suspects(before, now) == ["c", "a"]


def test_another_commit_is_measured_with_its_own_kernels(tmp_path):
    laid_out = check_out("HEAD", tmp_path)
    program = "import fastes.kernels.jit; print(fastes.kernels.jit.__file__)"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=laid_out, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path))
    with pytest.raises(ValueError, match="commit 0000000 is not in this repository"):
        check_out("0000000", tmp_path)


def figure(name, fastest):
    return {"name": name, "fastest": fastest, "subject_seconds": 1e-6}


def test_records_come_back(tmp_path):
    made = history.record_of("abc", [[figure("a", 2.0)], [figure("a", 3.0), figure("b", 1.0)]])
    path = history.append(made, tmp_path)
    assert history.load(path) == made
    assert history.records(tmp_path) == [made]
    assert history.last_here(tmp_path) == made
    assert made.medians() == {"a": 2.5, "b": 1.0}
    path.write_text("{}")
    with pytest.raises(ValueError, match="is no record of benchmarks"):
        history.load(path)


def test_the_history_is_drawn(tmp_path):
    for ratio in (2.0, 2.2):
        history.append(history.record_of("abc", [[figure("a/x", ratio)]]), tmp_path)
    out = tmp_path / "history.svg"
    words = ["plot", "--history", str(tmp_path), "--out", str(out)]
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output
    assert "</svg>" in out.read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["compare", "--history", "EMPTY"], "say --against which commit"),
        (["compare", "--history", "DAMAGED"], "is no record of benchmarks"),
        (["compare", "--against", "0000000"], "commit 0000000 is not in this repository"),
        (["run", "--history", "DAMAGED"], "is no record of benchmarks"),
        (["run", "--only", "nonsense"], "no benchmark matches 'nonsense'"),
        (["run", "--only", "foo bar"], "'foo bar' is no expression of names"),
        (["plot", "--history", "EMPTY", "--out", "x.png"], "make one with record"),
        (["plot", "--out", "x.nonsense"], "nonsense"),
        (["plot", "--only", "nonsense", "--out", "x.png"], "no benchmark's name holds 'nonsense'"),
    ],
    ids=map(str, range(9)),  # an id that matched the words would let the test run itself
)
def test_what_cannot_be_done_is_said_in_a_sentence(words, sentence, tmp_path):
    folders = {name: tmp_path / name for name in ("EMPTY", "DAMAGED")}
    for folder in folders.values():
        folder.mkdir()
    (folders["DAMAGED"] / "record.json").write_text('{"commit"')
    outcome = CliRunner().invoke(main, [str(folders.get(word, word)) for word in words])
    assert outcome.exit_code == 1
    assert isinstance(outcome.exception, SystemExit)
    assert sentence in outcome.output.splitlines()[-1]


@pytest.mark.parametrize("command", [None, "run", "design", "map", "record", "compare", "plot"])
def test_help_is_no_error(command):
    outcome = CliRunner().invoke(main, [*([command] if command else []), "--help"])
    assert outcome.exit_code == 0
    assert outcome.output.startswith("Usage: ")
    assert "Error" not in outcome.output


def test_an_unknown_option_is_an_error():
    assert CliRunner().invoke(main, ["run", "--nonsense"]).exit_code == 2


def row(name, **others):
    empty = {"median": 2.0, "fastest": 2.0, "subject_seconds": 1e-6, "share_of_limit": None}
    return {"name": name, **empty, "target": None, "reached": None, "design": None, **others}


def test_a_figure_is_one_line_below_its_module(capsys):
    target = {"target": "<= 1.25 ms or >= 100", "reached": False, "share_of_limit": 1.5}
    print_table([row("a/one[1000-50]"), row("a/two"), row("b/" + 24 * "x", **target)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "name",
        "a",
        "one[1000-50]",
        "two",
        "b",
        24 * "x",
    ]
    assert lines[2].split() == ["one[1000-50]", "1", "us", "2"]
    assert lines[-1].endswith("<= 1.25 ms or >= 100  missed")
    assert max(map(len, lines)) <= 80


def test_a_table_in_markdown(capsys):
    print_table([row("a/one", design="a row", reached=True)], title="design", markdown=True)
    assert capsys.readouterr().out.splitlines() == [
        "| design | time | ratio |",
        "| --- | --- | --- |",
        "| a row | 1 us | 2 |",
    ]


def test_a_map_of_sizes(tmp_path):
    cells = list(sizes.measure((3, 5), (1, 2), quick=True))
    assert [(cell.K, cell.d) for cell in cells] == [(3, 1), (3, 2), (5, 1), (5, 2)]
    assert all(cell.seconds > 0 and cell.share > 0 for cell in cells)
    sizes.draw(cells, tmp_path / "map.svg")
    assert "</svg>" in (tmp_path / "map.svg").read_text()
    made = [sizes.Cell(10, 2, 1e-6, 0.25), sizes.Cell(10, 5, 2e-6, 1.5)]
    assert sizes.table(made, markdown=False) == [
        " K       d=2        d=5",
        "10  1 us 25%  2 us 150%",
    ]
    assert sizes.table(made, markdown=True)[2] == "| 10 | 1 us 25% | 2 us 150% |"


def test_circumstances_are_one_line():
    assert re.fullmatch(r"\d{4}-\d\d-\d\d; .+; one thread; python .+", history.circumstances())


def test_targets():
    ratio = ratio_of([2.0, 1.0, 4.0], [8.0, 4.0, 16.0])
    assert ratio.median == ratio.fastest == 4.0
    assert Target(4.0).reached(ratio)
    assert not Target(4.1).reached(ratio)
    assert Target(4.1, most_seconds=2.0).reached(ratio)
    assert not Target(most_extra_seconds=-7.0).reached(ratio)
    assert Target(8.0).share(ratio) == 0.5
    assert Target(8.0, most_seconds=2.0).share(ratio) == 1.0
    assert Target(most_extra_seconds=1.0).share(ratio) == 0.0
    assert str(Target(40.0, most_seconds=1e-6)) == ">= 40 or <= 1 us"


@pytest.mark.parametrize(
    ("duration", "words"), [(15.0, "15 s"), (0.15, "150 ms"), (1e-6, "1 us"), (5.5e-8, "55 ns")]
)
def test_units(duration, words):
    assert in_units(duration) == words


def test_the_kernel_that_is_made_slower_is_there():
    assert (ROOT / sensitivity._KERNEL).read_text().count(sensitivity._SCAN) == 1
