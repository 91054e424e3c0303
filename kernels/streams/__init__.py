"""Random numbers as a pure function of (seed, run, stream, lane, counter)."""
