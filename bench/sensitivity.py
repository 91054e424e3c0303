"""Does the rule of `python -m bench compare` notice what it should, and only that?

Copies the project twice, once with a kernel made 20% slower on purpose: a scan for the best arm
that scores every fifth tile a second time. Records the one, then compares both with the record
many times: ``python -m bench.sensitivity``.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from bench.session import ROOT

_KERNEL = Path("kernels") / "argmax.py"
_SCAN = """        best = _larger(work.tops[tile], best)
    return np.float64(best) - 2.0 * margin
"""
_SLOWER = """        best = _larger(work.tops[tile], best)
    for tile in range(0, arms.tiles.shape[0], 5):
        score_tile(arms.tiles32[tile], arms.offsets32[tile], z32, scores)
        best = _larger(largest_of(scores), best)
    return np.float64(best) - 2.0 * margin
"""


@click.command()
@click.option("--unchanged", default=20, show_default=True, help="Comparisons of unchanged code.")
@click.option("--slower", default=3, show_default=True, help="Comparisons of the slower kernel.")
@click.option("--only", default="argmax or posterior", show_default=True)
def main(unchanged: int, slower: int, only: str) -> None:
    """Count alarms where nothing changed, and where a kernel is 20% slower."""
    with tempfile.TemporaryDirectory() as folder:
        same, changed = (_copy(Path(folder) / name) for name in ("same", "changed"))
        text = (changed / _KERNEL).read_text()
        if text.count(_SCAN) != 1:
            raise click.ClickException(f"{_KERNEL} is not what it was: mend this script")
        (changed / _KERNEL).write_text(text.replace(_SCAN, _SLOWER))
        history = ["--history", str(Path(folder) / "history")]
        # Once to compile, and once for the record.
        for project in (changed, same):
            _bench(project, "run", "--only", only, "--quick")
        _bench(same, "record", "--only", only, *history)
        for name, project, times in (("unchanged", same, unchanged), ("slower", changed, slower)):
            alarms = 0
            for i in range(times):
                code, said = _bench(project, "compare", "--only", only, *history)
                alarms += code
                click.echo(f"{name} {i + 1}: {' | '.join(said.splitlines()[1:])}")
            click.echo(f"{name}: {alarms} alarms in {times} comparisons")


def _copy(target: Path) -> Path:
    """Copy the project's code so that it imports its own kernels."""
    for name in ("fastes", "kernels", "bench"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", target)
    (target / "fastes" / "kernels").symlink_to(target / "kernels")
    return target


def _bench(project: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "bench", *words]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    if done.returncode not in (0, 1) or "rror" in done.stderr:
        raise click.ClickException(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.returncode, done.stdout


if __name__ == "__main__":
    main()
