"""Logged plays: their values, the replay of agents on them, and priors estimated from them."""
