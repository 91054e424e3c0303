"""How an agent's best arm is found: the policy, and the workspace that it asks for."""

from typing import TYPE_CHECKING, Any

from fastes.agents.agent import Agent

if TYPE_CHECKING:
    from fastes.kernels.actions.arms import Arms

_FEWEST_ARMS = {"linear": 4000, "quadratic": 512}
"""From which a certificate takes less time than a full scan, as measured."""

_ARMS_A_DIMENSION = {"linear": 80, "quadratic": 0}


def uses_certificate(agent: Agent, K: int, r: int) -> bool:
    """Return whether the best arm is found with a certificate rather than by a full scan.

    It changes no choice.
    """
    if agent.scores == "none":
        return False
    return K >= max(_FEWEST_ARMS[agent.scores], _ARMS_A_DIMENSION[agent.scores] * r)


def search_workspace(agent: Agent, arms: "Arms", certificate: bool) -> Any:
    """Return what a run needs to find the best of these arms, with a certificate or by a scan."""
    from fastes.kernels.search.certificate import certified
    from fastes.kernels.search.scan import NoSearch, workspace

    if agent.scores == "none":
        return NoSearch(arms.K)
    return certified(arms) if certificate else workspace(arms)


def run_bytes(agent: Agent, K: int, r: int, T: int) -> int:
    """Return the most memory that one run takes in T steps: its state and workspace."""
    from fastes.kernels.search.certificate import certified_bytes

    search = certified_bytes(K, r) if uses_certificate(agent, K, r) else K
    return agent.state_bytes(K, r, T) + search
