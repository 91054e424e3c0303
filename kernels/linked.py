"""Kernels that only other kernels call: lowered by themselves, compiled within their callers.

Numba optimises a function together with all that it calls and makes machine code of it, then does
the same again within each caller and each caller's caller: a product of two vectors five calls
below the loop is compiled six times. Here a callee is brought to LLVM's representation and left
there; what is optimised and made machine code of is the `entry` (jit.py) that it is linked into.
"""

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with another last stage."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's stages, but for the lowering."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (_LinkedLowering if stage is NativeLowering else stage, description)
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
