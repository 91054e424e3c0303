"""The choice of the search for the best arm, and its workspace."""

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Any

from fastes.actions import ActionSet
from fastes.agents.agent import Agent

if TYPE_CHECKING:
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.search.box_tree import BoxTree

_FEWEST_ARMS = {"linear": 4000, "quadratic": 512}
"""Fewest arms for which a certificate or boxes beat a full scan (measured)."""

_ARMS_A_DIMENSION = {"linear": 160, "quadratic": 0}

_MOST_DIMENSIONS = 2
"""Most dimensions for which boxes exclude nearly all arms."""

_trees: dict[int, "BoxTree"] = {}
_trees_lock = threading.Lock()


def search_method(agent: Agent, K: int, r: int) -> str:
    """Return the search method: "none", "information", "scan", "certificate" or "boxes".

    Choices do not depend on it.
    """
    if agent.scores in ("none", "information"):
        return agent.scores
    if agent.scores not in _FEWEST_ARMS:
        return "scan"
    if K < max(_FEWEST_ARMS[agent.scores], _ARMS_A_DIMENSION[agent.scores] * r):
        return "scan"
    return "boxes" if agent.scores == "linear" and r <= _MOST_DIMENSIONS else "certificate"


def search_workspace(method: str, arms: "Arms") -> Any:
    """Return the workspace to find the best of these arms by a method."""
    from fastes.kernels.states.layout import allocate

    tree = _tree_of(arms) if method == "boxes" else None
    return allocate(_layout(method, arms, tree))


def _layout(method: str, arms: "Arms", tree: "BoxTree | None") -> Any:
    """Return the layout of a search; arms and tree may be layouts too."""
    from fastes.kernels.search.box_search import box_search
    from fastes.kernels.search.certificate import certified
    from fastes.kernels.search.information_ratio import ratio_search
    from fastes.kernels.search.offer_search import offer_search
    from fastes.kernels.search.scan import NoSearch, workspace

    if method == "boxes":
        assert tree is not None
        return box_search.layout(arms, tree)
    if method == "none":
        return NoSearch(arms.K)
    searches = {"information": ratio_search, "certificate": certified, "offer": offer_search}
    return searches.get(method, workspace).layout(arms)


def workspace_on(agent: Agent, given: ActionSet, actions: Any, method: str) -> Any:
    """Return the workspace of a run on an action set; `method` is used if arms recur."""
    if given.arms_repeat:
        return search_workspace(method, actions.arms)
    own = given.search(actions, agent.scores)
    return offer_workspace(agent, actions.arms) if own is None else own


def offer_workspace(agent: Agent, arms: "Arms") -> Any:
    """Return the workspace to choose among new arms, as many as in `arms`."""
    return search_workspace(_offer_method(agent), arms)


def _offer_method(agent: Agent) -> str:
    return agent.scores if agent.scores in ("none", "information") else "offer"


def _tree_of(arms: "Arms") -> "BoxTree":
    """Return the tree of these arms, shared by all runs as long as the arms exist."""
    from fastes.kernels.search.box_tree import empty_tree

    with _trees_lock:
        key = id(arms.tiles)
        if key not in _trees:
            _trees[key] = empty_tree(arms)
            weakref.finalize(arms.tiles, _trees.pop, key, None)
        return _trees[key]


def renew_search(work: Any, state: Any, arms: "Arms") -> None:
    """Take the snapshot that is due; or build the tree, under a lock since runs share it."""
    from fastes.kernels.search.box_search import BoxSearch
    from fastes.kernels.search.certificate import retake_snapshot

    with _trees_lock if isinstance(work, BoxSearch) else contextlib.nullcontext():
        retake_snapshot(work, state, arms)


def search_bytes(agent: Agent, K: int, r: int) -> int:
    """Return the peak bytes of the search for the best of K arms."""
    from fastes.kernels.actions.arms import empty_arms
    from fastes.kernels.search.box_tree import building_bytes, empty_tree
    from fastes.kernels.search.snapshot import taking_bytes
    from fastes.kernels.states.layout import layout_bytes

    method, arms = search_method(agent, K, r), empty_arms.layout(K, r)
    tree = empty_tree.layout(arms) if method == "boxes" else None
    beside = {"certificate": taking_bytes, "boxes": building_bytes}.get(method)
    return layout_bytes(_layout(method, arms, tree)) + (beside(K, r) if beside else 0)


def offer_bytes(agent: Agent, K: int, r: int) -> int:
    """Return the bytes of `offer_workspace`."""
    from fastes.kernels.actions.arms import empty_arms
    from fastes.kernels.states.layout import layout_bytes

    return layout_bytes(_layout(_offer_method(agent), empty_arms.layout(K, r), None))
