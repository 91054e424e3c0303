"""Kernels that only other kernels call: lowered by themselves, compiled within their callers.

Numba optimises a function together with all that it calls and makes machine code of it, then does
the same again within each caller and each caller's caller: a product of two vectors five calls
below the loop is compiled six times. Here a callee is brought to LLVM's representation and left
there; what is optimised as a whole and made machine code of is the `entry` (decorators.py) that it
is linked into. All of this is numba's internals: options.py does without where they are not there.
"""

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler for what only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's stages with a lowering that makes no machine code."""
        return _stages_with(_LinkedLowering, self.state)


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler for what links them in."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's stages with a lowering that knows of functions linked in."""
        return _stages_with(_EntryLowering, self.state)


def _stages_with(lowering: type, state: Any) -> list[Any]:
    pipeline = DefaultPassBuilder.define_nopython_pipeline(state)
    pipeline.passes = [
        (lowering if stage is NativeLowering else stage, description)
        for stage, description in pipeline.passes
    ]
    pipeline.finalize()
    return [pipeline]


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):  # type: ignore[misc]
    """Numba's lowering, without machine code."""

    _name = "fastes_linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a function into a library of its own, for callers to find."""
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, library = state.cr, state.library
        module, name = lowered.fndesc.lookup_module(), lowered.fndesc.qualname
        handle = _dynfunc.make_function(module, name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(handle, lowered.fndesc, [library])
        state.cr = lowered._replace(cfunc=handle)
        return True


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function and of what it calls, as LLVM represents it."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers, who know more."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):  # type: ignore[misc]
    """Numba's lowering, and the environments of functions linked in: without, none may print."""

    _name = "fastes_entry_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower and compile a function; set what numba sets when it loads one from its cache."""
        super().run_pass(state)
        for variable in state.library._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                state.targetctx.codegen().set_env(variable.name, environment)
        return True
