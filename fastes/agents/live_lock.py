"""Locks of live agents: threads take turns, and a fork waits for all of them."""

import os
import threading
import weakref

_known: "weakref.WeakSet[threading.RLock]" = weakref.WeakSet()
_registry = threading.RLock()
_held: "list[threading.RLock]" = []


def new_lock() -> "threading.RLock":
    """Return a lock for one agent, reentrant since a signal handler may call the agent too."""
    lock = threading.RLock()
    with _registry:
        _known.add(lock)
    return lock


def _hold_all() -> None:
    """Wait until no thread is within a call, which would not continue in the child process."""
    _registry.acquire()
    _held.append(_registry)
    for lock in list(_known):
        lock.acquire()
        _held.append(lock)


def _release_all() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_release_all)
