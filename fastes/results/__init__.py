"""What a simulation gives back: regret, comparisons, diagnostics; their files, figures and tables."""
