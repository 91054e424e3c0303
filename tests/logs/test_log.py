"""Logs: what is accepted, and what is refused in which words."""

import numpy as np
import pandas as pd
import pytest

import fastes
from fastes.logs.uniformity import check_uniform

REWARD = [0.5, 1.0, 0.25]


def logged(path, text, **columns):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return fastes.Log.from_csv(path, **columns)


def test_a_log_is_what_its_arrays_say():
    log = fastes.Log(np.eye(4), [3, 0, 1], REWARD, [0.5, 0.25, 1])
    assert (len(log), log.d, log.groups, log.is_uniform) == (3, 4, 1, False)
    assert log.places.tolist() == [3, 0, 1]
    assert log.propensity.tolist() == [0.5, 0.25, 1.0]
    assert fastes.LinearBandit(log.actions).K == 4


def test_propensities_of_uniform_draws_are_those_of_the_arms_on_offer():
    given = {"propensity": "uniform", "reward": REWARD}
    some = fastes.Log(3, [2, 1, 0], available=[[0, 2], [1], [0, 1, 2]], **given)
    assert some.propensity.tolist() == [0.5, 1.0, 1 / 3]
    assert some.places.tolist() == [1, 0, 0]
    masked = fastes.Log(
        3, [2, 1, 0], available=np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]], bool), **given
    )
    assert masked.places.tolist() == some.places.tolist()
    assert masked.propensity.tolist() == some.propensity.tolist()
    ragged = fastes.Log([np.eye(2), np.eye(2)[:1], np.ones((4, 2))], [1, 0, 3], **given)
    assert ragged.propensity.tolist() == [0.5, 1.0, 0.25]
    given_sets = fastes.Log(np.ones((3, 5, 2)), [4, 0, 3], **given)
    assert set(given_sets.propensity.tolist()) == {0.2}


def test_features_of_arms_played_are_found_however_arms_are_given(tmp_path):
    rng = np.random.default_rng(0)
    sets, arm = rng.normal(size=(3, 4, 2)), np.array([1, 3, 0])
    played, rows = sets[np.arange(3), arm], np.array([2, 0])
    np.save(tmp_path / "sets.npy", sets)
    mapped = np.load(tmp_path / "sets.npy", mmap_mode="r")
    for log in (
        fastes.Log(sets, arm, REWARD),
        fastes.Log(mapped, arm, REWARD),
        fastes.Log([sets[0][:2], sets[1], sets[2]], arm, REWARD),
        fastes.Log(None, played, REWARD),
        fastes.Log(played, [0, 1, 2], REWARD),
        fastes.Log(played, [0, 1, 2], REWARD, available=[[0], [2, 1], [2]]),
    ):
        assert (log.offers.played(log.places, rows) == played[rows]).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((3, [0, 3, 1], REWARD), "arm must be an integer from 0 to 2, got 3 in row 1"),
        ((3, [0, -1, 1], REWARD), "arm must be an integer from 0 to 2, got -1 in row 1"),
        ((3, [0, 1, 2], [1.0, np.nan, 0]), r"reward must be finite, got nan at \[1\]"),
        ((3, [0, 1, 2], []), "at least one, got shape"),
        ((3, [0, 1, 2], REWARD, [0.5, 0, 1]), "above 0 and at most 1, got 0 in row 1"),
        ((3, [0, 1, 2], REWARD, [0.5, 0.5, 1.5]), "got 1.5 in row 2"),
        ((3, [0, 1, 2], REWARD, [0.5, 0.5, np.nan]), "got nan in row 2"),
        ((3, [0, 1, 2], REWARD, [0.5, 0.5]), "3 numbers, one for each row"),
        ((3, [0, 1, 2], REWARD, "even"), "must be numbers or 'uniform', got 'even'"),
        ((np.ones((2, 4, 2)), [0, 1, 2], REWARD), "a set for each of 3 rows"),
        (([np.eye(2)] * 2, [0, 1, 2], REWARD), "a set for each of 3 rows, got 2"),
        (([np.eye(2), np.eye(3), np.eye(2)], [0, 1, 1], REWARD), "actions of row 1 must be"),
        ((None, [0, 1, 2], REWARD), r"arm must be features, \(3, d\)"),
        ((None, np.eye(3), REWARD, "uniform"), "the arms played only: give Log the actions"),
        ((0, [0, 1, 2], REWARD), "a number of arms, must be an integer from 1"),
    ],
)
def test_what_is_wrong_with_a_log_is_said_in_a_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        fastes.Log(*given)


def test_arms_are_integers():
    with pytest.raises(TypeError, match="arm must be 3 integers"):
        fastes.Log(3, [0.0, 1.0, 2.0], REWARD)


@pytest.mark.parametrize(
    ("available", "message"),
    [
        ([[0, 1], [0, 2], [1]], "arm must be one of those available, .0, 2., got 1 in row 1"),
        ([[0], [1, 3], [1]], "available must have integers from 0 to 2, got 3 in row 1"),
        ([[0], [], [2]], "available must have at least one arm, got none in row 1"),
        ([[0], [1, 0, 1], [2]], "available must have each arm once, got 1 twice in row 1"),
        ([[0]], "available must have 3 rows, got 1"),
        (np.ones((3, 2), bool), r"available must have shape \(3, 3\)"),
    ],
)
def test_arms_on_offer_are_checked(available, message):
    with pytest.raises(ValueError, match=message):
        fastes.Log(3, [0, 1, 2], REWARD, available=available)


def test_a_log_that_was_not_drawn_uniformly_is_refused():
    rng = np.random.default_rng(1)
    reward = np.zeros(2000)
    check_uniform(rng.integers(4, size=2000), np.full(2000, 4))
    with pytest.raises(ValueError, match="cannot be 'uniform': place 0 among the arms on offer"):
        fastes.Log(4, rng.choice(4, size=2000, p=[0.4, 0.2, 0.2, 0.2]), reward, "uniform")
    # Preferred where it is the last on offer of few.
    sizes = rng.choice([2, 5], size=2000)
    check_uniform(rng.integers(sizes), sizes)
    with pytest.raises(ValueError, match=r"cannot be .uniform."):
        check_uniform(np.where(sizes == 2, 1, rng.integers(5, size=2000)), sizes)


def test_a_log_of_one_row_may_be_uniform():
    assert fastes.Log(5, [4], [1.0], "uniform").propensity.tolist() == [0.2]


def test_a_csv_file_and_a_data_frame_are_the_same_log(tmp_path):
    text = '\ufeff"banner",note,click,p,offer,user\r\n2,"a, b",1,.5,0 2,x\r\n\r\n0,,0,1,0,y\r\n'
    names = {"arm": "banner", "reward": "click", "available": "offer", "group": "user"}
    read = logged(tmp_path / "log.csv", text, propensity="p", **names)
    frame = pd.DataFrame(
        {"banner": [2, 0], "click": [True, False], "p": [0.5, 1], "user": ["x", "y"]}
    )
    frame["offer"] = [[0, 2], [0]]
    for log in (read, fastes.Log.from_dataframe(frame, propensity="p", **names)):
        assert repr(log) == (
            "Log(2 rows, K=1 to 2 arms, mean reward 0.5, 2 groups, with propensities)"
        )
        assert log.places.tolist() == [1, 0]
        assert log.reward.tolist() == [1.0, 0.0]
        assert log.propensity.tolist() == [0.5, 1.0]


def test_features_are_columns_of_a_csv_file(tmp_path):
    log = logged(tmp_path / "log.csv", "x,y,reward\n1,2,0.5\n3,4,1\n", features=["y", "x"])
    assert log.offers.played(log.places, np.arange(2)).tolist() == [[2, 1], [4, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: a log needs a header"),
        ("arm,reward\n", "has a header but no rows"),
        ("arm,gain\n1,2\n", "has no column 'reward': its columns are arm, gain"),
        ("arm,reward,arm\n1,2,1\n", "has more than one column 'arm'"),
        ("arm,reward\n0,1\n\n1,high\n", "reward must be a finite number, got 'high' in line 4"),
        ("arm,reward\n0,1\n1,\n", "reward must be a finite number, got '' in line 3"),
        ("arm,reward\n0,inf\n", "reward must be a finite number, got 'inf' in line 2"),
        ("arm,reward\n0.5,1\n", "arm must be the index of an arm, from 0, got '0.5' in line 2"),
        ("arm,reward\n-1,1\n", "arm must be the index of an arm, from 0, got '-1' in line 2"),
        ("arm,reward\n0,1\n1,2,3\n", "line 3 of .* has 3 cells, the header has 2"),
        (b"arm,reward\n0,\xff\n", "is not a text file in UTF-8"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        logged(tmp_path / "log.csv", text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,reward,p\n\n0,1,0\n", "propensity must be above 0 and at most 1, got 0 in line 3"),
        ("arm,reward,p,a\n0,1,1,0 x\n", "a must be indices of arms, .* got '0 x' in line 2"),
    ],
)
def test_what_is_wrong_with_the_other_columns_is_said_with_its_line(tmp_path, text, message):
    columns = {"available": "a"} if ",a\n" in text else {}
    with pytest.raises(ValueError, match=message):
        logged(tmp_path / "log.csv", text, propensity="p", **columns)


def test_an_arm_beyond_those_given_is_said_with_its_line(tmp_path):
    with pytest.raises(ValueError, match="an integer from 0 to 1, got 2 in line 3"):
        logged(tmp_path / "log.csv", "arm,reward\n0,1\n2,1\n", actions=np.eye(2))
    with pytest.raises(ValueError, match="a number of arms, must be an integer from 1 to 5000"):
        logged(tmp_path / "log.csv", "arm,reward\n0,1\n4000000000,1\n")
