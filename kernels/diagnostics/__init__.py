"""What diagnostics measure of a state."""
