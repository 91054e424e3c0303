"""How kernels are compiled, cached and imported."""

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import fastes.kernels
import pytest
from fastes.kernels.agents import interface
from fastes.kernels.arithmetic import byte_product, tile_product
from fastes.kernels.beliefs.gaussian.state import gaussian
from llvmlite import binding, ir
from numba.extending import is_jitted
from programs import PROBE, python

import fastes

KERNELS = Path(fastes.kernels.__file__).parent


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
    assert dir(fastes) == sorted([*fastes.__all__, "actions", "drift", "theory"])
    assert fastes.theory.bounds.theorem1.__doc__
    assert fastes.actions.Ball.__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        fastes.theory.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        fastes.nonsense  # noqa: B018


FEW_ARMS = """
    fastes.LinearBandit.random(30, 4),
    fastes.LinearBandit.random(30, 4, "uniform", prior_mean=[1.0] * 4, prior_cov=[1.0] * 4),
    fastes.LinearBandit.gaussian_process([[1.0, 0.5], [0.5, 1.0]]),
    fastes.LinearBandit([[1, 2], [3, 4], [5, 6]], prior_cov=[[2.0, 1.0], [1.0, 2.0]]),
"""
MANY_ARMS = "fastes.LinearBandit.random(3000, 4), fastes.LinearBandit.random(2100, 2)"


@pytest.mark.parametrize(
    "bandits",
    [FEW_ARMS, pytest.param(MANY_ARMS, marks=pytest.mark.slow)],
    ids=["few arms", "many arms"],
)
def test_a_simulation_compiles_each_kernel_for_one_signature(bandits, tmp_path):
    code = f"""
import fastes, fastes.kernels, importlib, pkgutil
from numba.extending import is_jitted
for bandit in ({bandits}):
    fastes.simulate(bandit, fastes.EnsembleSampling(3), T=20, runs=2)
    fastes.simulate(bandit, fastes.EnsembleSampling(3), T=20, theta=[0.5] * bandit.d)
for info in pkgutil.walk_packages(fastes.kernels.__path__, "fastes.kernels."):
    module = importlib.import_module(info.name)
    for name, kernel in vars(module).items():
        if not is_jitted(kernel) or "forceinline" in kernel.targetoptions:
            continue  # inlined: part of its callers, for whatever types they have
        if len(kernel.signatures) > 1 and kernel.__module__ == module.__name__:
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


# What a numba to come may have renamed, dropped or changed. Its own modules have theirs already.
WITHOUT = {
    "a module": "import numba, sys; del numba._dynfunc; sys.modules['numba._dynfunc'] = None",
    "an attribute": "import numba.core.codegen; del numba.core.codegen.JITCodeLibrary",
    "an argument": "import numba; numba._dynfunc = type('', (), {'make_function': lambda: None})",
    "the right number": (
        "import numba; njit = numba.njit\n"
        "def wrong(*arguments, **options):\n"
        "    if 'pipeline_class' not in options: return njit(*arguments, **options)\n"
        "    return lambda function: lambda x: 0.0\n"
        "numba.njit = wrong"
    ),
}
LINKED = "from fastes.kernels.jit.options import is_linked; print(is_linked())\n"


@pytest.mark.parametrize(
    "without",
    [
        *("a module", "the right number"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("an attribute", "an argument")),
    ],
)
def test_kernels_do_without_numba_s_internals(without, tmp_path):
    code = f"""
{WITHOUT[without]}
from fastes.kernels.jit.events import compilation_timer
with compilation_timer() as seconds:
    exec({LINKED + PROBE!r})
print(seconds() > 0)
"""
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    assert python(code, check=True, **home) == "False\n[2.0, 6.0] 0\nTrue"
    # The second time nothing is compiled, not even to find out again.
    assert python(code, check=True, **home) == "False\n[2.0, 6.0] 1\nFalse"


def test_what_the_cache_remembers_brings_no_internals_back(tmp_path):
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    assert python(LINKED, check=True, **home) == "True"
    code = f"{WITHOUT['a module']}\n{LINKED}{PROBE}"
    assert python(code, check=True, **home) == "False\n[2.0, 6.0] 0"


FEW = "ThompsonSampling()"
OTHERS = "EnsembleSampling(3) EnsembleSampling(3,'eager') Greedy() LinUCB(1.0) UniformRandom()"


@pytest.mark.parametrize("agents", [FEW, pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_results_are_the_same_bits_without_numba_s_internals(agents, tmp_path):
    agents = [f"fastes.{agent}" for agent in agents.split()]
    code = f"""
{LINKED}
import fastes
bandit = fastes.LinearBandit.random(5, 3, prior_mean=0.2, noise=0.7, seed=4)
for agent in [{", ".join(agents)}]:
    result = fastes.simulate(bandit, agent, T=20, seed=4, threads=1)
    print([value.hex() for value in result.regret.per_run[0].tolist()])
"""
    linked, *bits = python(code, check=True).splitlines()
    code, home = WITHOUT["a module"] + code, {"XDG_CACHE_HOME": str(tmp_path)}
    ordinary, *same = python(code, check=True, **home).splitlines()
    assert (linked, ordinary) == ("True", "False")
    assert len(re.findall("0x", "".join(bits))) >= 4 * len(agents)
    assert same == bits


CALLED = """
import pickle
from fastes.kernels.jit.decorators import entry, inlined, kernel

@kernel
def halved(x):
    return x / 2

@inlined
def negative(x):
    return -halved(x)

@entry
def both(x):
    return halved(x) + negative(x) * 10

assert both(4.0) == -18
for name, call in {"halved": lambda: halved(1.0), "negative": lambda: negative(x=1.0)}.items():
    try:
        call()
    except TypeError as error:
        assert str(error) == f"__main__.{name} is compiled for other kernels: Python cannot call it"
    else:
        raise AssertionError(name)
assert halved.py_func(4.0) == 2
assert len(halved.signatures) == 1
assert pickle.loads(pickle.dumps(halved)) is halved
"""


def test_python_cannot_call_what_only_kernels_can(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CALLED)
    words = f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    for mode, missing in {"linked": "", "ordinary": WITHOUT["a module"]}.items():
        home = {"XDG_CACHE_HOME": str(tmp_path / mode)}
        python(f"{missing}\n{words}", check=True, **home)


def test_python_can_call_no_kernel_of_ours_but_entries():
    found = 0
    for info in pkgutil.walk_packages(fastes.kernels.__path__, "fastes.kernels."):
        for kernel in vars(importlib.import_module(info.name)).values():
            if is_jitted(kernel) and kernel.targetoptions.get("no_cpython_wrapper"):
                found += 1
                with pytest.raises(TypeError, match=f"{kernel.__name__} is compiled for other"):
                    kernel()
    assert found > 20


def test_a_generic_called_from_python_is_as_good_as_its_body():
    agent = SimpleNamespace(belief=gaussian(1))
    assert interface.needs_capacity(agent) is False
    with pytest.raises(TypeError, match=r"\.update_covariance is compiled for"):
        interface.learn(agent, None, 0.0, 0, 0.0, None, 0)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("models", [1, tile_product.MODELS])
def test_the_code_of_a_tile_takes_pointers_that_know_no_type(bits, models):
    def code(builder, arrays, r):
        return tile_product._Code(builder, bits, arrays, r)

    check_pointers_without_type(code, 4, models)


@pytest.mark.parametrize("code", [byte_product._DotCode, byte_product._PairCode])
@pytest.mark.parametrize("models", [1, tile_product.MODELS])
def test_so_does_the_code_of_a_tile_in_8_bits(code, models):
    check_pointers_without_type(code, 6, models)


def check_pointers_without_type(code, n, models):
    module = ir.Module()
    kinds = [*[ir.PointerType()] * n, ir.IntType(64)]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "score")
    builder = ir.IRBuilder(function.append_basic_block())
    *arrays, r = function.args
    code(builder, arrays, r).emit(models)
    builder.ret_void()
    text = str(module)
    assert "*" not in text
    if binding.llvm_version_info >= (16,):  # before, LLVM itself had to be told
        binding.parse_assembly(text).verify()
