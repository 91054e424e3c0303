"""How kernels are compiled, cached and imported."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fastes.kernels
import pytest

import fastes

KERNELS = Path(fastes.kernels.__file__).parent


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture
def copy(tmp_path):
    """Make a package of our own with a copy of the kernels, to be changed at will."""
    package = tmp_path / "fastes"
    shutil.copytree(KERNELS, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()
    return tmp_path


PROBE = """
import numpy as np
from fastes.kernels.actions import arms
b = arms.empty_arms(2, 1)
arms.store_rows(b, 0, np.array([[1.0], [3.0]]), np.zeros(2))
out = np.empty(2)
arms.mean_rewards(b, np.array([2.0]), np.empty(64), out)
print(out.tolist(), arms.mean_rewards.stats.cache_hits.total())
"""


def test_a_changed_callee_in_another_file_is_seen(copy, tmp_path):
    def probe():
        outcome = python(PROBE, PYTHONPATH=str(copy), XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stdout.strip()

    assert probe() == "[2.0, 6.0] 0"
    assert probe() == "[2.0, 6.0] 1"
    callee = copy / "fastes/kernels/arithmetic/tile_product.py"
    text = callee.read_text()
    assert "builder.call(self.fma, [z, *pair])" in text
    callee.write_text(text.replace("builder.call(self.fma, [z, *pair])", "pair[1]"))
    assert probe() == "[0.0, 0.0] 0"


def test_where_the_cache_cannot_be_written_kernels_still_compile(tmp_path):
    blocked = tmp_path / "cache"
    blocked.write_text("a file where a folder should be")
    code = "from fastes.kernels.jit.cache import cache_folder; print(cache_folder())" + PROBE
    outcome = python(code, XDG_CACHE_HOME=str(blocked))
    assert outcome.returncode == 0, outcome.stderr
    folder, figures = outcome.stdout.splitlines()
    assert figures == "[2.0, 6.0] 0"
    assert not Path(folder).exists()  # it lasted as long as the process


def test_other_packages_keep_their_cache_folder(tmp_path):
    code = "import numba; before = numba.config.CACHE_DIR; import fastes.simulation.api; "
    code += "print(numba.config.CACHE_DIR == before)"
    assert python(code).stdout.strip() == "True"


def test_numba_s_own_variable_moves_the_cache(tmp_path):
    code = "from fastes.kernels.jit.cache import cache_folder; print(cache_folder())"
    folder = python(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.strip()
    assert folder.startswith(str(tmp_path))


def test_the_kernels_cannot_be_imported_under_another_name():
    outcome = python(f"import sys; sys.path.insert(0, {str(KERNELS.parent)!r}); import kernels")
    assert "these kernels are the package fastes.kernels, not 'kernels'" in outcome.stderr


def test_help_and_import_do_without_numba():
    code = (
        "import sys, fastes, fastes.cli\n"
        "try: fastes.cli.main([COMMAND, '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'scipy', 'matplotlib', 'rich', 'pandas'} & set(sys.modules)\n"
        "print(heavy, file=sys.stderr)\n"
    )
    for command in ("simulate", "bound", "plot"):
        assert python(code.replace("COMMAND", repr(command))).stderr.strip() == "set()"
    assert "numba" not in python("import fastes, sys; print(list(sys.modules))").stdout


def test_a_command_loads_no_linear_algebra_that_it_does_not_use():
    code = (
        "import sys, fastes.cli\n"
        "words = 'simulate --K 5 --d 2 --T 10 --runs 2 --quiet'.split()\n"
        "try: fastes.cli.main(words)\n"
        "except SystemExit as done: assert not done.code\n"
        "print('scipy.linalg' in sys.modules)\n"
        "import scipy.linalg.cython_blas, scipy.stats\n"
    )
    outcome = python(code)
    assert (outcome.stdout, outcome.stderr) == ("False\n", "")


def test_a_kernel_may_print(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from fastes.kernels.jit.decorators import entry, kernel\n"
        "@kernel\n"
        "def callee(x):\n"
        "    print('x is', x)\n"
        "    return x + 1\n"
        "@entry\n"
        "def caller(x):\n"
        "    return callee(x)\n"
        "print(caller(41))\n"
    )
    for _ in range(2):  # compiled, and from the cache
        words = [sys.executable, str(program)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert (done.stdout, done.stderr) == ("x is 41\n42\n", "")


def test_the_library_leaves_the_garbage_collector_as_it_is():
    code = "import gc; before = gc.get_threshold(); import fastes.simulation.api; "
    code += "print(gc.get_threshold() == before, gc.get_freeze_count())"
    assert python(code).stdout.strip() == "True 0"


def test_the_public_names_are_there_and_no_others():
    for name in fastes.__all__:
        assert getattr(fastes, name).__doc__
    assert dir(fastes) == sorted(fastes.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        fastes.nonsense  # noqa: B018


FEW_ARMS = """
    fastes.LinearBandit.random(30, 4),
    fastes.LinearBandit.random(30, 4, "uniform", prior_mean=[1.0] * 4, prior_cov=[1.0] * 4),
    fastes.LinearBandit.gaussian_process([[1.0, 0.5], [0.5, 1.0]]),
    fastes.LinearBandit([[1, 2], [3, 4], [5, 6]], prior_cov=[[2.0, 1.0], [1.0, 2.0]]),
"""
MANY_ARMS = "fastes.LinearBandit.random(3000, 4), fastes.LinearBandit.random(2100, 2)"


@pytest.mark.parametrize("bandits", [FEW_ARMS, MANY_ARMS], ids=["few arms", "many arms"])
def test_a_simulation_compiles_each_kernel_for_one_signature(bandits, tmp_path):
    code = f"""
import fastes, fastes.kernels, importlib, pkgutil
for bandit in ({bandits}):
    fastes.simulate(bandit, fastes.EnsembleSampling(3), T=20, runs=2)
    fastes.simulate(bandit, fastes.EnsembleSampling(3), T=20, theta=[0.5] * bandit.d)
for info in pkgutil.walk_packages(fastes.kernels.__path__, "fastes.kernels."):
    module = importlib.import_module(info.name)
    for name, kernel in vars(module).items():
        if "forceinline" in getattr(kernel, "targetoptions", {{}}):
            continue  # part of its callers, for whatever types they have
        if len(getattr(kernel, "signatures", [])) > 1 and kernel.__module__ == module.__name__:
            print(module.__name__, name, kernel.signatures)
"""
    # An empty cache: what is loaded whole does not show what it was compiled from.
    outcome = python(code, XDG_CACHE_HOME=str(tmp_path))
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == ""


def test_results_are_the_same_bits_without_the_compiler():
    code = """
import fastes
bandit = fastes.LinearBandit.random(5, 3, prior_mean=0.2, noise=0.7, seed=4)
agents = [fastes.EnsembleSampling(3), fastes.EnsembleSampling(3, "eager"), fastes.Greedy(),
          fastes.ThompsonSampling(), fastes.LinUCB(1.0), fastes.UniformRandom()]
for agent in agents:
    result = fastes.simulate(bandit, agent, T=20, seed=4, threads=1)
    print(agent.name, [value.hex() for value in result.regret.per_run[0].tolist()])
"""
    compiled = python(code)
    interpreted = python(code, NUMBA_DISABLE_JIT="1")
    assert compiled.returncode == 0, compiled.stderr
    assert interpreted.returncode == 0, interpreted.stderr
    assert len(re.findall("0x", compiled.stdout)) >= 25
    assert interpreted.stdout == compiled.stdout
