"""Features of the processor for which code is compiled."""

import functools

import llvmlite.binding
import numba


@functools.cache
def has_feature(name: str) -> bool:
    """Return whether compiled code may use instructions of this name (LLVM's: avx2, avx512vnni).

    NUMBA_CPU_FEATURES lists them, if set; else the host's, which NUMBA_ENABLE_AVX may restrict.
    """
    chosen = numba.config.CPU_FEATURES
    if chosen is not None:
        return f"+{name}" in chosen.split(",")
    if name.startswith("avx") and not numba.config.ENABLE_AVX:
        return False
    try:
        return bool(llvmlite.binding.get_host_cpu_features().get(name))
    except RuntimeError:  # a processor unknown to LLVM
        return False
