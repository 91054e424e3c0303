"""Studies: grids of settings, cut into tasks, done here or on a cluster, kept in one file."""
