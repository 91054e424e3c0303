"""Description of fastes files: their content and origin."""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from fastes.agents import agent_label
from fastes.agents.live import LiveAgent
from fastes.files.archive import load_arrays, with_prefix
from fastes.files.guard import made_of
from fastes.files.kinds import FileFormatError, is_database, kind_of
from fastes.files.report_file import read_header
from fastes.logs.replay import Replay
from fastes.problem.bandit import Bandit
from fastes.problem.world import World
from fastes.results.comparison import Comparison
from fastes.results.configuration import TRAJECTORIES, unusual
from fastes.results.files import load_results
from fastes.results.result import Result
from fastes.studies.store import Store


def contents(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content and origin of a file as plain values, or raise FileFormatError."""
    kind = "study" if is_database(path) else kind_of(path)
    if kind is None or kind not in _READERS:
        raise FileFormatError(f"{os.fspath(path)} is not a fastes file, or it is damaged")
    with made_of(path, kind):
        found = {"kind": kind, "file": os.fspath(path), **_READERS[kind](path)}
        json.dumps(found, allow_nan=False)
        return found


def _of_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    loaded = load_results(path)
    results = [*loaded] if isinstance(loaded, Comparison) else [loaded]
    first, c = results[0], results[0].configuration
    found = {
        "problem": _problem(first),
        "T": c.T,
        "seed": c.seed,
        "points": c.points,
        "theta": c.theta,
        **unusual(c._asdict()),
        "agents": [_of_one(result) for result in results],
        "date": c.date,
        "versions": dict(c.versions),
    }
    if first.diagnostics is not None:
        probed = first.diagnostics
        found["diagnostics"] = {"times": len(probed.t), "samples": probed.samples}
    kept = [name for name in TRAJECTORIES if getattr(first, name) is not None]
    return {**found, "kept": kept} if kept else found


def _of_one(result: Result) -> dict[str, Any]:
    c = result.configuration
    return {
        "label": result.label,
        "engine": c.engine,
        "runs": c.runs,
        "threads": c.threads,
        "seconds": round(c.seconds, 3),
    }


def _problem(result: Result) -> dict[str, Any]:
    c = result.configuration
    return {"K": c.K, "d": c.d, "rank": c.rank, **c.reward_facts, "arms": result.arms}


def _of_problem(path: str | os.PathLike[str]) -> dict[str, Any]:
    return {**_facts(Bandit.load(path)), **_made(load_arrays(path, "problem")[0])}


def _facts(bandit: Bandit) -> dict[str, Any]:
    sizes = {"K": bandit.K, "d": bandit.d, "rank": bandit.rank, **bandit.rewards.facts}
    law = {"actions": bandit.action_set.text, "prior_covariance": bandit.covariance_kind}
    return {**sizes, **law, "fingerprint": bandit.fingerprint}


def _made(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {"date": meta["written"], "version": meta["version"]}


def _of_agent(path: str | os.PathLike[str]) -> dict[str, Any]:
    live = LiveAgent.load(path)
    return {
        "agent": live.agent.label,
        "seed": live.seed,
        "acts": live.acts,
        "observations": live.observations,
        "problem": _facts(live.bandit),
        **_made(load_arrays(path, "agent")[0]),
    }


def _of_replay(path: str | os.PathLike[str]) -> dict[str, Any]:
    found, meta = Replay.load(path).to_dict(), load_arrays(path, "replay")[0]
    log = {name: found["log"][name] for name in ("rows", "arms", "d", "rewards")}
    estimates = [
        {"label": each["label"], "method": each["method"]}
        | {name: _four_digits(each[name]) for name in ("value", "se")}
        for each in found["estimates"]
    ]
    return {"log": log, "estimates": estimates, "seed": found["log"]["seed"], **_made(meta)}


def _four_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _of_checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe a checkpoint, even one of other kernels, which `resume` would refuse."""
    meta, arrays = load_arrays(path, "checkpoint")
    world = World.from_arrays(meta, with_prefix(arrays, "truth_"))
    return {
        "agents": [_progress_of(meta, arrays, i) for i in range(len(meta["agents"]))],
        "T": meta["T"],
        "runs": meta["runs"],
        "seed": meta["seed"],
        "theta": "fixed" if "theta" in arrays else "prior",
        **unusual({**meta, **world.facts}),
        **_made(meta),
        "kernels": meta["kernels"],
    }


def _progress_of(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], i: int) -> Any:
    described = meta["agents"][i]
    done, begun = 0, 0
    if i < len(meta["partials"]):
        done = int(arrays[f"partial{i}_done"].sum())
        begun = sum(stop - start for start, stop, _ in meta["partials"][i]["in_progress"])
    label = agent_label(described["agent"], described["parameters"])
    return {"label": label, "runs_done": done, "runs_begun": begun}


def _of_study(path: str | os.PathLike[str]) -> dict[str, Any]:
    with Store(path) as store:
        tasks, done, failed = store.tasks(), store.done(), store.failures()
        return {
            "settings": len(store.study.settings),
            "runs": store.study.runs,
            "varied": {name: list(store.study.axes[name]) for name in store.study.varied()},
            "seed": store.study.seed,
            "tasks": {"all": len(tasks), "done": len(done), "failed": len(failed)},
            "date": store.written,
            "version": store.begun_by.version,
            "kernels": store.begun_by.kernels,
        }


_READERS: dict[Any, Callable[[str | os.PathLike[str]], dict[str, Any]]] = {
    "result": _of_result,
    "problem": _of_problem,
    "agent": _of_agent,
    "replay": _of_replay,
    "checkpoint": _of_checkpoint,
    "study": _of_study,
    "report": read_header,
}
