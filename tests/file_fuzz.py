"""One changed byte in every kind of file: refused with a sentence, or the same numbers.

``python tests/file_fuzz.py 20000 --seed 1`` changes that many single bytes, spread over a result,
a comparison with diagnostics and trajectories, a problem, an agent, a checkpoint and a study, and
reads each file again. It fails where something other than FileFormatError or OSError is raised, or
where other numbers come back. test_fuzz.py does a few of each.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import fastes
from fastes.files.archive import load_arrays
from fastes.files.kinds import FileFormatError
from fastes.simulation.checkpoint_file import read_checkpoint
from fastes.studies.execution import create_file, plan

REFUSALS = (FileFormatError, OSError)


def make_files(folder):
    """Write a file of each kind. Return their paths."""
    rng = np.random.default_rng(3)
    bandit = fastes.LinearBandit(rng.normal(size=(6, 3)), 0.1, np.diag([1.0, 2.0, 3.0]), 0.5)
    drawn = fastes.LinearBandit.random(7, 2)
    agents = [fastes.EnsembleSampling(4), fastes.ThompsonSampling()]
    options = {"diagnostics": [0, 5], "samples": 32, "keep": ["actions", "rewards"]}
    files = {name: folder / name for name in ("result.npz", "comparison.npz", "problem.npz")}
    fastes.simulate(drawn, agents[0], T=20, runs=3).save(files["result.npz"])
    theta = rng.normal(size=3)
    several = fastes.compare(bandit, agents, T=10, runs=3, theta=theta, **options)
    several.save(files["comparison.npz"])
    bandit.save(files["problem.npz"])
    live = agents[0].start(bandit, seed=1)
    live.observe([0, 1, 2, live.act()], [0.1, 0.2, 0.3, 0.4])
    live.save(folder / "agent.npz")
    fastes.compare(bandit, agents, T=12, runs=3, theta=theta, checkpoint=folder / "run.ckpt")
    study = fastes.Study(agent=["es", "ts"], M=[2, 3], K=5, d=2, T=10, runs=6)
    fastes.sweep(study, folder / "study.db", task_seconds=1e-5)
    create_file(folder / "fresh.db", plan(study, 1e-5))
    rest = ("agent.npz", "run.ckpt", "study.db", "fresh.db")
    return [*files.values(), *(folder / name for name in rest)]


def numbers_in(path):
    """Return all that a file says, read as a user would read it, in a form that compares."""
    if path.suffix == ".ckpt":
        experiment, partials = read_checkpoint(path)
        meta, arrays = experiment.saved()
        parts = [meta, arrays, [vars(partial) for partial in partials]]
        return _plain(parts)
    loaded = fastes.load(path)
    if isinstance(loaded, fastes.Sweep):
        results = [(setting.axes, vars(result)) for setting, result in loaded.results()]
        done = loaded.progress()
        return _plain([results, done, loaded.failures(), loaded.study.description()])
    if isinstance(loaded, fastes.LiveAgent):
        return _plain(load_arrays(path, "agent"))
    if isinstance(loaded, fastes.LinearBandit):
        return _plain(loaded.arrays())
    results = loaded if isinstance(loaded, fastes.Comparison) else [loaded]
    return _plain([(vars(result), result.bandit.arrays()) for result in results])


def _plain(value):
    """Return nested values as text, arrays by their bytes."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, dict):
        return str({name: _plain(each) for name, each in value.items()})
    if isinstance(value, (list, tuple)):
        return str([_plain(each) for each in value])
    if isinstance(value, fastes.LinearBandit):
        return _plain(value.arrays())
    inside = getattr(value, "__dict__", None)
    return _plain(inside) if inside else repr(value)


def change(data, at, value):
    """Return the bytes with one of them changed."""
    return data[:at] + bytes([value]) + data[at + 1 :]


def outcome(path, right):
    """Return "refused", "same" or what went wrong on reading a file."""
    try:
        found = numbers_in(path)
    except REFUSALS as error:
        return "refused" if len(str(error).splitlines()) == 1 else f"not one sentence: {error}"
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    return "same" if found == right else "OTHER NUMBERS"


def fuzz(n, seed):
    """Change n bytes. Return how often each outcome was, by file, and the worst ones."""
    rng = random.Random(seed)
    counts, wrong = Counter(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = make_files(folder)
        rights = {file: numbers_in(file) for file in files}
        (folder / "changed").mkdir()
        for i in range(n):
            file = files[i % len(files)]
            data = file.read_bytes()
            at = rng.randrange(len(data))
            changed = folder / "changed" / file.name
            changed.write_bytes(change(data, at, (data[at] + rng.randrange(1, 256)) % 256))
            found = outcome(changed, rights[file])
            counts[file.name, found.split(":")[0]] += 1
            if found not in ("refused", "same"):
                wrong.append(f"{file.name}, byte {at} of {len(data)}: {found}")
            for left in (folder / "changed").iterdir():
                left.unlink()
    return counts, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    counts, wrong = fuzz(given.n, given.seed)
    for (file, what), count in sorted(counts.items()):
        print(f"{file:<16} {what:<40} {count:>7}")
    print(f"{given.n} changes in {time.monotonic() - began:.0f} s, {len(wrong)} wrong")
    for line in wrong[:20]:
        print(line)
    raise SystemExit(bool(wrong))
