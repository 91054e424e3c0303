"""The loop of agent and environment: single runs, in sequence, in lockstep, or live."""
