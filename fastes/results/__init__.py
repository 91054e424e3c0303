"""Results of simulations: regret and diagnostics; their files, figures and tables."""
