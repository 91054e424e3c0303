"""Simulations: experiments, planned, executed on worker threads, kept in checkpoints."""
