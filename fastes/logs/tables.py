"""Replays as tables."""

import textwrap

from fastes.checks.numbers import counted
from fastes.logs.estimates import ASSUMPTIONS, PolicyValue
from fastes.logs.replay import Replay
from fastes.results.tables import Column, Grid, Parts, grid, notes, rounded, with_error

_COLUMNS = (
    Column("agent", lambda e: e.label),
    Column("method", lambda e: e.method),
    Column("value", lambda e: with_error(e.value, e.se), "Value: reward per row, +- one SE."),
    Column("effective rows", lambda e: rounded(e.effective_rows)),
    Column(
        "mean weight",
        lambda e: with_error(e.mean_weight, e.mean_weight_se),
        "The mean weight is 1 in expectation if the propensities are right.",
    ),
)


def replay_tables(replay: Replay) -> Parts:
    """Return what was replayed, a row for each estimate, and what the methods assume."""
    log = replay.log
    logged = with_error(log.mean_reward, log.mean_reward_se)
    origin = "uniform logging" if log.uniform else "logged propensities"
    first = (
        f"log of {counted(log.rows, 'row')}, {log.arms}, d={log.d:,}, {origin}, mean reward "
        f"{logged}, seed {log.seed}"
    )
    used = dict.fromkeys(each.method for each in replay)
    lines = [f"{name}: {ASSUMPTIONS[name]}." for name in used]
    table: Grid = grid(_COLUMNS, replay, 2)
    wrapped = [part for line in lines for part in textwrap.wrap(line, 80, subsequent_indent="  ")]
    return [
        *textwrap.wrap(first, 80),
        table,
        *notes(_COLUMNS),
        *wrapped,
        *_warnings([each for each in replay if each.suspect]),
    ]


def _warnings(suspect: list[PolicyValue]) -> list[str]:
    return [
        f"Warning: {each.label}, {each.method}: the mean weight is far from 1, so the propensities "
        "are wrong"
        for each in suspect
    ]
