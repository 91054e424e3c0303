"""Does the rule of `python -m bench compare` notice what it should, and only that?

Clones the project and compares it with its own commit many times; then with a kernel made 20%
slower on purpose, a scan for the best arm that scores every fifth tile a second time:
``python -m bench.sensitivity``.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from bench.session import ROOT, find_own_kernels

_KERNEL = Path("kernels") / "search" / "screening.py"
_AGAIN = "score_bytes(codes, arms, tile, work.coded.p[0], work.coded, 0, work.tile_maxima[tile:])"
_SCAN = f"        {_AGAIN}\n    rule_out("
_SLOWER = f"        {_AGAIN}\n    for tile in range(0, arms.tiles.shape[0], 5):\n{_SCAN}"


@click.command()
@click.option("--unchanged", default=20, show_default=True, help="Comparisons of unchanged code.")
@click.option("--slower", default=3, show_default=True, help="Comparisons of the slower kernel.")
@click.option("--only", default="argmax or posterior", show_default=True)
def main(unchanged: int, slower: int, only: str) -> None:
    """Count alarms where nothing changed, and where a kernel is 20% slower."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
        find_own_kernels(project)
        _count("unchanged", unchanged, project, only)
        kernel = project / _KERNEL
        text = kernel.read_text()
        if text.count(_SCAN) != 1:
            raise click.ClickException(f"{_KERNEL} is not what it was: mend this script")
        kernel.write_text(text.replace(_SCAN, _SLOWER))
        _count("slower", slower, project, only)


def _count(name: str, times: int, project: Path, only: str) -> None:
    """Compare a project with its commit several times, and print what that says."""
    alarms = 0
    for i in range(times):
        code, said = _compare(project, only)
        alarms += code
        click.echo(f"{name} {i + 1}: {' | '.join(said.splitlines()[1:])}")
    click.echo(f"{name}: {alarms} alarms in {times} comparisons")


def _compare(project: Path, only: str) -> tuple[int, str]:
    words = [sys.executable, "-m", "bench", "compare", "--against", "HEAD", "--only", only]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(project / "cache")}
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1) or "rror" in done.stderr:
        raise click.ClickException(f"bench compare: {done.stdout}{done.stderr}")
    return done.returncode, done.stdout


if __name__ == "__main__":
    main()
