"""Kernel states: how their arrays are laid out, allocated and stacked."""
