"""One BLAS thread each, and a table of ratios at the end."""

import os

# Before anything imports NumPy: a baseline on all cores would be no baseline for one thread.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"

from collections.abc import Callable

import pytest

from bench.measure import Ratio, ratio_of, seconds

_ratios: dict[str, Ratio] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="a smoke test: one round of each")


@pytest.fixture
def compare(request: pytest.FixtureRequest, benchmark: "object") -> Callable[..., Ratio]:
    """Time a subject against its baseline, in turns, and keep the ratio with the benchmark."""

    def measure(
        subject: Callable[[], object],
        baseline: Callable[[], object],
        *,
        figure: str,
        work: float = 1.0,
        baseline_work: float = 1.0,
        rounds: int = 15,
        warm_up: bool = True,
    ) -> Ratio:
        ours: list[float] = []
        theirs: list[float] = []
        if warm_up:
            subject()
            baseline()
        benchmark.pedantic(  # type: ignore[attr-defined]
            lambda: ours.append(seconds(subject) / work),
            setup=lambda: theirs.append(seconds(baseline) / baseline_work),
            rounds=1 if request.config.getoption("--quick") else rounds,
        )
        ratio = ratio_of(ours, theirs)._replace(figure=figure)
        benchmark.extra_info.update(ratio._asdict())  # type: ignore[attr-defined]
        _ratios[request.node.name] = ratio
        return ratio

    return measure


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _ratios:
        return
    terminalreporter.section("ratios: baseline's time over ours, a unit of work")
    for name, ratio in _ratios.items():
        low, high = ratio.low, ratio.high
        terminalreporter.write_line(f"{name}: {ratio.median:.3g} ({low:.3g} to {high:.3g})")
        terminalreporter.write_line(
            f"    ours {ratio.subject_seconds:.3g} s, baseline {ratio.baseline_seconds:.3g} s; "
            f"to reach: {ratio.figure}"
        )
