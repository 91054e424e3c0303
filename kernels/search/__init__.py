"""Searches for the best arm: a full scan, or a certificate that few arms need to be scored."""
