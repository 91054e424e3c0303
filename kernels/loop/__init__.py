"""The loop: an agent plays an environment; runs alone, in sequence, in lockstep, or live."""
