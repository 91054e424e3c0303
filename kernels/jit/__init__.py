"""How kernels are compiled, linked and cached."""
