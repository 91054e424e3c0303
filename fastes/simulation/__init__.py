"""Simulations: experiments, plans, worker threads and checkpoints."""
