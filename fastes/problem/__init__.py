"""Problems: bandits, their belief and world, and the canonical form for kernels."""
