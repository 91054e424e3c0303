"""Kernels that must not be called from Python."""

from typing import Any, NoReturn

import numba
from numba.extending import is_jitted

# The class of what njit returns, for which numba has no public name. Where compilation is
# switched off there is none: njit returns the function, which Python may call.
_example = numba.njit(lambda: None)
_Dispatcher: Any = type(_example) if is_jitted(_example) else object


class _KernelOnly(_Dispatcher):  # type: ignore[misc]
    """A compiled function without the code that takes arguments from Python."""

    def __call__(self, *arguments: Any, **named: Any) -> NoReturn:
        """Raise TypeError: there is no machine code, and the process would crash."""
        name = f"{self.__module__}.{self.__qualname__}"
        raise TypeError(f"{name} is compiled for other kernels: Python cannot call it")


def refuse_python(compiled: Any) -> Any:
    """Let calls from Python raise TypeError; calls from kernels are compiled as before."""
    if type(compiled) is _Dispatcher:
        compiled.__class__ = _KernelOnly
    return compiled
