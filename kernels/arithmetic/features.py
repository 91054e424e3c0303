"""What the processor that code is compiled for can do."""

import functools

import llvmlite.binding
import numba


@functools.cache
def has_feature(name: str) -> bool:
    """Return whether compiled code may use instructions of this name (LLVM's: avx2, avx512vnni).

    NUMBA_CPU_FEATURES, where it is set, lists what there is; otherwise the host says, and
    NUMBA_ENABLE_AVX may forbid.
    """
    chosen = numba.config.CPU_FEATURES
    if chosen is not None:
        return f"+{name}" in chosen.split(",")
    if name.startswith("avx") and not numba.config.ENABLE_AVX:
        return False
    try:
        return bool(llvmlite.binding.get_host_cpu_features().get(name))
    except RuntimeError:  # a processor that LLVM does not know
        return False
