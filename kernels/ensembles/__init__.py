"""Ensembles of models: all kept up to date, or each when it is read."""
