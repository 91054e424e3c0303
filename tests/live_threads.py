"""Threads that share live agents, in a process of their own: misuse of memory would end it.

    python tests/live_threads.py FOLDER

On each kind of action set four threads act, observe, save, copy and read one agent. Then the
process forks while three threads play. A line of JSON is printed for each:

kind           the action set, or "forks"
acts           choices made
observations   rewards taken in
gap            largest distance of the posterior from that of the same rewards in one thread; the
               prior variance is 1
copies         files and copies that hold an agent between two calls
"""

import contextlib
import json
import os
import pickle
import sys
import threading
from pathlib import Path

import numpy as np

import fastes
from fastes.actions import Ball, Offered

THREADS, STEPS, EVERY = 4, 500, 100
FORKS = 20
FIXED = fastes.LinearBandit.random(K=90, d=4, seed=2)
_ROWS = fastes.LinearBandit.random(K=7, d=4, seed=3).actions
KINDS = {
    "fixed": (FIXED, {}),
    "available": (FIXED, {"available": [3, 17, 31]}),
    "offered": (fastes.LinearBandit(Offered(4)), {"actions": _ROWS}),
    "ball": (fastes.LinearBandit(Ball(4)), {}),
}


@contextlib.contextmanager
def in_threads(work, threads):
    """Call work(i) in threads 0, 1, ...; at the end wait for them, and raise what one raised."""
    raised = []

    def guarded(i):
        try:
            work(i)
        except BaseException as error:
            raised.append(error)

    started = [threading.Thread(target=guarded, args=(i,)) for i in range(threads)]
    for thread in started:
        thread.start()
    yield
    for thread in started:
        thread.join()
    for error in raised:
        raise error


def shared(kind, folder):
    """Let threads share an agent. Return what came of it."""
    bandit, offer = KINDS[kind]
    agent, rng = fastes.EnsembleSampling(20), np.random.default_rng(1)
    live, rewards = agent.start(bandit, seed=5), rng.normal(size=(THREADS, STEPS))
    rows = kind in ("offered", "ball")
    arms = rng.integers(0, len(_ROWS) if rows else bandit.K, (THREADS, STEPS))
    copies = []

    def work(i):
        for j in range(STEPS):
            live.act(**offer)
            live.observe(_ROWS[arms[i, j]] if rows else int(arms[i, j]), float(rewards[i, j]))
            if j % EVERY == i:
                copies.append(folder / f"{kind}-{i}-{j}.npz")
                live.save(copies[-1])
                copies.append(pickle.dumps(live))
                live.posterior()
                live.ensemble()

    with in_threads(work, THREADS):
        pass
    alone = agent.start(bandit, seed=5)
    alone.observe(_ROWS[arms.ravel()] if rows else arms.ravel(), rewards.ravel())
    gaps = [np.abs(a - b).max() for a, b in zip(live.posterior(), alone.posterior(), strict=True)]
    loaded = [pickle.loads(c) if isinstance(c, bytes) else fastes.load(c) for c in copies]
    for each in loaded:
        each.act(**offer)
    outcome = {"acts": live.acts, "observations": live.observations, "gap": max(gaps)}
    return {"kind": kind, **outcome, "copies": len(loaded)}


def forked(folder):
    """Fork while threads play an agent. Return in how many children it can be used and saved."""
    live, stop = fastes.EnsembleSampling(20).start(FIXED, seed=5), threading.Event()

    def work(i):
        while not stop.is_set():
            live.observe([i] * 50, [0.1] * 50)

    def usable():
        # Not live.act(): with a lock that nobody will release, it would wait for ever.
        if not live._lock.acquire(blocking=False):
            return False
        path = folder / f"{os.getpid()}.npz"
        live.save(path)
        return fastes.load(path).observations == live.observations

    copies = 0
    with in_threads(work, 3):
        for _ in range(FORKS):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = 0 if usable() else 1
                finally:
                    os._exit(code)
            copies += os.waitpid(child, 0)[1] == 0
        stop.set()
    return {"kind": "forks", "copies": copies}


if __name__ == "__main__":
    where = Path(sys.argv[1])
    for name in KINDS:
        print(json.dumps(shared(name, where)), flush=True)
    if hasattr(os, "fork"):
        print(json.dumps(forked(where)), flush=True)
