"""What else one could use for linear Thompson sampling on a fixed set of arms, side by side.

Each peer is driven through its public interface, one choice and one reward at a time, on the same
arms, with as many updates as steps: ``pip install -e '.[peers]' && python -m bench.peers``. Peers
that keep a model for each arm do different work: the table says which.
"""

import statistics
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import click
import numpy as np

import fastes
from bench.baselines import Floats, numpy_ts
from bench.measure import in_units, seconds

Choose = Callable[[], Any]
Learn = Callable[[int, float], object]


class Peer(NamedTuple):
    """A library, what it does, and how to drive it."""

    package: str
    does: str
    make: Callable[[Floats, int], tuple[Choose, Learn]]


def bayesianbandits(actions: Floats, seed: int, clicks: bool = False) -> tuple[Choose, Learn]:
    """One shared Bayesian regression, all arms sampled in one call."""
    import bayesianbandits as bb
    from bayesianbandits._arm_featurizer import ArmFeaturizer

    class Rows(ArmFeaturizer[int]):  # type: ignore[misc]
        def transform(self, X: Any, *, action_tokens: Any) -> Floats:
            return actions if len(action_tokens) == len(actions) else actions[list(action_tokens)]

    agent = bb.LipschitzContextualAgent(
        arms=[bb.Arm(a, learner=None) for a in range(len(actions))],
        policy=bb.ThompsonSampling(),
        arm_featurizer=Rows(),
        learner=bb.BayesianGLM(1.0) if clicks else bb.NormalRegressor(alpha=1.0, beta=1.0),
        random_seed=seed,
    )
    context = np.zeros((1, 1))
    return (
        lambda: agent.pull(context)[0],
        lambda arm, reward: agent.select_for_update(arm).update(context, np.array([reward])),
    )


def coba(actions: Floats, seed: int) -> tuple[Choose, Learn]:
    """Linear Thompson sampling on action features."""
    from coba.learners import LinTSLearner

    learner = LinTSLearner(v=1, features=["a"], seed=seed)
    rows = [tuple(row) for row in actions.tolist()]
    place = {row: a for a, row in enumerate(rows)}
    return (
        lambda: place[tuple(learner.predict(None, rows)[0])],
        lambda arm, reward: learner.learn(None, rows[arm], reward, 1.0),
    )


def vowpal(actions: Floats, seed: int) -> tuple[Choose, Learn]:
    """Ten bagged models, trained by gradient steps, on action features."""
    import vowpalwabbit

    words = f"--cb_explore_adf --bag 10 --quiet --noconstant --random_seed {seed + 1}"
    workspace = vowpalwabbit.Workspace(words)
    rng = np.random.default_rng(seed)
    lines = [
        "|a " + " ".join(f"{j}:{x:.6f}" for j, x in enumerate(row)) for row in actions.tolist()
    ]
    last: list[Any] = [0, 1.0]

    def choose() -> int:
        p = np.array(workspace.predict("\n".join(lines)))
        arm = int(rng.choice(len(p), p=p / p.sum()))
        last[:] = arm, p[arm]
        return arm

    def learn(arm: int, reward: float) -> None:
        shown = list(lines)
        shown[arm] = f"0:{-reward}:{last[1]} {lines[arm]}"
        workspace.learn("\n".join(shown))

    return choose, learn


def mabwiser(actions: Floats, seed: int) -> tuple[Choose, Learn]:
    """A regression for each arm on a common context."""
    from mabwiser.mab import MAB, LearningPolicy

    K, d = actions.shape
    mab = MAB(arms=list(range(K)), learning_policy=LearningPolicy.LinTS(alpha=1.0), seed=seed)
    context = np.ones((1, d)) / np.sqrt(d)
    mab.fit(decisions=list(range(K)), rewards=[0.0] * K, contexts=np.repeat(context, K, axis=0))
    return (
        lambda: mab.predict(context),
        lambda arm, reward: mab.partial_fit([arm], [reward], context),
    )


def contextualbandits(actions: Floats, seed: int) -> tuple[Choose, Learn]:
    """A regression for each arm on a common context."""
    from contextualbandits.online import LinTS

    K, d = actions.shape
    agent = LinTS(nchoices=K, random_state=seed + 1, njobs=1, beta_prior=None, method="sm")
    context = np.ones((1, d)) / np.sqrt(d)
    agent.partial_fit(context, np.array([0]), np.array([0.0]))
    return (
        lambda: int(agent.predict(context)[0]),
        lambda arm, reward: agent.partial_fit(context, np.array([arm]), np.array([reward])),
    )


def river(actions: Floats, seed: int) -> tuple[Choose, Learn]:
    """LinUCB with a regression for each arm on a common context."""
    from river.bandit import LinUCBDisjoint

    K, d = actions.shape
    policy = LinUCBDisjoint(seed=seed)
    context, arms = {j: 1 / np.sqrt(d) for j in range(d)}, list(range(K))
    return (
        lambda: policy.pull(arms, context=context),
        lambda arm, reward: policy.update(arm, context, reward),
    )


def live(actions: Floats, seed: int) -> tuple[Choose, Learn]:
    """Run a fastes agent live."""
    agent = fastes.ThompsonSampling().start(fastes.LinearBandit(actions), seed=seed)
    return agent.act, agent.observe


PEERS = (
    Peer("fastes", "act and observe, exact TS", live),
    Peer("bayesianbandits", "exact TS, one shared theta", bayesianbandits),
    Peer("coba", "exact TS, one shared theta", coba),
    Peer("vowpalwabbit", "10 bagged models by gradient steps", vowpal),
    Peer("mabwiser", "TS, a model for each arm", mabwiser),
    Peer("contextualbandits", "TS, a model for each arm", contextualbandits),
    Peer("river", "LinUCB, a model for each arm", river),
)


def play(peer: Peer, actions: Floats, T: int, seed: int) -> float:
    """Play T steps. Return seconds a step, without the making of the agent."""
    rng = np.random.default_rng(seed)
    values = actions @ rng.standard_normal(actions.shape[1])
    choose, learn = peer.make(actions, seed)

    def steps() -> None:
        for _ in range(T):
            arm = int(choose())
            learn(arm, float(values[arm] + rng.standard_normal()))

    return seconds(steps) / T


def _is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _rounded(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"


@click.command()
@click.option("--K", "K", default=1000, show_default=True)
@click.option("--d", "d", default=50, show_default=True)
@click.option("--steps", default=200, show_default=True, help="Steps of each peer a round.")
@click.option("--rounds", type=click.IntRange(2), default=5, show_default=True)
@click.option("--budget", default=20.0, show_default=True, help="Seconds for a peer, about.")
def main(K: int, d: int, steps: int, rounds: int, budget: float) -> None:
    """Print a table: microseconds a step, and ratios to fastes in the same rounds."""
    missing = [peer.package for peer in PEERS if not _is_installed(peer.package)]
    if missing:
        words = ", ".join(missing)
        raise click.ClickException(f"not installed: {words}; pip install -e '.[peers]'")
    bandit = fastes.LinearBandit.random(K, d)
    ours = 20_000
    fastes.simulate(bandit, fastes.ThompsonSampling(), T=50, threads=1)
    in_numpy = Peer("numpy", "exact TS, in place", lambda *_: (int, max))
    click.echo(f"K={K:,}, d={d}, one thread; steps of TS in fastes.simulate took")
    rows = []
    for peer in (in_numpy, *PEERS):
        theirs, fast, T = [], [], steps
        for i in range(rounds):
            fast.append(
                seconds(
                    lambda: fastes.simulate(bandit, fastes.ThompsonSampling(), T=ours, threads=1)
                )
                / ours
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if peer is in_numpy:
                    each = seconds(lambda: numpy_ts.in_place(bandit.actions, 1000, 1)) / 1000
                else:
                    each = play(peer, bandit.actions, T if i else min(T, 3), seed=i)
            if i == 0:  # it may have had to load or compile: how long is a step, about?
                T = max(2, min(steps, int(budget / rounds / each)))
                continue
            theirs.append(each)
        ratio = statistics.median(t / f for t, f in zip(theirs, fast[1:], strict=True))
        rows.append((peer, statistics.median(theirs), ratio, statistics.median(fast[1:])))
    click.echo(f"{in_units(statistics.median(row[3] for row in rows))} each")
    click.echo("| package | does | a step | times fastes |")
    click.echo("|---|---|---|---|")
    for peer, each, ratio, _ in rows:
        name = f"{peer.package} {version(peer.package)}"
        click.echo(f"| {name} | {peer.does} | {in_units(each)} | {_rounded(ratio)} |")


if __name__ == "__main__":
    main()
