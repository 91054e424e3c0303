"""The C yardstick: compiled when it is asked for, into a folder that goes with the process."""

import atexit
import ctypes
import functools
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.baselines import Floats, MissingBaselineError, Played

SOURCE = Path(__file__).with_name("yardstick.c")
FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")


def ensemble_sampling(actions: Floats, M: int, T: int, seed: int, models: bool = True) -> Played:
    """Play T steps of deferred ensemble sampling, and bring all models up to date if asked to."""
    d = actions.shape[1]
    mean, covariance = np.empty(d), np.empty((d, d))
    xi = np.empty((M if models else 0, d))
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    regret = library().ensemble_sampling(
        *(_pointer(actions), *actions.shape, M, T, seed, _pointer(mean), _pointer(covariance)),
        *(_pointer(xi) if models else None, _pointer(arms), _pointer(rewards)),
    )
    return Played(regret, arms, rewards, mean, covariance, mean + xi @ covariance)


def thompson_sampling(actions: Floats, T: int, seed: int) -> Played:
    """Play T steps of Thompson sampling."""
    d = actions.shape[1]
    mean, root, another = np.empty(d), np.empty((d, d)), np.empty(d)
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    regret = library().thompson_sampling(
        *(_pointer(actions), *actions.shape, T, seed, _pointer(mean), _pointer(root)),
        *(_pointer(another), _pointer(arms), _pointer(rewards)),
    )
    return Played(regret, arms, rewards, mean, root.T @ root, another[None, :])


@functools.cache
def library() -> Any:
    """Return the compiled yardstick. Raise MissingBaselineError where none can be."""
    compiler = _compiler()
    folder = tempfile.TemporaryDirectory(prefix="yardstick-")
    out = Path(folder.name) / "yardstick.so"
    done = subprocess.run(
        [compiler, *FLAGS, str(SOURCE), "-o", str(out), "-lm"], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise MissingBaselineError(
            f"{compiler} does not compile {SOURCE.name}: {done.stderr.strip()}"
        )
    loaded = ctypes.CDLL(str(out))
    atexit.register(folder.cleanup)
    pointers = [ctypes.c_void_p] * 5
    for function, integers in ((loaded.ensemble_sampling, 4), (loaded.thompson_sampling, 3)):
        function.restype = ctypes.c_double
        sizes = [ctypes.c_long] * integers
        function.argtypes = [ctypes.c_void_p, *sizes, ctypes.c_uint64, *pointers]
    return loaded


def _compiler() -> str:
    configured = (sysconfig.get_config_var("CC") or "cc").split()[0]
    for name in ("cc", configured, "gcc", "clang"):
        if shutil.which(name):
            return name
    raise MissingBaselineError("there is no C compiler: the yardstick in C is left out")


def _pointer(array: Any) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("arrays must be contiguous")
    return int(array.ctypes.data)
