"""What a simulation gives back: regret, diagnostics; their files, figures and tables."""
