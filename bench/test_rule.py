"""The rule by which a ratio is slower, the records, and the figures to reach."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

from bench import history
from bench.__main__ import main
from bench.measure import Target, in_units, ratio_of

NOISE = 0.06


def drawn(rng, ratio, n):
    return list(ratio * np.exp(NOISE * rng.standard_normal(n)))


def test_a_fall_of_a_fifth_is_an_alarm():
    # Noise of 6% between processes, 8 in the record and 16 now: found in all but a few of 1,000.
    rng = np.random.default_rng(0)
    found = sum(
        bool(
            history.falls(
                {"a": drawn(rng, 5.0, 8)}, {"a": drawn(rng, 5.0 / 1.2, 16)}, history.ALARM
            )
        )
        for _ in range(1000)
    )
    assert found > 950


def test_noise_is_no_alarm():
    # 1,000 benchmarks that did not change: none is slower twice in a row.
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(1000):
        before = {"a": drawn(rng, 5.0, 8)}
        if history.falls(before, {"a": drawn(rng, 5.0, 3)}, history.SUSPECT):
            alarms += bool(history.falls(before, {"a": drawn(rng, 5.0, 16)}, history.ALARM))
    assert alarms == 0


def test_a_fall_by_hand():
    fall = history.fall_of("a", [4.0, 4.0], [2.0, 2.0])
    assert (fall.before, fall.now) == (pytest.approx(4), pytest.approx(2))
    assert fall.standard_errors == pytest.approx(math.log(2) / history.LEAST_SPREAD)
    assert history.falls({"a": [4.0, 4.0]}, {"a": [3.8, 3.8]}, 0.0) == []  # less than 8%
    assert history.falls({"a": [4.0, 4.0]}, {"b": [1.0]}, 0.0) == []


def figure(name, fastest):
    return {"name": name, "fastest": fastest, "subject_seconds": 1e-6}


def test_records_come_back(tmp_path):
    made = history.record_of([[figure("a", 2.0)], [figure("a", 3.0), figure("b", 1.0)]])
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
        history.append(history.record_of([[figure("a/x", ratio)]]), tmp_path)
    out = tmp_path / "history.svg"
    words = ["plot", "--history", str(tmp_path), "--out", str(out)]
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output
    assert "</svg>" in out.read_text()


def test_without_a_record_it_says_so(tmp_path):
    outcome = CliRunner().invoke(main, ["compare", "--history", str(tmp_path)])
    assert outcome.exit_code == 1
    assert "no record of such a processor" in outcome.output


def test_targets():
    ratio = ratio_of([2.0, 1.0, 4.0], [8.0, 4.0, 16.0])
    assert ratio.median == ratio.fastest == 4.0
    assert Target(4.0).reached(ratio)
    assert not Target(4.1).reached(ratio)
    assert Target(4.1, most_seconds=2.0).reached(ratio)
    assert not Target(most_extra_seconds=-7.0).reached(ratio)
    assert str(Target(40.0, most_seconds=1e-6)) == "ratio >= 40 or <= 1 us"


@pytest.mark.parametrize(
    ("duration", "words"), [(15.0, "15 s"), (0.15, "150 ms"), (1e-6, "1 us"), (5.5e-8, "55 ns")]
)
def test_units(duration, words):
    assert in_units(duration) == words
