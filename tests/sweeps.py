"""A small study for tests, and what a file of it must hold."""

import sqlite3

import fastes

SMALL = {"agent": ["es", "ts"], "M": [2, 5], "K": [12, 30], "d": 3, "T": 60, "runs": 9}


def run(path, words=SMALL, **options):
    return fastes.sweep(fastes.Study(**words), path, **options)


def simulated(words, setting):
    problem = {name: setting.axes[name] for name in ("K", "d", "arms", "prior_cov", "noise")}
    bandit = fastes.LinearBandit.random(**problem, seed=words.get("seed", 0))
    M = setting.axes["M"]
    agent = fastes.ThompsonSampling() if M is None else fastes.EnsembleSampling(M)
    arguments = {"runs": words["runs"], "seed": words.get("seed", 0), "points": 50}
    return fastes.simulate(bandit, agent, setting.T, **arguments)


def assert_same(x, y):
    assert (x.regret.per_run == y.regret.per_run).all()
    assert (x.counts == y.counts).all()
    assert (x.t == y.t).all()
    apart = {"threads": 0, "seconds": 0, "date": ""}
    assert x.configuration._replace(**apart) == y.configuration._replace(**apart)


def rows(path):
    """Return the tasks in a file, and of which there is a result."""
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT * FROM task").fetchall()
    done = [number for (number,) in connection.execute("SELECT task FROM result")]
    connection.close()
    return found, done


def is_whole(path, words=SMALL):
    """Check that every run of every setting is in the file, once."""
    found, done = rows(path)
    assert sorted(done) == [task[0] for task in found]
    runs = [(setting, i) for _, setting, first, last, _ in found for i in range(first, last)]
    n = len(fastes.Study(**words).settings)
    assert sorted(runs) == [(s, i) for s in range(n) for i in range(words["runs"])]
