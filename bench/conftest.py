"""The fixture that times a subject against its baseline, and a table of ratios at the end."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bench.baselines import MissingBaselineError
from bench.limits import Work, limits
from bench.measure import Ratio, Target, ratio_of, seconds
from bench.table import print_table

_figures: list[dict[str, Any]] = []
_SHORT = 0.2  # seconds of a round


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="a smoke test: one to three rounds of each"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "design(row): a figure of the design to reach")
    config.addinivalue_line("markers", "tracked: quick and steady enough to be compared over time")


@pytest.fixture(scope="session")
def available() -> Callable[[Callable[[], Any]], Any]:
    """Call a baseline, and skip what asks for it where it cannot be run, with its sentence."""

    def call(baseline: Callable[[], Any]) -> Any:
        try:
            return baseline()
        except MissingBaselineError as error:
            pytest.skip(str(error))

    return call


@pytest.fixture
def quick(request: pytest.FixtureRequest) -> bool:
    """Check whether a smoke test is enough."""
    return bool(request.config.getoption("--quick"))


@pytest.fixture
def compare(request: pytest.FixtureRequest, benchmark: Any, quick: bool) -> Callable[..., Ratio]:
    """Time a subject against its baseline, in turns, and keep the ratio with the benchmark."""

    def measure(
        subject: Callable[[], object],
        baseline: Callable[[], object] | Sequence[Callable[[], object]],
        *,
        target: Target | None = None,
        needs: Work | None = None,
        work: float = 1.0,
        baseline_work: float = 1.0,
        rounds: int = 15,
        warm_up: bool = True,
    ) -> Ratio:
        """`needs` is what a unit of work cannot do without; `work` how many a call does.

        Of several baselines the fastest of each round counts.
        """
        ours: list[float] = []
        theirs: list[float] = []
        baselines = [baseline] if callable(baseline) else baseline
        took = math.inf
        if warm_up:
            took = seconds(subject)
            for call in baselines:
                call()
        if quick:  # a few rounds where they are short, so that one bad moment does not count
            rounds = min(rounds, 3 if took < _SHORT else 1)
        benchmark.pedantic(
            lambda: ours.append(seconds(subject) / work),
            setup=lambda: theirs.append(min(map(seconds, baselines)) / baseline_work),
            rounds=rounds,
        )
        ratio = ratio_of(ours, theirs)
        design = request.node.get_closest_marker("design")
        figure = {
            "name": f"{request.path.stem.removeprefix('test_')}/{request.node.name[5:]}",
            **ratio._asdict(),
            "share_of_limit": limits().seconds(needs) / ratio.subject_seconds if needs else None,
            "target": None if target is None else str(target),
            "share_of_target": None
            if target is None or target.least_ratio is None
            else target.share(ratio),
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
