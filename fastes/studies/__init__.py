"""Studies: grids of settings, split into tasks, run here or on a cluster, in one file."""
