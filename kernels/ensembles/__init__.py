"""Ensembles of models: all updated at every step, or each when it is read."""
