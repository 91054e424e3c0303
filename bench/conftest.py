"""The fixture that times a subject against its baseline, and a table of ratios at the end."""

from collections.abc import Callable
from typing import Any

import pytest

from bench.limits import Work, limits
from bench.measure import Ratio, Target, ratio_of, seconds
from bench.table import print_table

_figures: list[dict[str, Any]] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="a smoke test: one round of each")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "design(row): a figure of the design to reach")
    config.addinivalue_line("markers", "tracked: quick and steady enough to be compared over time")


@pytest.fixture
def quick(request: pytest.FixtureRequest) -> bool:
    """Tell whether a smoke test is enough."""
    return bool(request.config.getoption("--quick"))


@pytest.fixture
def compare(request: pytest.FixtureRequest, benchmark: Any, quick: bool) -> Callable[..., Ratio]:
    """Time a subject against its baseline, in turns, and keep the ratio with the benchmark."""

    def measure(
        subject: Callable[[], object],
        baseline: Callable[[], object],
        *,
        target: Target | None = None,
        needs: Work | None = None,
        work: float = 1.0,
        baseline_work: float = 1.0,
        rounds: int = 15,
        warm_up: bool = True,
    ) -> Ratio:
        """`needs` is what a unit of work cannot do without; `work` how many a call does."""
        ours: list[float] = []
        theirs: list[float] = []
        if warm_up:
            subject()
            baseline()
        benchmark.pedantic(
            lambda: ours.append(seconds(subject) / work),
            setup=lambda: theirs.append(seconds(baseline) / baseline_work),
            rounds=1 if quick else rounds,
        )
        ratio = ratio_of(ours, theirs)
        design = request.node.get_closest_marker("design")
        figure = {
            "name": f"{request.path.stem.removeprefix('test_')}/{request.node.name[5:]}",
            **ratio._asdict(),
            "share_of_limit": limits().seconds(needs) / ratio.subject_seconds if needs else None,
            "target": None if target is None else str(target),
            "least_ratio": None if target is None else target.least_ratio,
            "reached": None if target is None else target.reached(ratio),
            "design": None if design is None else design.args[0],
            "tracked": request.node.get_closest_marker("tracked") is not None,
        }
        benchmark.extra_info.update(figure)
        _figures.append(figure)
        return ratio

    return measure


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _figures:
        terminalreporter.section("baseline's time over ours, a unit of work")
        print_table(_figures)
