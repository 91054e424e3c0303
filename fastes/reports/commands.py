"""The command lines, and the Python, that do again what was done."""

import itertools
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from fastes.agents import AGENTS
from fastes.checks.parameters import FLAGS, parameters_of
from fastes.problem.bandit import LinearBandit
from fastes.problem.truth import Truth
from fastes.results.result import Result
from fastes.studies.study import Study


def result_commands(results: Sequence[Result], file: str | None) -> list[str]:
    """Return the lines of a shell that do again what is in one file of results.

    Where the problem or theta cannot be said in words, the first line takes it from the file; from
    what is in memory it cannot, and there are no lines then.
    """
    needed = _files_needed(results[0])
    if not all(_can_be_said(result) for result in results) or (needed and file is None):
        return []
    lines = [_extraction(needed, file)] if needed and file is not None else []
    for group in _one_command_each(results):
        lines.append(_command(group, needed))
    return lines


def result_python(results: Sequence[Result], file: str | None) -> str:
    """Return Python that does it again, and compares every bit."""
    if file is not None:
        return f"import fastes\n\nold = fastes.load({file!r})\nnew = fastes.rerun(old)"
    c = results[0].configuration
    problem = _python_problem(results[0])
    sayable = problem is not None and c.theta == "prior" and _truth_words(results[0]) is not None
    if not sayable or not all(_is_known(result) for result in results):
        return "new = fastes.rerun(old)  # `old` is what this report was given"
    agents = ", ".join(f"fastes.{_python_agent(result)}" for result in results)
    return (
        f"import fastes\n\nbandit = fastes.LinearBandit.random({problem})\nagents = [{agents}]\n"
        f"new = fastes.compare(bandit, agents, T={c.T}, runs={_runs(results)}, seed={c.seed}, "
        f"points={c.points}{_python_world(results[0])})"
    )


def _python_world(result: Result) -> str:
    truth = "" if result.truth is None else f", truth=fastes.{result.truth!r}"
    delay = result.configuration.delay
    return truth + (f", delay={delay}" if delay else "")


def study_command(study: Study, file: str) -> list[str]:
    """Return the lines of a shell that make the same study anew, in a file of its own."""
    described = study.description()
    if "problem" in described or "theta" in described:  # only its own file has them
        return [shlex.join(["fastes", "rerun", file])]
    words = ["fastes", "sweep"]
    for name, values in described.items():
        several = values if isinstance(values, list) else [values]
        if several == [None]:  # each agent's own, or as believed
            continue
        text = ",".join(_word(value) for value in several)
        words += [f"--{name.replace('_', '-')}", text]
    return [_in_lines([*words, "--out", "again.db"])]


def _is_known(result: Result) -> bool:
    return result.configuration.agent in AGENTS


def _can_be_said(result: Result) -> bool:
    """Return whether options of a command say all of what was done."""
    # ``fastes diagnose`` has no --points.
    if not _is_known(result) or (result.truth is not None and _truth_words(result) is None):
        return False
    return result.diagnostics is None or result.configuration.points == 200


def _truth_words(result: Result) -> dict[str, Any] | None:
    """Return the options of how the world differed, or None if numbers do not say it."""
    truth = result.truth or Truth()
    given = {
        "truth_prior_mean": truth.prior_mean,
        "truth_prior_cov": truth.prior_cov,
        "truth_noise": truth.noise,
    }
    words: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not all(isinstance(value, float) for value in words.values()):
        return None
    if truth.noise_law != "normal":
        words["noise_law"] = truth.noise_law
    delay = result.configuration.delay
    return {**words, "delay": delay} if delay else words


def _runs(results: Sequence[Result]) -> int:
    """Return how many runs were asked for, as far as is known."""
    return max(int(result.run_numbers[-1]) + 1 for result in results)


def _files_needed(result: Result) -> list[str]:
    """Return what a command line can only name by a file: the problem, theta, or both."""
    needed = [] if _words(result) is not None else ["problem"]
    return needed if result.theta is None else [*needed, "theta"]


def _extraction(needed: Sequence[str], file: str) -> str:
    """Return the line that takes a problem, or theta, out of a result into files."""
    steps = ["import fastes", f"r = fastes.load({file!r})", "r = r if hasattr(r, 't') else r[0]"]
    if "problem" in needed:
        steps.append("r.bandit.save('problem.npz')")
    if "theta" in needed:
        steps[0] += ", numpy"
        steps.append("numpy.save('theta.npy', r.theta[0] if len(r.theta) == 1 else r.theta)")
    return shlex.join(["python", "-c", "; ".join(steps)])


def _words(result: Result) -> dict[str, Any] | None:
    """Return the options of a random problem, or None if it is none of a seed's."""
    c, problem = result.configuration, result.problem
    parts: Mapping[str, Any] = problem if not isinstance(problem, LinearBandit) else {}
    if isinstance(problem, LinearBandit):
        if problem.random_arms is None:
            return None
        parts = problem.parts(drawn_again=True)
    if "arms_family" not in parts or int(parts["arms_seed"]) != c.seed:
        return None
    K, d = parts["arms_sizes"].tolist()
    words = {"K": K, "d": d, "arms": str(parts["arms_family"])}
    for name in ("prior_mean", "prior_cov"):
        values = parts[name]
        if values.ndim == 2 or (values.ndim == 1 and (values != values[0]).any()):
            return None
        if values.ndim == 1 and name == "prior_cov":
            return None  # variances by coordinate are another problem to the bit
        words[name] = float(values.flat[0])
    return {**words, "noise": c.noise}


def _command(results: Sequence[Result], needed: Sequence[str]) -> str:
    first, c = results[0], results[0].configuration
    diagnosed = first.diagnostics is not None
    words = ["fastes", "diagnose" if diagnosed else "simulate"]
    words += _agent_words(results)
    if "problem" in needed:
        words += ["--problem", "problem.npz"]
    else:
        for name, value in (_words(first) or {}).items():
            words += [f"--{name.replace('_', '-')}", _word(value)]
    if "theta" in needed:
        words += ["--theta", "theta.npy"]
    for name, value in (_truth_words(first) or {}).items():
        words += [f"--{name.replace('_', '-')}", _word(value)]
    words += ["--T", str(c.T), "--runs", str(_runs(results)), "--seed", str(c.seed)]
    if first.diagnostics is not None:
        words += ["--times", ",".join(map(str, first.diagnostics.t.tolist()))]
        words += ["--probe-samples", str(first.diagnostics.samples)]
    else:
        words += ["--points", str(c.points)]
    kept = [name for name in ("actions", "rewards") if getattr(first, name) is not None]
    if kept and not diagnosed:
        words += ["--keep", ",".join(kept)]
    return _in_lines([*words, "--out", "again.npz"])


def _one_command_each(results: Sequence[Result]) -> list[list[Result]]:
    """Return all results in one group if lists of values give just these agents, else one each."""
    wanted = [(r.configuration.agent, _parameters(r)) for r in results]
    names = list(dict.fromkeys(name for name, _ in wanted))
    lists = _lists(results)
    made = []
    for name in names:
        declared = parameters_of(AGENTS[name])
        values = [lists.get(each, [declared[each].usual]) for each in declared]
        made += [
            (name, dict(zip(declared, point, strict=True))) for point in itertools.product(*values)
        ]
    return [list(results)] if made == wanted else [[result] for result in results]


def _parameters(result: Result) -> dict[str, Any]:
    """Return all parameters of an agent, in the order in which they are declared."""
    c = result.configuration
    declared = parameters_of(AGENTS[c.agent])
    return {name: c.parameters.get(name, declared[name].usual) for name in declared}


def _lists(results: Sequence[Result]) -> dict[str, list[Any]]:
    """Return the values that agents have of each parameter, in their order."""
    lists: dict[str, list[Any]] = {}
    for result in results:
        for name, value in _parameters(result).items():
            if value not in lists.setdefault(name, []):
                lists[name].append(value)
    return lists


def _agent_words(results: Sequence[Result]) -> list[str]:
    names = dict.fromkeys(result.configuration.agent for result in results)
    words = ["--agent", ",".join(names)]
    for name, values in _lists(results).items():
        words += [f"--{name}", ",".join(map(_word, values))]
    return words


def _in_lines(words: Sequence[str]) -> str:
    """Return a command on lines of some 76 characters, an option and its value on one."""
    lines, line = [], shlex.join(words[:2])
    for option, value in zip(words[2::2], words[3::2], strict=True):
        pair = shlex.join([option, value])
        if len(line) + 1 + len(pair) > 74:
            lines.append(line)
            line = " "
        line += f" {pair}"
    return " \\\n".join([*lines, line])


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return FLAGS[value]
    return repr(value) if isinstance(value, float) else str(value)


def _python_problem(result: Result) -> str | None:
    words = _words(result)
    if words is None:
        return None
    words["seed"] = result.configuration.seed
    return ", ".join(f"{name}={value!r}" for name, value in words.items())


def _python_agent(result: Result) -> str:
    kind = AGENTS[result.configuration.agent]
    given = ", ".join(f"{name}={value!r}" for name, value in _parameters(result).items())
    return f"{kind.__name__}({given})"
